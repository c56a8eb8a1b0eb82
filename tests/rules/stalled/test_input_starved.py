"""input-starved on made-up samples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.stalled.runs import found, training
from tests.supervisor.stuck import LOAD, event


def beats(share: float, seconds: int = 40, each: float = 0.1, phase: str = "step") -> list[dict[str, Any]]:
    """Samples as the watcher writes them: one a second, of which `share` is spent waiting."""
    made = []
    for second in range(seconds):
        inside = {"phase": phase, "time": 100.0 + second, "step": 1 + int(second / each)}
        made.append({"t": 100.0 + second, "inside": inside | {"waited": share * second, "waiting": 0.0}})
    return made


def test_steps_that_wait_for_data() -> None:
    finding = found(training(beats(0.8)))["input-starved"]
    assert "80%" in finding.cause
    assert "runs load for each sample" in finding.cause
    assert "num_parallel_calls" in str(finding.remedies[0].change)
    fed = event(120.0, "feeding", looks=10, lines=[{"file": LOAD["file"], "line": 12, "text": "x", "looks": 9}])
    assert "load.py:12" in found(training(beats(0.8), fed))["input-starved"].cause


@pytest.mark.parametrize(
    "samples",
    [
        beats(0.1),  # a small share
        beats(0.8, each=0.001),  # a short wait in each step
        beats(0.8, seconds=6),  # too few to tell
        beats(0.8, phase="validation"),
        [],
    ],
)
def test_steps_that_do_not_wait_much(samples: list[dict[str, Any]]) -> None:
    assert found(training(samples)) == {}


def test_waiting_in_the_first_half_alone_is_a_cache_that_fills() -> None:
    samples = beats(0.0, seconds=60)
    for number, sample in enumerate(samples):
        sample["inside"]["waited"] = min(number, 25) * 0.9
    assert "input-starved" not in found(training(samples))
