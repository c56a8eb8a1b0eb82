"""input-blocked on made-up runs."""

from __future__ import annotations

from tests.rules.stalled.runs import found
from tests.supervisor.stuck import IN_STEP, LOAD, event, main, run_of, snapshot, stuck_run


def test_a_thread_that_died_before_is_told() -> None:
    died = event(120.0, "exception", left="thread", type="ValueError", message="bad row", where=LOAD)
    finding = found(run_of("input-blocked", died))["input-blocked"]
    assert any("ValueError: bad row" in evidence.says for evidence in finding.evidence)


def test_a_file_that_tensorflow_itself_is_blocked_in() -> None:
    native = [{"name": "tf_data", "state": "S", "call": "open", "on": "/data/fifo"}]
    finding = found(stuck_run(snapshot(main(*IN_STEP), waiting=29.0, native=native)))["input-blocked"]
    assert "opening /data/fifo" in finding.cause


def test_a_filter_that_lets_nothing_through() -> None:
    finding = found(stuck_run(snapshot(main(*IN_STEP), waiting=29.0, cpu=1.0)))["input-blocked"]
    assert "is busy, but delivers nothing" in finding.cause
