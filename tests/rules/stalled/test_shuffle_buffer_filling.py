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
