"""Open files, threads and processes: how many there were over time, and whether their number grows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from laststep.analysis.finding import Remedy
from laststep.analysis.forecast import Point, fit_trend
from laststep.record.events.training import Epoch
from laststep.record.run import Run
from laststep.record.sample import Sample

MIN_COUNTS = 4  # they are not counted in each sample
MAX_DEVIATION = 0.35  # of the growth: how far the middle may lie from a straight line, where there are few counts


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A resource of which a process may have a limited number."""

    kind: str  # as a census names it
    label: str
    count: Callable[[Sample], int | None]
    min_growth: int
    leaked: str  # how they leak
    remedy: Remedy


HANDLES = (
    Handle(
        kind="files",
        label="open files",
        count=lambda sample: sample.files,
        min_growth=50,
        leaked="opened and never closed",
        remedy=Remedy("Close each file after use: with open(…) as file"),
    ),
    Handle(
        kind="threads",
        label="threads",
        count=lambda sample: sample.threads,
        min_growth=40,
        leaked="started and never ended",
        remedy=Remedy("Create the pool or thread once, outside the loop, or end it: pool.shutdown(), thread.join()"),
    ),
    Handle(
        kind="processes",
        label="processes",
        count=lambda sample: sample.processes,
        min_growth=20,
        leaked="started and never ended",
        remedy=Remedy("Create the workers once, outside the loop, and wait for their end: pool.close(), pool.join()"),
    ),
)


def counts_of(run: Run, handle: Handle) -> list[Point]:
    """Counts after the first epoch and while it trains."""
    epoch_ends = [event.time for event in run.all(Epoch)]
    since = epoch_ends[0] if epoch_ends else (run.steps[0].time if run.steps else float("inf"))
    until = run.steps[-1].time if run.steps and not run.alive else float("inf")
    counted = [(sample.time, handle.count(sample)) for sample in run.samples if since <= sample.time <= until]
    return [Point(time, float(count)) for time, count in counted if count is not None]


def grows(points: list[Point], min_growth: int) -> bool:
    """By a large amount, nearly all the time, and still at the end."""
    if len(points) < MIN_COUNTS or points[-1].value - points[0].value < min_growth:
        return False
    trend = fit_trend(points)
    if trend is not None:
        return trend.is_steady and trend.rise >= min_growth
    rises = sum(b.value > a.value for a, b in itertools.pairwise(points))
    straight = (points[0].value + points[-1].value) / 2
    deviation = abs(points[len(points) // 2].value - straight)
    return rises >= len(points) - 1 and deviation < MAX_DEVIATION * (points[-1].value - points[0].value)
