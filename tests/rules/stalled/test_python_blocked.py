"""python-blocked on made-up runs."""

from __future__ import annotations

from tests.rules.stalled.runs import found
from tests.supervisor.stuck import TRAIN, main, snapshot, stuck_run


def test_c_code_that_holds_the_interpreter_is_said() -> None:
    data = snapshot(main(TRAIN), phase="loop", cpu=1.0, beat_age=29.0)
    finding = found(stuck_run(data))["python-blocked"]
    assert "holds the GIL" in finding.cause
    assert any("C code holds the GIL" in evidence.says for evidence in finding.evidence)
    waits = found(stuck_run(snapshot(main(TRAIN), phase="loop", cpu=0.0, beat_age=29.0)))["python-blocked"]
    assert "is waiting" in waits.cause
