"""From where a rule can judge is true: it fires on the record that is made there, and on nothing less."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator

import pytest

from laststep.logs.read import parse_log, run_from_log
from laststep.record.events.process import RecorderStart
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import all_rules
from tests.harness import all_scenarios
from tests.recordings import Recordings

# What the shell or the batch system prints after the program's own last words. A rule that sees logs
# and fires on no recording's console needs one here, or `verbose=1` in its scenario.
OTHERS_PRINT = {
    "aborted": "run.sh: line 3: 4711 Aborted                 (core dumped) python train.py",
    "bus-error": "run.sh: line 3: 4711 Bus error               (core dumped) python train.py",
    "early-stopping": "Epoch 12: early stopping",
    # No scenario has a GPU.
    "gpu-unused": "2024-03-04 05:06:07.123456: W tensorflow/core/common_runtime/gpu/gpu_device.cc:2256] Cannot dlopen "
    "some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would "
    "like to use GPU.\nSkipping registering GPU devices...",
    "host-out-of-memory": "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0. Some of your processes may "
    "have been killed by the cgroup out-of-memory handler.",
    "illegal-instruction": "run.sh: line 3: 4711 Illegal instruction     (core dumped) python train.py",
    "killed-by-signal": "run.sh: line 3: 4711 Killed                  python train.py",
    "terminated": "run.sh: line 3: 4711 Terminated              python train.py",
    "time-limit-reached": "slurmstepd: error: *** JOB 7 ON n3 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***",
}


def from_outside(run: Run) -> Run:
    """What the supervisor recorded, and what was printed."""
    events = tuple(event for event in run.events if event.source == "supervisor")
    return dataclasses.replace(run, events=events, steps=(), now=None)


def from_log(run: Run, more: str = "") -> Run:
    return run_from_log(parse_log(io.BytesIO(f"{run.console}\n{more}\n".encode())), "train.log")


def runs_of(rule: str, recordings: Recordings) -> Iterator[Run]:
    """The recordings that it fires on, the plainest first."""
    names = [asked.name for asked in all_scenarios() if rule in (asked.expect, asked.also)]
    for name in sorted(names, key=len):
        yield Run.load(recordings.folder(name))


def fires(rule: str, run: Run) -> bool:
    """It gives a finding, or a note."""
    answer = diagnose(run)
    return rule in {*(each.rule for each in answer.findings), *(each.rule for each in answer.ruled_out if each.note)}


def that_see(vantage: str) -> list[str]:
    return [rule.name for rule in all_rules().values() if vantage in rule.sees]


@pytest.mark.parametrize("rule", that_see("outside"))
def test_it_fires_from_outside(rule: str, recordings: Recordings) -> None:
    seen = [from_outside(run) for run in runs_of(rule, recordings)]
    assert not any(run.has(RecorderStart) for run in seen)
    assert any(fires(rule, run) for run in seen)


@pytest.mark.parametrize("rule", that_see("log"))
def test_it_fires_on_a_log(rule: str, recordings: Recordings) -> None:
    more = OTHERS_PRINT.get(rule, "")
    runs = [*runs_of(rule, recordings)] or [Run(id="train.log")]
    assert any(fires(rule, from_log(run, more)) for run in runs)


@pytest.mark.parametrize("rule", that_see("inside"))
def test_what_needs_the_inside_is_not_denied_from_outside(rule: str, recordings: Recordings) -> None:
    """Not measured is not ruled out."""
    if rule in that_see("outside"):
        return
    run = from_outside(next(runs_of("finished-short", recordings)))
    assert rule in {item.rule for item in diagnose(run).unchecked}
