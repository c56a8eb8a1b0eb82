"""deadlocked on made-up runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.stalled.runs import found
from tests.supervisor.stuck import LIB, LOAD, TRAIN, WAIT, WORK, frame, main, snapshot, stuck_run, thread


def test_one_that_still_runs_is_no_deadlock() -> None:
    data = snapshot(main(TRAIN, call="futex"), thread(WORK, call="futex"), thread(LOAD, call="sleep"), phase="loop")
    assert list(found(stuck_run(data))) == ["python-blocked"]


@pytest.mark.parametrize("waits", [[frame(f"{LIB}/threading.py", "join")], [WAIT, frame(f"{LIB}/queue.py", "join")]])
def test_alone_and_nobody_is_left_to_release_it(waits: list[dict[str, Any]]) -> None:
    finding = found(stuck_run(snapshot(main(*waits, TRAIN), phase="loop")))["deadlocked"]
    assert "no other thread is running that could release it" in finding.cause


def test_an_event_alone_is_no_deadlock() -> None:
    """A signal handler or a child may set it."""
    assert list(found(stuck_run(snapshot(main(WAIT, TRAIN), phase="loop")))) == ["python-blocked"]


def test_a_forked_child_that_waits_for_a_lock() -> None:
    child = {"pid": 88, "name": "python", "cpu": 0.0, "threads": [thread(WORK, call="futex", current=True)]}
    pool = frame(f"{LIB}/multiprocessing/pool.py", "get")
    finding = found(stuck_run(snapshot(main(WAIT, pool, TRAIN), phase="loop", children=[child])))["deadlocked"]
    assert "child" in finding.cause
    assert "spawn" in str(finding.remedies[0].change)
    busy = {**child, "cpu": 0.9}
    assert "child" not in found(stuck_run(snapshot(main(WAIT, pool, TRAIN), children=[busy])))["deadlocked"].cause
