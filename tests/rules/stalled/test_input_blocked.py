"""input-blocked on made-up runs."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Confidence
from laststep.record.event import Event
from tests.rules.stalled.runs import found
from tests.supervisor.stuck import (
    IN_STEP,
    LOAD,
    SCRIPT_OPS,
    TRAIN,
    event,
    frame,
    main,
    run_of,
    snapshot,
    stuck_run,
    thread,
)

ROW = frame("/home/me/rows.py", "rows", 8, "row = reader.read()")
KEEP = frame("/home/me/data.py", "build", 30, "data = data.filter(is_good)")


def filtered(*stages: dict[str, Any]) -> Event:
    keep = {"stage": "Filter", "function": "is_good", "where": LOAD, "called_at": KEEP}
    return event(
        99.3, "fit", id=2, epochs=3, where=TRAIN, data={"stages": [{"stage": "Batch", "batch_size": 16}, keep, *stages]}
    )


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


def test_a_generator_that_goes_round_and_yields_nothing() -> None:
    lines = [ROW | {"is_users": True, "looks": 7}, ROW | {"is_users": True, "looks": 3, "line": 10}]
    told = snapshot(main(*IN_STEP), thread(frame("/home/me/rows.py", "read", 2), ROW, SCRIPT_OPS, cpu=0.9), cpu=1.0,
                    waiting=29.0, calls=412, call_age=61.0, lines=lines)  # fmt: skip
    finding = found(stuck_run(told))["input-blocked"]
    assert "keeps running at" in finding.cause
    assert "yields nothing" in finding.cause
    assert finding.where is not None
    assert (finding.where.file, finding.where.line) == ("/home/me/rows.py", 8)
    said = " ".join(evidence.says for evidence in finding.evidence)
    assert "rows.py:8 (7)" in said
    assert "412 times, for the last time 61 s ago" in said
    assert finding.remedies[0].where == finding.where


def test_one_that_is_blocked_does_not_run() -> None:
    finding = found(run_of("input-blocked"))["input-blocked"]
    assert "is stuck at" in finding.cause
    assert "timeout" in finding.remedies[0].does


def test_a_filter_that_drops_all_that_a_generator_yields() -> None:
    told = snapshot(main(*IN_STEP), waiting=60.0, cpu=1.0, calls=90_000, call_age=0.1, phase="first step", slowest=None)
    finding = found(stuck_run(told, filtered({"stage": "FlatMap", "generator": True})))["input-blocked"]
    assert "a filter drops all elements" in finding.cause
    assert finding.confidence is Confidence.LIKELY
    assert finding.where is not None
    assert finding.where.line == 30
    assert any("needs 16 elements" in evidence.says for evidence in finding.evidence)
    assert not any("repeat()" in remedy.does for remedy in finding.remedies)
    few = found(stuck_run(told | {"calls": 900}, filtered({"stage": "FlatMap", "generator": True})))["input-blocked"]
    assert "filter" not in few.cause


def test_a_filter_that_may_drop_everything_is_possible_in_the_first_step() -> None:
    told = snapshot(main(*IN_STEP), waiting=120.0, cpu=1.0, phase="first step", slowest=None)
    finding = found(stuck_run(told, filtered({"stage": "Repeat", "count": -1})))["input-blocked"]
    assert finding.confidence is Confidence.POSSIBLE
    assert "a filter may drop every element" in finding.cause
    assert any("behind repeat()" in evidence.says for evidence in finding.evidence)
    assert any("before repeat()" in remedy.does for remedy in finding.remedies)
    later = found(stuck_run(told | {"phase": "step", "slowest": 0.5}, filtered({"stage": "Repeat", "count": -1})))
    assert later["input-blocked"].confidence is Confidence.LIKELY
    assert "a filter drops all elements" in later["input-blocked"].cause
    finite = found(stuck_run(told | {"phase": "step", "slowest": 0.5}, filtered({"stage": "Repeat", "count": 3})))
    assert "filter drops" not in finite["input-blocked"].cause
