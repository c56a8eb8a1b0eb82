"""How long steps waited for their data, from the samples of the second half of training."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from laststep.record.run import Run
from laststep.record.sample import LastBeat

MIN_INTERVALS = 5
MAX_INTERVAL_SECONDS = 30
PHASES = ("step", "between", "")  # a hand-written loop sets no phase


@dataclass(frozen=True)
class DataWait:
    """Seconds that a number of steps waited for data, and the share of the time, interval by interval."""

    waited: float
    seconds: float
    steps: int
    curve: tuple[float, ...]

    @property
    def share(self) -> float:
        return self.waited / self.seconds

    @property
    def per_step(self) -> float:
        return self.waited / self.steps


def data_wait_of(run: Run) -> DataWait | None:
    """Of the second half of the training seconds: filling a cache or a buffer is over by then."""
    intervals = [interval for interval in _intervals(run) if interval is not None]
    late = intervals[len(intervals) // 2 :]
    if len(late) < MIN_INTERVALS:
        return None
    waited, seconds, steps = (sum(column) for column in zip(*late, strict=True))
    if not steps or not seconds:
        return None
    return DataWait(waited, seconds, int(steps), tuple(interval[0] / interval[1] for interval in intervals))


def _intervals(run: Run) -> list[tuple[float, float, int] | None]:
    """(seconds waited, seconds, steps) between two heartbeats that follow each other, both in training steps."""
    beats = [sample.inside for sample in run.samples if sample.inside is not None]
    return [_interval(one, two) for one, two in itertools.pairwise(beats)]


def _interval(one: LastBeat, two: LastBeat) -> tuple[float, float, int] | None:
    if one.phase not in PHASES or two.phase != one.phase or not one.step:
        return None
    if one.time is None or two.time is None or one.waited is None or two.waited is None:
        return None
    seconds, steps = two.time - one.time, two.step - one.step
    if not 0 < seconds < MAX_INTERVAL_SECONDS or steps < 0 or (steps == 0 and two.waiting == 0.0):
        return None
    return two.waited - one.waited, seconds, steps
