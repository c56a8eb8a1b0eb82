"""What all rules about a stall have in common: each answers for its own snapshot alone."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence
from laststep.analysis.stall import cause_of
from laststep.record.events.stacks import Stall
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import all_rules
from tests.rules.stalled.runs import found, healthy_rules
from tests.supervisor.stuck import (
    IN_STEP,
    ONE_OF_THEM,
    SNAPSHOTS,
    event,
    main,
    run_of,
    snapshot,
    snapshot_view,
    steps,
    stuck_run,
)


def test_each_snapshot_is_that_of_a_rule_of_this_symptom() -> None:
    assert {all_rules()[cause].symptom for cause in SNAPSHOTS} == {"stalled"}


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_each_answers_for_its_own_snapshot_alone(cause: str) -> None:
    run = run_of(cause)
    assert cause_of(snapshot_view(SNAPSHOTS[cause]), run) == cause
    assert list(found(run)) == [cause]
    diagnosis = diagnose(run)
    assert diagnosis.outcome == "stalled"
    assert diagnosis.findings[0].rule == cause


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_each_says_how_long_against_what_was_normal_and_how_far_it_came(cause: str) -> None:
    finding = found(run_of(cause))[cause]
    said = " | ".join(evidence.says for evidence in finding.evidence)
    assert finding.confidence in (Confidence.LIKELY, Confidence.POSSIBLE)
    assert "no progress for 30 s" in finding.evidence[0].says
    assert "the longest before was 0.50 s" in said
    assert "40 steps were complete" in said
    assert finding.remedies
    assert finding.where is not None
    assert isinstance(finding.evidence[0].events[0], Stall)


@pytest.mark.parametrize(
    "cause,line",
    [
        ("input-blocked", "load.py:12"),
        ("callback-blocked", "upload.py:7"),
        ("python-blocked", "train.py:9"),
        ("deadlocked", "work.py:33"),
    ],
)
def test_the_line_to_look_at_is_named(cause: str, line: str) -> None:
    assert line in found(run_of(cause))[cause].cause


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_a_run_that_goes_on_again_is_not_stuck(cause: str) -> None:
    again = event(150.0, "moving-again", after=42.0, phase="step")
    diagnosis = healthy_rules(diagnose(run_of(cause, again)))
    assert [finding for finding in diagnosis.findings if finding.symptom == "stalled"] == []
    assert diagnosis.outcome == "running"
    ruled_out = {item.rule: item.because for item in diagnosis.ruled_out}
    if cause == "memory-thrashing":  # no sample says how full memory was
        assert [item.because for item in diagnosis.unchecked if item.rule == cause] == [
            "too short to tell whether memory is full: 0 samples"
        ]
    else:
        assert ruled_out[cause] == "it made no progress for 42 s once, then went on by itself"


def test_a_step_after_the_stall_takes_it_back() -> None:
    later = [step._replace(time=200.0) for step in steps()]
    assert found(run_of("python-blocked", steps=later)) == {}


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_stuck_again_after_it_had_moved(cause: str) -> None:
    moved = event(130.0, "moving-again", after=3.0)
    assert list(found(run_of(cause, moved))) == [cause]


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_a_snapshot_alone_is_no_stall(cause: str) -> None:
    assert set(found(run_of(cause, kind="look"))) & set(ONE_OF_THEM) == set()


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_it_outranks_the_way_in_which_it_was_ended(cause: str) -> None:
    """Somebody pressed Ctrl-C because it was stuck: that is not why it ended."""
    said = event(150.0, "signal", signal="SIGTERM", by="process", sender={"pid": 5, "name": "bash"})
    end = event(151.0, "end", signal="SIGTERM", code=None, pid=77, seconds=52.0)
    diagnosis = healthy_rules(diagnose(run_of(cause, said, end, alive=False)))
    assert diagnosis.findings[0].rule == cause
    assert diagnosis.outcome == "stopped"


def test_without_a_stall_nothing_is_said() -> None:
    events = (event(99.0, "run", command=["python"]), event(99.1, "recorder", pid=77))
    assert found(Run(id="r", events=events, steps=steps(), alive=True)) == {}


def test_a_step_that_computes_is_nobodys() -> None:
    data = snapshot(main(*IN_STEP), cpu=1.5)
    assert cause_of(snapshot_view(data), stuck_run(data)) == ""
    assert found(stuck_run(data)) == {}
