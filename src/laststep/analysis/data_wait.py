"""How long steps waited for their data, from the samples of the later part of the training."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from laststep.record.run import Run
from laststep.record.sample import LastBeat

FEWEST = 5  # samples
PHASES = ("step", "between", "")  # a loop of the program's own sets no mark


@dataclass(frozen=True)
class Waits:
    """Seconds waited in so many steps, and the share of the time, second by second."""

    waited: float
    seconds: float
    steps: int
    curve: tuple[float, ...]

    @property
    def share(self) -> float:
        return self.waited / self.seconds

    @property
    def each(self) -> float:
        return self.waited / self.steps


def waits_of(run: Run) -> Waits | None:
    """Of the second half of the training seconds: what a cache or a buffer costs at first is over by then."""
    spans = [span for span in _spans(run) if span is not None]
    late = spans[len(spans) // 2 :]
    if len(late) < FEWEST:
        return None
    waited, seconds = sum(span[0] for span in late), sum(span[1] for span in late)
    steps = sum(span[2] for span in late)
    if not steps or not seconds:
        return None
    return Waits(waited, seconds, steps, tuple(span[0] / span[1] for span in spans))


def _spans(run: Run) -> list[tuple[float, float, int] | None]:
    """(waited, seconds, steps) between two beats that follow each other, both in training steps."""
    beats = [sample.inside for sample in run.samples if sample.inside is not None]
    return [_span(one, two) for one, two in itertools.pairwise(beats)]


def _span(one: LastBeat, two: LastBeat) -> tuple[float, float, int] | None:
    if one.phase not in PHASES or two.phase != one.phase or not one.step:
        return None
    if one.time is None or two.time is None or one.waited is None or two.waited is None:
        return None
    seconds, steps = two.time - one.time, two.step - one.step
    if not 0 < seconds < 30 or steps < 0 or (steps == 0 and two.waiting == 0.0):
        return None
    return two.waited - one.waited, seconds, steps
