"""Open files, threads or processes grow."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.forecast import Point, Trend, trend
from laststep.analysis.progress import fit_place, measured, no
from laststep.record.run import Run
from laststep.recorder.memory_census import HANDLES
from laststep.rules.rule import Answer, rule

LEAST = {"files": 50, "threads": 40, "processes": 20}
FEWEST = 4  # samples of it, since it is not counted in each
WORDS = {"files": "open files", "threads": "threads", "processes": "processes"}
CURES = {
    "files": Remedy("Close each after use", "with open(path, 'rb') as file:"),
    "threads": Remedy("Make the pool or the thread once, outside the loop, or end it: pool.shutdown(), thread.join()"),
    "processes": Remedy("Make the workers once, outside the loop, and wait for their end: pool.close(), pool.join()"),
}


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
    best: tuple[str, list[Point]] | None = None
    for name, least in LEAST.items():
        points = _points(run, name)
        if _grows(points, least) and (best is None or points[-1].value > best[1][-1].value):
            best = (name, points)
    if best is not None:
        return _finding(run, *best)
    counts = _points(run, "files")
    told = f"files, threads and processes did not grow ({counts[-1].value:.0f} files at the end)" if counts else ""
    return measured(told) if told and len(counts) >= FEWEST else no("files, threads and processes did not grow")


def _points(run: Run, name: str) -> list[Point]:
    ends = [event.time for event in run.all("epoch")]
    since = ends[0] if ends else (run.steps[0].time if run.steps else float("inf"))
    until = run.steps[-1].time if run.steps and not run.alive else float("inf")
    counted = [sample for sample in run.samples if since <= sample["t"] <= until and isinstance(sample.get(name), int)]
    return [Point(sample["t"], float(sample[name])) for sample in counted]


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


def _finding(run: Run, name: str, points: list[Point]) -> Finding:
    first, last = int(points[0].value), int(points[-1].value)
    groups, told = _groups(run, name)
    what = f": {groups[0][1]}" if groups else ""
    owner = _owner(run)
    kept = [Evidence(f"{owner['name']} held {owner['length']:,} of them when it was last looked at")] if owner else []
    return Finding(
        cause=f"The process has more and more {WORDS[name]}{what}. Nobody lets go of them.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"{WORDS[name]}: {first:,} when training had begun, {last:,} at the end", curve=_curve(points)),
            *told,
            *kept,
        ),
        remedies=(CURES[name],),
        where=(owner.get("where") if owner else None) or fit_place(run),
    )


def _curve(points: list[Point]) -> tuple[float, ...]:
    return tuple(point.value for point in points)


def _groups(run: Run, name: str) -> tuple[list[tuple[int, str]], list[Evidence]]:
    """What they are: files by name from outside, threads by the names that Python knows."""
    here = f"{run.cwd}/" if run.cwd else "\0"
    events = [event for event in run.all("census") if event.get("handles") == name]
    found = (events[-1].get("what") or []) if events else []
    inside = [event for event in run.all("census") if event.get("threads")]
    if name == "threads" and inside:
        events, found = inside, inside[-1].get("threads")
    groups = [(int(group["count"]), str(group["what"]).removeprefix(here)) for group in found[:3]]
    told = ", ".join(f"{count:,} × {what}" for count, what in groups)
    return groups, [Evidence(f"what they are: {told}", tuple(events[-1:]))] if groups else []


def _owner(run: Run) -> Mapping[str, Any] | None:
    """The container of the program's own that holds most of them."""
    inside = [event for event in run.all("census") if event.get("containers")]
    held = [entry for event in inside[-1:] for entry in event.get("containers") if entry.get("holds") in HANDLES]
    return max(held, key=lambda entry: int(entry["length"]), default=None)
