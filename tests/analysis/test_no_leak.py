"""That memory does not grow is said only where it was measured for a while."""

from __future__ import annotations

from dataclasses import replace

import pytest

from laststep.analysis.finding import RuledOut, Unchecked
from laststep.record.run import Run
from laststep.record.sample import LastBeat, Sample
from laststep.record.steps import NAN, Step
from laststep.rules.rule import all_rules
from tests.written import written

LEAKS = ("tensors-accumulating", "graphs-accumulating", "host-memory-growing", "handles-growing")


def run_of(seconds: int, handles: int = 10) -> Run:
    """One step and one sample a second; 500 MB, and a little more."""
    events = (written(0.0, "run", {}), written(0.1, "recorder", {"pid": 7}), written(1.0, "epoch", {"fit": 1}))
    steps = [Step(n, float(n), 0.9, NAN, NAN, NAN, 0, n, 1) for n in range(1, seconds + 1)]
    samples = [sample(n, handles) for n in range(1, seconds + 1)]
    return Run("made-up", events, steps, samples)


def sample(second: int, handles: int) -> Sample:
    made = Sample(time=float(second), rss=500_000_000 + 1_000_000 * (second % 3), inside=LastBeat(step=second))
    is_counted = second % 5 == 1
    return replace(made, files=handles, threads=20, processes=1) if is_counted else made


@pytest.mark.parametrize("name", LEAKS)
def test_a_short_run_is_too_short_to_tell(name: str) -> None:
    answer = all_rules()[name].check(run_of(10))
    assert isinstance(answer, Unchecked)
    assert answer.because.startswith("too short to tell")
    assert answer.because.endswith(("10 samples in 9.0 s after the first epoch", "2 counts in 5.0 s"))


@pytest.mark.parametrize("name", LEAKS)
def test_a_long_one_is_ruled_out_with_the_measurement(name: str) -> None:
    answer = all_rules()[name].check(run_of(61))
    assert isinstance(answer, RuledOut)
    memory = "memory did not rise steadily: +0 B in 60 s, peak 502 MB"
    assert answer.because in (memory, "open files 10 → 10, threads 20 → 20, processes 1 → 1 in 60 s")
    assert answer.measured == (name in ("host-memory-growing", "handles-growing"))


def test_without_training_nothing_was_measured() -> None:
    answer = all_rules()["host-memory-growing"].check(Run("made-up", (written(0.0, "run", {}),)))
    assert (answer.because, getattr(answer, "measured", None)) == ("no training was recorded", False)
