"""shuffle-buffer-filling on made-up runs: slow, not stuck."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from laststep.record.event import Event
from tests.rules.stalled.runs import found
from tests.supervisor.stuck import IN_STEP, TRAIN, event, main, snapshot, stuck_run


def shuffled(size: int = 100_000) -> Event:
    stages = [{"stage": "Batch"}, {"stage": "Shuffle", "buffer_size": size}]
    return event(99.3, "fit", id=2, epochs=3, where=TRAIN, data={"stages": stages})


def test_a_shuffle_buffer_that_fills() -> None:
    answer = snapshot(main(*IN_STEP), phase="first step", cpu=1.0, waiting=29.0, io=10**7)
    finding = found(stuck_run(answer, shuffled(), kind="look", steps=[]))["shuffle-buffer-filling"]
    assert "100,000" in finding.cause
    assert finding.confidence is Confidence.LIKELY
    console = "Filling up shuffle buffer (this may take a while): 25000 of 100000\n"
    told_by_tf = stuck_run(answer, shuffled(), kind="look", steps=[], console=console)
    finding = found(told_by_tf)["shuffle-buffer-filling"]
    assert finding.confidence is Confidence.CERTAIN
    assert "about 90 s left" in finding.evidence[0].says
    idle = snapshot(main(*IN_STEP), phase="first step", waiting=29.0)
    assert "shuffle-buffer-filling" not in found(stuck_run(idle, shuffled(), kind="look", steps=[]))
    assert "shuffle-buffer-filling" not in found(stuck_run(answer | {"phase": "step"}, shuffled(), kind="look"))


def test_an_idle_generator_that_yields_fills_it() -> None:
    """It sleeps before each row, so no CPU time is used."""
    told = snapshot(main(*IN_STEP), phase="first step", waiting=29.0, calls=2_500, call_age=0.3)
    finding = found(stuck_run(told, shuffled(), kind="look", steps=[]))["shuffle-buffer-filling"]
    assert any("2,500 times" in evidence.says for evidence in finding.evidence)
    silent = stuck_run(told | {"call_age": 28.0}, shuffled(), kind="look", steps=[])
    assert "shuffle-buffer-filling" not in found(silent)


def test_a_filter_that_may_drop_everything_is_another_reason_to_wait() -> None:
    stages = [{"stage": "Filter"}, {"stage": "Shuffle", "buffer_size": 2000}, {"stage": "Repeat", "count": -1}]
    fit = event(99.3, "fit", id=2, epochs=3, where=TRAIN, data={"stages": stages})
    told = snapshot(main(*IN_STEP), phase="first step", cpu=1.0, waiting=120.0, slowest=None)
    assert list(found(stuck_run(told, fit, steps=[]))) == ["input-blocked"]
    assert list(found(stuck_run(told, fit, kind="look", steps=[]))) == ["shuffle-buffer-filling"], "not long enough yet"
    console = "Filling up shuffle buffer (this may take a while): 1200 of 2000\n"
    assert "shuffle-buffer-filling" in found(stuck_run(told, fit, steps=[], console=console))
