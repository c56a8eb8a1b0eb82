"""graph-compiling on made-up runs: slow, not stuck."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from laststep.rules.diagnose import diagnose
from tests.rules.stalled.runs import found
from tests.supervisor.stuck import FIT, IN_STEP, TRACING, TRAIN, event, main, snapshot, steps, stuck_run


def test_tracing_is_slow_and_not_stuck() -> None:
    data = snapshot(main(TRACING, FIT, TRAIN), phase="first step", cpu=1.0, step=0)
    run = stuck_run(data, kind="look", steps=[])
    assert list(found(run)) == ["graph-compiling"]
    assert diagnose(run).outcome == "running"
    assert found(stuck_run(data, event(150.0, "moving-again"), kind="look", steps=[])) == {}


def test_compiling_is_the_first_step_that_computes() -> None:
    first = snapshot(main(*IN_STEP), phase="first step", cpu=1.0)
    assert list(found(stuck_run(first, kind="look", steps=[]))) == ["graph-compiling"]
    waits = snapshot(main(*IN_STEP), phase="first step", cpu=1.0, waiting=29.0)
    assert found(stuck_run(waits, kind="look", steps=[])) == {}
    later = snapshot(main(*IN_STEP), phase="step", cpu=1.0)
    assert found(stuck_run(later, kind="look", steps=[])) == {}


def test_a_step_that_xla_compiles_is_likely_and_can_do_without() -> None:
    first = snapshot(main(*IN_STEP), phase="first step", cpu=1.0)
    jit = event(99.3, "fit", id=2, epochs=3, where=TRAIN, jit_compile=True)
    finding = found(stuck_run(first, jit, kind="look", steps=[]))["graph-compiling"]
    assert "is compiling the step" in finding.cause
    assert finding.confidence is Confidence.LIKELY
    assert [remedy.change for remedy in finding.remedies] == [None, "jit_compile=False"]
    plain = found(stuck_run(first, kind="look", steps=[]))["graph-compiling"]
    assert plain.confidence is Confidence.POSSIBLE
    assert [remedy.change for remedy in plain.remedies] == [None]


def test_a_step_after_the_snapshot_takes_it_back() -> None:
    data = snapshot(main(TRACING, FIT, TRAIN), phase="trace", cpu=1.0)
    later = [step._replace(time=200.0) for step in steps(1)]
    assert found(stuck_run(data, kind="look", steps=later)) == {}
