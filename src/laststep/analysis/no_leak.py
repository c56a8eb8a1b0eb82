"""That memory does not grow: only where it was measured long enough, and with the measurement."""

from __future__ import annotations

from laststep.analysis.finding import RuledOut, Unchecked, cannot, no
from laststep.analysis.forecast import Point, memory_points
from laststep.analysis.leaks import Leak
from laststep.record.events.training import Epoch
from laststep.record.run import Run, view
from laststep.text import format_count, format_duration, format_size

MIN_SAMPLES, MIN_SECONDS = 20, 30.0  # after the first epoch, which fills caches and buffers


def no_leak(run: Run, leak: Leak | None, because: str) -> RuledOut | Unchecked:
    """A leak of another kind is a reason by itself; otherwise memory must have been measured for a while."""
    if leak is not None and leak.is_reportable:
        return no(because)
    points = measured_points(run)
    if not run.steps:
        return no("no training was recorded")
    if leak is not None and leak.is_large:
        return cannot(f"too short to tell a leak from a cache that fills: {_change(points)}")
    if is_short(points):
        return cannot(f"too short to tell whether memory grows: {how_long(points)} after the first epoch")
    peak = format_size(max(sample.rss for sample in run.samples))
    return no(f"memory did not rise steadily: {_change(points)}, peak {peak}")


@view
def measured_points(run: Run) -> list[Point]:
    """Memory from the end of the first epoch to the last step."""
    epoch = run.first(Epoch)
    since = epoch.time if epoch is not None else next((sample.time for sample in run.samples if sample.step), None)
    if since is None or not run.steps:
        return []
    until = run.steps[-1].time
    return memory_points([sample for sample in run.samples if run.alive or sample.time <= until], since)


def is_short(points: list[Point]) -> bool:
    return len(points) < MIN_SAMPLES or points[-1].time - points[0].time < MIN_SECONDS


def how_long(points: list[Point]) -> str:
    """9 samples in 10 s."""
    seconds = points[-1].time - points[0].time if points else 0.0
    return f"{format_count(len(points), 'sample')} in {format_duration(seconds)}"


def _change(points: list[Point]) -> str:
    """+6 MB in 45 s."""
    if not points:
        return "memory was not measured"
    change = points[-1].value - points[0].value
    sign = "+" if change >= 0 else "-"
    return f"{sign}{format_size(abs(change))} in {format_duration(points[-1].time - points[0].time)}"
