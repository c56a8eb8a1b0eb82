"""Open files, threads or processes grow."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.forecast import Point, Trend, trend
from laststep.analysis.progress import fit_place, measured, no
from laststep.record.events.training import Census, Container, Epoch, HandleGroup
from laststep.record.ownership import HANDLE_CLASSES
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.rules.rule import Answer, rule

FEWEST = 4  # samples of it, since it is not counted in each


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A kind of thing of which a process may have only so many."""

    kind: str  # as a census names it
    called: str
    count: Callable[[Sample], int | None]
    least: int  # that they must have grown by
    cure: Remedy


HANDLES = (
    Handle(
        kind="files",
        called="open files",
        count=lambda sample: sample.files,
        least=50,
        cure=Remedy("Close each after use", "with open(path, 'rb') as file:"),
    ),
    Handle(
        kind="threads",
        called="threads",
        count=lambda sample: sample.threads,
        least=40,
        cure=Remedy("Make the pool or the thread once, outside the loop, or end it: pool.shutdown(), thread.join()"),
    ),
    Handle(
        kind="processes",
        called="processes",
        count=lambda sample: sample.processes,
        least=20,
        cure=Remedy("Make the workers once, outside the loop, and wait for their end: pool.close(), pool.join()"),
    ),
)


@rule(needs=("recorder",), outranks=("too-many-open-files", "input-starved"))
def handles_growing(run: Run) -> Answer:
    """The process has more and more files, threads or processes: something opens them and never lets go.

    What happened
        A generator that opens a file for each sample, a writer made in each epoch, a pool of workers made in each
        turn of a loop. Nothing is wrong for hours; then the limit is reached (1,024 files, the container's number
        of processes) and the error comes from an innocent place.

    How laststep knows
        It counts them from outside every few seconds. The number rose steadily through the last two thirds of the
        run, past the first epoch, and by a lot; what they are is read from /proc.

    What to do
        Close what is opened, end what is started, or make it once outside the loop.

    Not to be confused with
        too-many-open-files (the error at the end of it), the threads that TensorFlow starts at the beginning and keeps.
    """
    counted = [(handle, _points(run, handle)) for handle in HANDLES]
    growing = [(handle, points) for handle, points in counted if _grows(points, handle.least)]
    if growing:
        return _finding(run, *max(growing, key=lambda each: each[1][-1].value))
    _, counts = counted[0]
    told = f"files, threads and processes did not grow ({counts[-1].value:.0f} files at the end)" if counts else ""
    return measured(told) if told and len(counts) >= FEWEST else no("files, threads and processes did not grow")


def _points(run: Run, handle: Handle) -> list[Point]:
    ends = [event.time for event in run.all(Epoch)]
    since = ends[0] if ends else (run.steps[0].time if run.steps else float("inf"))
    until = run.steps[-1].time if run.steps and not run.alive else float("inf")
    counted = [(sample.time, handle.count(sample)) for sample in run.samples if since <= sample.time <= until]
    return [Point(time, float(count)) for time, count in counted if count is not None]


def _grows(points: list[Point], least: int) -> bool:
    """By much, in most steps of the way, and still at the end."""
    if len(points) < FEWEST or points[-1].value - points[0].value < least:
        return False
    found: Trend | None = trend(points)
    if found is not None:
        return found.is_steady and found.rise >= least
    rises = sum(b.value > a.value for a, b in itertools.pairwise(points))
    half = (points[0].value + points[-1].value) / 2
    middle = points[len(points) // 2].value
    return rises >= len(points) - 1 and abs(middle - half) < 0.35 * (points[-1].value - points[0].value)


def _finding(run: Run, handle: Handle, points: list[Point]) -> Finding:
    first, last = int(points[0].value), int(points[-1].value)
    (groups, told), owner = _groups(run, handle), _owner(run)
    what = f": {groups[0].what}" if groups else ""
    kept = [Evidence(f"{owner.name} held {owner.length:,} of them when it was last looked at")] if owner else []
    return Finding(
        cause=f"The process has more and more {handle.called}{what}. Nobody lets go of them.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"{handle.called}: {first:,} when training had begun, {last:,} at the end", curve=_curve(points)),
            *told,
            *kept,
        ),
        remedies=(handle.cure,),
        where=(owner.where if owner else None) or fit_place(run),
    )


def _curve(points: list[Point]) -> tuple[float, ...]:
    return tuple(point.value for point in points)


def _groups(run: Run, handle: Handle) -> tuple[list[HandleGroup], list[Evidence]]:
    """What they are: files by name from outside, threads by the names that Python knows."""
    here = f"{run.cwd}/" if run.cwd else "\0"
    outside = [(event, event.what) for event in run.all(Census) if event.handles == handle.kind]
    inside = [(event, event.threads) for event in run.all(Census) if event.threads and handle.kind == "threads"]
    known = (inside or outside)[-1:]
    groups = [replace(group, what=group.what.removeprefix(here)) for _, found in known for group in found[:3]]
    told = ", ".join(f"{group.count:,} × {group.what}" for group in groups)
    return groups, [Evidence(f"what they are: {told}", tuple(event for event, _ in known))] if groups else []


def _owner(run: Run) -> Container | None:
    """The container of the program's own that holds most of them."""
    inside = [event for event in run.all(Census) if event.containers]
    held = [entry for event in inside[-1:] for entry in event.containers if entry.holds in HANDLE_CLASSES]
    return max(held, key=lambda entry: entry.length, default=None)
