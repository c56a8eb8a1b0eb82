"""Exceptions of a notebook's cells: which one ended the work, and which is history because the kernel went on."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.finding import Diagnosis
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.reports.summary import what_happened
from laststep.rules.diagnose import diagnose
from tests.rules.runs import LINE, NAN, event

SHAPES = "Shapes used to initialize variables must be fully-defined: incompatible shapes (32, 3) and (32, 4)"
GONE = event(90.0, "end", beside=True, pid=7)
KILLED = event(90.0, "end", signal="SIGKILL", code=None, pid=7)


def failed(time: float, left: str, kind: str = "ValueError", message: str = SHAPES, **more: Any) -> Event:
    bases = [kind, "Exception"] if kind != "KeyboardInterrupt" else [kind, "BaseException"]
    return event(time, "exception", left=left, type=kind, bases=bases, message=message, where=LINE, frames=[], **more)


def fit(number: int, time: float, done: int = 0, asked: int = 3) -> list[Event]:
    epochs = [event(time + 1 + n, "epoch", fit=number, epoch=n, batches=4) for n in range(done)]
    end = [event(time + 9, "fit-end", id=number)] if done == asked else []
    return [event(time, "fit", id=number, epochs=asked, steps=4, where=LINE), *epochs, *end]


def notebook(*events: Event, alive: bool = False, steps: list[Step] | None = None) -> Run:
    began = [event(0.0, "run", command=["ipykernel"]), event(0.1, "recorder", pid=7)]
    ordered = sorted([*began, *events], key=lambda each: each.time)
    return Run(id="r", events=tuple(ordered), alive=alive, steps=steps or [])


def rules(diagnosis: Diagnosis) -> list[str]:
    return [finding.rule for finding in diagnosis.findings]


BROKEN = [*fit(1, 10.0), failed(12.0, "fit", fit=1), failed(12.1, "cell")]
CLOSED = [event(80.0, "exiting"), GONE]


def test_a_cell_that_failed_and_nothing_after_it_is_the_cause() -> None:
    for end in (CLOSED, []):
        run = notebook(*BROKEN, *end, alive=not end)
        assert run.uncaught is not None
        assert rules(diagnose(run)) == ["shape-mismatch", "unhandled-exception"]


@pytest.mark.parametrize("end", [GONE, KILLED], ids=["gone", "killed"])
def test_a_cell_that_the_kernel_survived_is_not_the_cause_of_a_later_kill(end: Event) -> None:
    diagnosis = diagnose(notebook(*BROKEN, end))
    assert rules(diagnosis) == ["killed-by-signal"]
    assert diagnosis.outcome == "stopped"
    says = [item.says for item in diagnosis.findings[0].evidence]
    assert any(item.startswith("a cell had failed before with ValueError") for item in says)


def test_a_kill_for_memory_is_what_it_is_after_a_cell_had_failed() -> None:
    group = {"group": "/job", "limit": 10**9, "kills": 0}
    before, after = event(0.2, "limits", groups=[group]), event(90.1, "aftermath", groups=[group | {"kills": 1}])
    assert rules(diagnose(notebook(*BROKEN, *fit(2, 40.0, 1), before, after, KILLED)))[0] == "host-out-of-memory"


@pytest.mark.parametrize("end", [[], CLOSED], ids=["alive", "closed"])
def test_what_was_repaired_and_trained_again_is_history(end: list[Event]) -> None:
    run = notebook(*BROKEN, *fit(2, 40.0, 3), *end, alive=not end)
    diagnosis = diagnose(run)
    assert rules(diagnosis) == []
    assert run.fit is not None
    assert run.fit.id == 2
    assert diagnosis.outcome == ("running" if run.alive else "finished")


def test_what_was_repaired_and_then_stopped_early_is_about_the_later_fit() -> None:
    run = notebook(*BROKEN, *fit(2, 40.0, 1), event(50.0, "fit-end", id=2, stop=True), *CLOSED)
    assert run.fit is not None
    assert run.fit.id == 2


def test_a_failure_after_the_repair_is_no_history() -> None:
    again = failed(60.0, "cell", "KeyError", "'speed'")
    diagnosis = diagnose(notebook(*BROKEN, *fit(2, 40.0, 3), again, *CLOSED))
    assert rules(diagnosis) == ["unhandled-exception"]
    assert "KeyError" in diagnosis.findings[0].cause


def test_a_loop_that_goes_on_after_the_error_has_been_repaired() -> None:
    steps = [Step(n, 20.0 + n, 0.1, NAN, 1.0, NAN, 0, n, 0) for n in range(1, 9)]
    assert notebook(failed(12.0, "cell"), alive=True, steps=steps).uncaught is None
    assert notebook(failed(40.0, "cell"), alive=True, steps=steps).uncaught is not None


def test_a_fit_that_was_interrupted_and_trained_again_was_not_interrupted() -> None:
    stopped = [*fit(1, 10.0, 1), failed(12.5, "cell", "KeyboardInterrupt", "")]
    assert rules(diagnose(notebook(*stopped, *CLOSED))) == ["interrupted"]
    assert rules(diagnose(notebook(*stopped, *fit(2, 40.0, 3), *CLOSED))) == []
    assert rules(diagnose(notebook(*stopped, GONE))) == ["killed-by-signal"]


def test_what_ipython_keeps_of_a_cell_did_not_end_the_kernel() -> None:
    kept = {"type": "ValueError", "bases": ["ValueError", "Exception"], "message": SHAPES, "where": LINE}
    exiting = event(80.0, "exiting", uncaught=kept)
    assert notebook(*BROKEN, *fit(2, 40.0, 3), exiting, GONE).uncaught is None
    last = notebook(*BROKEN, exiting, GONE)
    assert last.uncaught is not None
    assert last.uncaught.left == "cell"
    assert what_happened(diagnose(last)).startswith("A cell of the notebook failed")
    assert notebook(*fit(2, 40.0, 3), exiting, GONE).uncaught is not None, "a program that ended of it"


def test_in_a_program_an_exception_that_ended_it_stays_the_cause() -> None:
    """Of a fit that failed for good, with a kill right after."""
    run = notebook(*fit(1, 10.0), failed(12.0, "fit", fit=1), failed(12.1, "program"), GONE)
    assert run.uncaught is not None
    assert rules(diagnose(run)) == ["shape-mismatch", "unhandled-exception"]
