"""A program that ended after its training was complete did not stop early."""

from __future__ import annotations

import pytest

from laststep.record.event import Event
from laststep.record.steps import Step
from laststep.reports import terminal
from laststep.reports.summary import what_happened
from tests.rules.runs import NAN, diagnosed, error, event, fit

DONE = [{"batches": 4}] * 3
STEPS = [Step(n, 1.0 + n / 10, 0.1, NAN, 1.0, NAN, n // 4, n % 4, 1) for n in range(12)]
TERM = event(98.0, "signal", signal="SIGTERM", by="process", sender={"pid": 5, "name": "slurmstepd"})


def trained(more_follows: bool | None, end: bool = True) -> list[Event]:
    return fit(DONE if end else DONE[:2], {} if end else None, epochs=3, steps=4, more_follows=more_follows)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"])
def test_a_signal_after_the_last_epoch(name: str) -> None:
    diagnosis = diagnosed(*trained(False), code=None, signal=name, steps=STEPS)
    says = what_happened(diagnosis)
    assert says.startswith("Training was complete (3 of 3 epochs, 11 steps). The program was stopped")
    assert f"({name}) 49 s later" in says
    assert "early" not in terminal.page(diagnosis)
    assert diagnosis.outcome == "stopped"


def test_an_exception_after_it() -> None:
    says = what_happened(diagnosed(*trained(False), error("KeyError", "'val_auc'"), code=1))
    assert says.startswith("Training was complete")
    assert "The program crashed (exit code 1)" in says


def test_an_exit_after_it() -> None:
    exits = event(60.0, "exit-call", how="sys.exit", status=3)
    says = what_happened(diagnosed(*trained(False), exits, code=3))
    assert "Training was complete" in says
    assert "stopped (exit code 3)" in says


@pytest.mark.parametrize("more", [True, None])
def test_where_more_may_have_been_to_come_it_is_not_called_complete(more: bool | None) -> None:
    says = what_happened(diagnosed(*trained(more), code=None, signal="SIGTERM"))
    assert says.startswith("The program was stopped (SIGTERM)")
    assert "3 of 3 epochs complete" in says


def test_a_fit_that_was_not_complete_stopped_early() -> None:
    says = what_happened(diagnosed(*trained(False, end=False), code=None, signal="SIGTERM"))
    assert says.startswith("Training stopped early (SIGTERM)")


def test_a_loop_of_its_own_after_the_fit_was_not_complete() -> None:
    later = [*STEPS, Step(13, 90.0, 0.1, NAN, 1.0, NAN, 0, 0, 0)]
    says = what_happened(diagnosed(*trained(False), code=None, signal="SIGTERM", steps=later))
    assert says.startswith("Training stopped early")


@pytest.mark.parametrize("limit", [False, True])
def test_nothing_is_to_be_continued(limit: bool) -> None:
    limits = [event(0.2, "limits", job_ends=99.0)] if limit else []
    complete = diagnosed(*trained(False), TERM, *limits, code=None, signal="SIGTERM")
    assert complete.findings[0].rule == ("time-limit-reached" if limit else "terminated")
    assert "BackupAndRestore" not in terminal.page(complete)
    cut = diagnosed(*trained(False, end=False), TERM, *limits, code=None, signal="SIGTERM")
    assert "BackupAndRestore" in terminal.page(cut)
