"""Whether memory grows steadily, what holds it, and when it runs out: for the rules and for a live run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from laststep.analysis.finding import Evidence
from laststep.analysis.forecast import (
    Headroom,
    Point,
    Projection,
    Trend,
    exhaustion,
    fit_trend,
    headroom_in,
    memory_points,
    project,
)
from laststep.analysis.memory import limit_of, memory_kill
from laststep.record.event import Event
from laststep.record.events.supervisor import ProcessEnd
from laststep.record.events.training import Census, Container, Epoch, FitEnd, FitStart, Trace
from laststep.record.ownership import MIN_OWNER_SHARE
from laststep.record.place import Place
from laststep.record.run import Run, view
from laststep.record.sample import Sample
from laststep.text import format_count, format_duration, format_size

TENSOR_CLASSES = frozenset({"EagerTensor", "ndarray", "ResourceVariable", "Variable", "Tensor", "memmap"})
CHECKED_AT = (0.85, 0.92, 1.0)  # of the history: the rise must have been steady up to each of these times
MAX_GARBAGE_SHARE = 0.5  # of the rise: where a garbage collection freed more, it was no leak
MIN_RISE_BYTES = 150e6  # for a finding in a run that went well
MIN_RISE_BYTES_OF_GRAPHS = 100e6
MIN_RISE_SHARE = 0.25  # of the memory in use when training began
MIN_RISE_OF_HEADROOM = 0.1  # or of the headroom at that time
MIN_MORE_GRAPHS = 8
MIN_EPOCHS_WITHOUT_OWNER = 3  # that must have ended before growth without an owner is called a leak
MIN_SECONDS_WITHOUT_OWNER = 600.0  # the same where there are no epochs
MIN_SECONDS_OF_DICT = 120.0  # before an epoch has ended, a dict that grows may be a cache
MIN_USED_SHARE = 0.15  # of the headroom
MIN_NEARLY_USED_SHARE = 0.8  # of the headroom: from here on a cache that fills is as bad as a leak
MAX_SHARE_OF_EPOCH = 0.8  # at which memory runs out, for that to be sure
MAX_SAME_DATA_RATIO = 1.02  # of the growth of two containers: up to it they hold the same data, and the first is named


@dataclass(frozen=True)
class Owner:
    """A container of the program's own that grew between two censuses."""

    name: str
    kind: str  # list, dict …
    holds: str  # the class that takes most of it
    where: Place | None  # the line that adds to it
    length: int
    added: int  # entries
    grown_bytes: float
    share: float  # of all growth in that time
    censuses: tuple[Census, ...]

    @property
    def label(self) -> str:
        """Its name as code; a cache of functools has a description instead."""
        return self.name if " " in self.name else f"`{self.name}`"

    @property
    def entry_bytes(self) -> float:
        return self.grown_bytes / self.added

    @property
    def percent(self) -> str:
        return f"{min(100, round(100 * self.share))}%"

    @property
    def growth(self) -> Evidence:
        added = f"{format_count(self.added, 'element')} of {format_size(self.entry_bytes)} each"
        grew = f"{self.label} ({self.kind}) grew by {added} between two censuses"
        return Evidence(f"{grew}: {self.percent} of the growth", self.censuses)


@dataclass(frozen=True)
class Leak:
    """Memory that grows steadily."""

    trend: Trend
    points: Sequence[Point]
    headroom: Headroom | None
    projection: Projection | None
    owner: Owner | None
    graphs: tuple[Trace | Census, ...]  # the first and the last event that says how many graphs were alive
    censuses: tuple[Census, ...]
    epochs: int  # that ended during this history
    is_sound: bool = False  # it cannot be a cache that fills up and then stays

    @property
    def more_graphs(self) -> int:
        """How many more were alive later."""
        return self.graphs[-1].graphs - self.graphs[0].graphs if self.graphs else 0

    @property
    def is_of_graphs(self) -> bool:
        return self.owner is None and self.more_graphs >= MIN_MORE_GRAPHS

    @property
    def is_of_tensors(self) -> bool:
        return self.owner is not None and self.owner.holds in TENSOR_CLASSES

    @property
    def is_large(self) -> bool:
        rise, before = self.trend.rise, self.points[0].value
        if self.is_of_graphs:
            return rise >= MIN_RISE_BYTES_OF_GRAPHS
        headroom_before = rise + (self.headroom.left if self.headroom else rise * 100)
        is_notable = rise >= MIN_RISE_SHARE * before or rise >= MIN_RISE_OF_HEADROOM * headroom_before
        return rise >= MIN_RISE_BYTES and is_notable

    @property
    def is_reportable(self) -> bool:
        return self.is_sound and self.is_large


@view
def leak_of(run: Run) -> Leak | None:
    """The leak of a run, live or ended; the same for all rules."""
    last_step = run.steps[-1].time if run.steps else 0.0
    # Memory is freed at the end: only the samples from training count.
    return find_leak(run.samples, run.events, None if run.alive else last_step)


def find_leak(samples: Sequence[Sample], events: Sequence[Event], until: float | None = None) -> Leak | None:
    """None where memory does not rise steadily, or where what rose was garbage."""
    if until is not None:
        samples = [sample for sample in samples if sample.time <= until]
        events = [event for event in events if event.time <= until]
    epoch_ends = [event.time for event in events if isinstance(event, Epoch)]
    first_step = next((sample.time for sample in samples if sample.step), None)
    if first_step is None:
        return None
    since = max(first_step, epoch_ends[0]) if epoch_ends else first_step  # the first epoch fills caches and buffers
    points = memory_points(samples, since)
    censuses = tuple(event for event in events if isinstance(event, Census) and event.counts is not None)
    trend = _steady_trend(points, epoch_ends)
    if trend is None or _was_garbage(censuses, since, trend):
        return None
    headroom = _last_headroom(samples)
    leak = Leak(
        trend=trend,
        points=points,
        headroom=headroom,
        projection=project(trend, points[-1], headroom.left) if headroom else None,
        owner=owner_of(censuses, trend.slope),
        graphs=_graph_counts(events, since),
        censuses=censuses,
        epochs=sum(end > since for end in epoch_ends),
    )
    return replace(leak, is_sound=_is_sound(leak, events, bool(epoch_ends)))


def _was_garbage(censuses: Sequence[Census], since: float, trend: Trend) -> bool:
    freed = [event.freed for event in censuses if event.freed is not None and event.time >= since]
    return any(size > MAX_GARBAGE_SHARE * trend.rise for size in freed)


def _steady_trend(points: list[Point], epoch_ends: list[float]) -> Trend | None:
    trend = None
    if not points:
        return None
    whole = points[-1].time - points[0].time
    for share in CHECKED_AT:
        until = points[0].time + share * whole
        trend = fit_trend([point for point in points if point.time <= until], epoch_ends)
        if trend is None or not trend.is_steady:
            return None
    return trend


def _last_headroom(samples: Sequence[Sample]) -> Headroom | None:
    return next((found for sample in reversed(samples) if (found := headroom_in(sample)) is not None), None)


def _is_sound(leak: Leak, events: Sequence[Event], has_epochs: bool) -> bool:
    used_share = leak.projection.used_share if leak.projection else None
    if _ends_before_the_epoch(leak, events) or (used_share is not None and used_share > MIN_NEARLY_USED_SHARE):
        return True
    if leak.owner is not None:
        may_be_cache = leak.owner.kind in ("dict", "set") and not has_epochs
        return not may_be_cache or leak.trend.seconds > MIN_SECONDS_OF_DICT
    if leak.more_graphs >= MIN_MORE_GRAPHS:
        return True
    if not _is_referenced(leak.censuses):
        return False
    if has_epochs:
        return leak.epochs >= MIN_EPOCHS_WITHOUT_OWNER and (used_share is None or used_share > MIN_USED_SHARE)
    return leak.trend.seconds > MIN_SECONDS_WITHOUT_OWNER


def _is_referenced(censuses: Sequence[Census]) -> bool:
    """Garbage was collected, by us or by Python itself, and memory stayed; True without a census."""
    collected = any(event.freed is not None for event in censuses)
    return not censuses or collected or censuses[-1].collections > censuses[0].collections


def _ends_before_the_epoch(leak: Leak, events: Sequence[Event]) -> bool:
    """Memory runs out before the first epoch ends: then a cache that fills is as bad as a leak."""
    fit = next((event for event in reversed(events) if isinstance(event, (FitStart, FitEnd))), None)
    steps = fit.steps if isinstance(fit, FitStart) else None
    projection = leak.projection
    if not isinstance(steps, int) or steps <= 0 or projection is None or projection.step is None or leak.epochs:
        return False
    first = leak.points[0].step
    return projection.used_share > MIN_USED_SHARE and projection.step - first < MAX_SHARE_OF_EPOCH * steps


def owner_of(censuses: Sequence[Census], slope: float) -> Owner | None:
    """The container that grew most; None where none accounts for a good part of a growth of `slope` bytes a second."""
    if len(censuses) < 2:
        return None
    first, last = censuses[0], censuses[-1]
    seconds = last.time - first.time
    expected = max(slope * seconds, 1.0)
    best: Owner | None = None
    for entry in last.containers:
        history = [_find_container(census, entry) for census in censuses]
        known = [(census, item) for census, item in zip(censuses, history, strict=True) if item is not None]
        if len(known) < 2 or entry.most or not _only_grew([item.length for _, item in known]):
            continue
        oldest, older = known[0]
        grown, added = entry.bytes - older.bytes, entry.length - older.length
        part = expected * (last.time - oldest.time) / seconds if seconds > 0 else expected
        share = grown / max(part, 1.0)
        if share >= MIN_OWNER_SHARE and added > 0 and (best is None or grown > MAX_SAME_DATA_RATIO * best.grown_bytes):
            best = Owner(
                entry.name, entry.kind, entry.holds, entry.where, entry.length, added, grown, share, (oldest, last)
            )
    return best


def _find_container(census: Census, wanted: Container) -> Container | None:
    name = (wanted.name, wanted.file)
    return next((item for item in census.containers if (item.name, item.file) == name), None)


def _only_grew(lengths: list[int]) -> bool:
    return all(b >= a for a, b in itertools.pairwise(lengths)) and lengths[-1] > lengths[0]


def _graph_counts(events: Sequence[Event], since: float) -> tuple[Trace | Census, ...]:
    """The first and the last event that says how many graphs were alive."""
    late = [event for event in events if isinstance(event, (Trace, Census)) and event.time >= since]
    found = [event for event in late if event.graphs]
    return (found[0], found[-1]) if len(found) > 1 else ()


def growth_evidence(leak: Leak) -> Evidence:
    """How much memory grew, with its curve."""
    first, last = leak.points[0], leak.points[-1]
    rate = f"{format_size(leak.trend.slope)} per second"
    if leak.trend.steps_per_second:
        rate = f"about {format_size(leak.trend.per_step)} per step"
    rise, seconds = format_size(last.value - first.value), format_duration(last.time - first.time)
    return Evidence(f"memory rose steadily by {rise} in {seconds}, {rate}", curve=_evenly_spaced(leak.points))


def _evenly_spaced(points: Sequence[Point], count: int = 32) -> tuple[float, ...]:
    """Samples are denser in time when memory gets short."""
    begin, span = points[0].time, points[-1].time - points[0].time
    times = [begin + span * number / (count - 1) for number in range(count)]
    found, at = [], 0
    for time in times:
        while at + 1 < len(points) and points[at + 1].time <= time:
            at += 1
        found.append(points[at].value)
    return tuple(found)


def exhaustion_evidence(run: Run, leak: Leak) -> list[Evidence]:
    """When memory runs out, for a live run; that it did, for one that has ended."""
    kill = memory_kill(run)
    if kill is not None:
        limit = limit_of(run, kill.group)
        why = (
            f"its control group reached its limit of {format_size(limit)}" if limit else "the machine ran out of memory"
        )
        return [Evidence(f"then the kernel killed the process: {why}", tuple(run.all(ProcessEnd)[-1:]))]
    if leak.projection is None or leak.headroom is None or not run.alive:
        return []
    return [Evidence(exhaustion(leak.projection.seconds, leak.projection.step, leak.headroom.text))]


def garbage_evidence(leak: Leak) -> list[Evidence]:
    """How little a garbage collection freed."""
    for census in leak.censuses:
        if census.freed is not None:
            freed = format_size(census.freed)
            return [Evidence(f"a garbage collection freed {freed}: the rest is still referenced", (census,))]
    return []
