"""Open files, threads or processes grow in number."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.forecast import Point, fit_trend
from laststep.analysis.progress import fit_place
from laststep.record.events.training import Census, Container, Epoch, HandleGroup
from laststep.record.ownership import HANDLE_CLASSES
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count, format_duration

MIN_COUNTS = 4  # they are not counted in each sample
MIN_COUNTED_SECONDS = 30.0  # to say that they do not grow
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


@rule(tier=Tier.ROOT, sees=("inside",))
def handles_growing(run: Run) -> Answer:
    """The process has more and more open files, threads or processes: they are opened and never closed.

    What happened
        A generator opens a file for each sample, a writer is created in each epoch, or a pool of workers in each
        iteration of a loop, and none of them is closed. There is no error for hours; then a limit is reached (1,024
        open files, the container's number of processes), and the error is raised in an unrelated place.

    How laststep knows
        It counts them from outside every few seconds. The number rose steadily, and by a large amount, through the last
        two thirds of the run, after the first epoch. /proc shows what they are.

    What to do
        Close what is opened, end what is started, or create it once outside the loop.

    Not to be confused with
        too-many-open-files (the error when the limit is reached), the threads that TensorFlow starts at the beginning
        and keeps.
    """
    counted = [(handle, _points(run, handle)) for handle in HANDLES]
    growing = [(handle, points) for handle, points in counted if _grows(points, handle.min_growth)]
    if growing:
        return _finding(run, *max(growing, key=lambda each: each[1][-1].value))
    return _did_not_grow(run, counted)


def _did_not_grow(run: Run, counted: list[tuple[Handle, list[Point]]]) -> Answer:
    """With their numbers, where they were counted for a while."""
    files = counted[0][1]
    seconds = files[-1].time - files[0].time if files else 0.0
    if not run.steps:
        return no("no training was recorded")
    if len(files) < MIN_COUNTS or seconds < MIN_COUNTED_SECONDS:
        says = f"{format_count(len(files), 'count')} in {format_duration(seconds)}"
        return cannot(f"too short to tell whether handles accumulate: {says}")
    known = [(handle.label, points) for handle, points in counted if points]
    numbers = ", ".join(f"{label} {points[0].value:.0f} → {points[-1].value:.0f}" for label, points in known)
    return measured(f"{numbers} in {format_duration(seconds)}")


def _points(run: Run, handle: Handle) -> list[Point]:
    """Counts after the first epoch and while it trains."""
    epoch_ends = [event.time for event in run.all(Epoch)]
    since = epoch_ends[0] if epoch_ends else (run.steps[0].time if run.steps else float("inf"))
    until = run.steps[-1].time if run.steps and not run.alive else float("inf")
    counted = [(sample.time, handle.count(sample)) for sample in run.samples if since <= sample.time <= until]
    return [Point(time, float(count)) for time, count in counted if count is not None]


def _grows(points: list[Point], min_growth: int) -> bool:
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


def _finding(run: Run, handle: Handle, points: list[Point]) -> Finding:
    first, last = int(points[0].value), int(points[-1].value)
    (groups, named), owner = _groups(run, handle), _owner(run)
    what = f" ({groups[0].what})" if groups else ""
    held = [Evidence(f"`{owner.name}` held {owner.length:,} of them in the last census")] if owner else []
    counts = f"{handle.label}: {first:,} when training had begun, {last:,} at the end"
    return Finding(
        cause=f"The process has more and more {handle.label}{what}: they are {handle.leaked}.",
        confidence=Confidence.LIKELY,
        evidence=(Evidence(counts, curve=tuple(point.value for point in points)), *named, *held),
        remedies=(handle.remedy,),
        where=(owner.where if owner else None) or fit_place(run),
    )


def _groups(run: Run, handle: Handle) -> tuple[list[HandleGroup], list[Evidence]]:
    """What they are: threads by Python's own names where those are known, anything else as seen from outside."""
    working_folder = f"{run.cwd}/" if run.cwd else "\0"
    outside = [(event, event.what) for event in run.all(Census) if event.handles == handle.kind]
    inside = [(event, event.threads) for event in run.all(Census) if event.threads and handle.kind == "threads"]
    known = (inside or outside)[-1:]
    groups = [replace(group, what=group.what.removeprefix(working_folder)) for _, found in known for group in found[:3]]
    listed = ", ".join(f"{group.count:,} × {group.what}" for group in groups)
    return groups, [Evidence(f"by name: {listed}", tuple(event for event, _ in known))] if groups else []


def _owner(run: Run) -> Container | None:
    """The program's own container that holds most of them."""
    inside = [event for event in run.all(Census) if event.containers]
    held = [entry for event in inside[-1:] for entry in event.containers if entry.holds in HANDLE_CLASSES]
    return max(held, key=lambda entry: entry.length, default=None)
