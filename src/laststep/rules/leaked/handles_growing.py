"""Open files, threads or processes grow in number."""

from __future__ import annotations

from dataclasses import replace

from laststep.analysis.finding import Confidence, Evidence, Finding, cannot, measured, no
from laststep.analysis.forecast import Point
from laststep.analysis.handles import HANDLES, MIN_COUNTS, Handle, counts_of, grows
from laststep.analysis.progress import fit_place
from laststep.record.events.training import Census, Container, HandleGroup
from laststep.record.ownership import HANDLE_CLASSES
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count, format_duration

MIN_COUNTED_SECONDS = 30.0  # to say that they do not grow


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
    counted = [(handle, counts_of(run, handle)) for handle in HANDLES]
    growing = [(handle, points) for handle, points in counted if grows(points, handle.min_growth)]
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
