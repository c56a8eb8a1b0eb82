"""Whether memory grows for good, what keeps it, and when it runs out: for the rules and for the living run alike."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from laststep import text as words
from laststep.analysis.finding import Evidence, RuledOut
from laststep.analysis.forecast import Forecast, Point, Room, Trend, foretell, memory_points, room, trend
from laststep.analysis.memory import limit_of, memory_kill
from laststep.record.event import Event
from laststep.record.events.supervisor import ProcessEnd
from laststep.record.events.training import Census, Container, Epoch, FitEnd, FitStart, Trace
from laststep.record.ownership import MIN_OWNER_SHARE
from laststep.record.place import Place
from laststep.record.run import Run, view
from laststep.record.sample import Sample

DEATHS = ("host-out-of-memory", "host-allocation-failed")  # the leak is the root of them
TENSORS = frozenset({"EagerTensor", "ndarray", "ResourceVariable", "Variable", "Tensor", "memmap"})
ALL_AGAIN = (0.85, 0.92, 1.0)  # of the history: it must have been a steady rise at each of these times
LEAST = 150e6  # bytes; smaller growth is not worth a word in a run that went well
LEAST_GRAPHS = 100e6
MANY_GRAPHS = 8
LEAST_SHARE = 0.25  # of what training began with
LEAST_OF_ROOM = 0.1  # or of the room that there was
EPOCHS_UNNAMED = 3  # that must have ended before growth without an owner is called a leak
SECONDS_UNNAMED = 600.0  # the same where there are no epochs
SECONDS_DICT = 120.0  # without an epoch's end, a dict that fills may be a cache
NEARLY_ALL = 0.8  # of the way: then it no longer matters what it is


@dataclass(frozen=True)
class Owner:
    """A container, by its name, that grew between two censuses."""

    name: str
    kind: str
    holds: str
    where: Place | None
    length: int
    added: int
    grew: float  # bytes
    share: float  # of all growth in that time
    events: tuple[Census, ...]


@dataclass(frozen=True)
class Leak:
    """Memory that grows steadily."""

    trend: Trend
    points: Sequence[Point]
    room: Room | None
    forecast: Forecast | None
    owner: Owner | None
    graphs: tuple[Trace | Census, ...]  # the first and the last event that says how many graphs were alive
    censuses: tuple[Census, ...]
    epochs: int  # that ended while it was watched
    is_sound: bool  # not to be taken for something that fills up and then stays

    @property
    def more_graphs(self) -> int:
        """How many more were alive later."""
        return self.graphs[-1].graphs - self.graphs[0].graphs if self.graphs else 0

    @property
    def is_notable(self) -> bool:
        """Worth a finding in a run that went well."""
        rise, before = self.trend.rise, self.points[0].value
        if is_graphs(self):
            return rise >= LEAST_GRAPHS
        room_before = self.trend.rise + (self.room.left if self.room else rise * 100)
        return rise >= LEAST and (rise >= LEAST_SHARE * before or rise >= LEAST_OF_ROOM * room_before)


@view
def leak_of(run: Run) -> Leak | None:
    """The leak of a run, living or dead; the same answer for all rules."""
    last = run.steps[-1].time if run.steps else 0.0
    # What is held at the end is let go then: only what was seen while it trained counts.
    return find_leak(run.samples, run.events, None if run.alive else last)


def find_leak(samples: Sequence[Sample], events: Sequence[Event], until: float | None = None) -> Leak | None:
    """None where memory does not rise steadily, or where what rose was garbage."""
    if until is not None:
        samples = [sample for sample in samples if sample.time <= until]
        events = [event for event in events if event.time <= until]
    ends = [event.time for event in events if isinstance(event, Epoch)]
    begun = next((sample.time for sample in samples if sample.step), None)
    if begun is None:
        return None
    since = max(begun, ends[0]) if ends else begun  # the first epoch fills caches and buffers
    points = memory_points(samples, since)
    censuses = tuple(event for event in events if isinstance(event, Census) and event.counts is not None)
    found = _steady(points, ends)
    if found is None or _was_garbage(censuses, since, found):
        return None
    space = _room(samples)
    left = foretell(found, points[-1], space.left) if space else None
    owner = owner_of(censuses, found.slope)
    ended = sum(end > since for end in ends)
    leak = Leak(found, points, space, left, owner, _graphs(events, since), censuses, ended, False)
    return replace(leak, is_sound=_is_sound(leak, events, bool(ends)))


def _was_garbage(censuses: Sequence[Census], since: float, found: Trend) -> bool:
    freed = [event.freed for event in censuses if event.freed is not None and event.time >= since]
    return any(size > 0.5 * found.rise for size in freed)


def _steady(points: list[Point], ends: list[float]) -> Trend | None:
    found = None
    if not points:
        return None
    whole = points[-1].time - points[0].time
    for part in ALL_AGAIN:
        until = points[0].time + part * whole
        found = trend([point for point in points if point.time <= until], ends)
        if found is None or not found.is_steady:
            return None
    return found


def _room(samples: Sequence[Sample]) -> Room | None:
    """The last sample's: those before belong to a time when more was free."""
    return next((found for sample in reversed(samples) if (found := room(sample)) is not None), None)


def _is_sound(leak: Leak, events: Sequence[Event], epochs_known: bool) -> bool:
    if _ends_before_the_epoch(leak, events) or (leak.forecast is not None and leak.forecast.way > NEARLY_ALL):
        return True
    if leak.owner is not None:
        fills_up = leak.owner.kind in ("dict", "set") and not epochs_known
        return not fills_up or leak.trend.seconds > SECONDS_DICT
    if leak.more_graphs >= MANY_GRAPHS:
        return True
    if not _is_held(leak.censuses):
        return False
    if epochs_known:
        return leak.epochs >= EPOCHS_UNNAMED and (leak.forecast is None or leak.forecast.way > 0.15)
    return leak.trend.seconds > SECONDS_UNNAMED


def _is_held(censuses: Sequence[Census]) -> bool:
    """Garbage was collected, by us or by Python itself, and memory stayed; True where nobody looked."""
    collected = any(event.freed is not None for event in censuses)
    return not censuses or collected or censuses[-1].collections > censuses[0].collections


def _ends_before_the_epoch(leak: Leak, events: Sequence[Event]) -> bool:
    """Memory runs out before the epoch does, by their known lengths: whatever it is that fills up."""
    fit = next((event for event in reversed(events) if isinstance(event, (FitStart, FitEnd))), None)
    steps = fit.steps if isinstance(fit, FitStart) else None
    if not isinstance(steps, int) or steps <= 0 or leak.forecast is None or leak.forecast.step is None or leak.epochs:
        return False
    first = leak.points[0].step
    return leak.forecast.way > 0.15 and leak.forecast.step - first < 0.8 * steps


def owner_of(censuses: Sequence[Census], slope: float) -> Owner | None:
    """The container that grew most; None where no one explains a good part of so many bytes a second."""
    if len(censuses) < 2:
        return None
    first, last = censuses[0], censuses[-1]
    seconds = last.time - first.time
    expected = max(slope * seconds, 1.0)
    best: Owner | None = None
    for entry in last.containers:
        history = [_named(event, entry) for event in censuses]
        seen = [(event, item) for event, item in zip(censuses, history, strict=True) if item is not None]
        if len(seen) < 2 or entry.most or not _only_grew([item.length for _, item in seen]):
            continue
        oldest, older = seen[0]
        grew, added = entry.bytes - older.bytes, entry.length - older.length
        part = expected * (last.time - oldest.time) / seconds if seconds > 0 else expected
        share = grew / max(part, 1.0)
        if share >= MIN_OWNER_SHARE and added > 0 and (best is None or grew > 1.02 * best.grew):
            best = Owner(
                entry.name, entry.kind, entry.holds, entry.where, entry.length, added, grew, share, (oldest, last)
            )
    return best


def _named(event: Census, entry: Container) -> Container | None:
    wanted = (entry.name, entry.file)
    return next((item for item in event.containers if (item.name, item.file) == wanted), None)


def _only_grew(lengths: list[int]) -> bool:
    return all(b >= a for a, b in itertools.pairwise(lengths)) and lengths[-1] > lengths[0]


def _graphs(events: Sequence[Event], since: float) -> tuple[Trace | Census, ...]:
    """The first and the last that say how many graphs were alive: each trace does, and each census."""
    late = [event for event in events if isinstance(event, (Trace, Census)) and event.time >= since]
    found = [event for event in late if event.graphs]
    return (found[0], found[-1]) if len(found) > 1 else ()


def how_it_grew(leak: Leak) -> Evidence:
    """The rise, from when, with its curve."""
    first, last = leak.points[0], leak.points[-1]
    per = f"about {words.size(leak.trend.per_step)} with every step" if leak.trend.pace else ""
    told = f"memory rose steadily, by {words.size(last.value - first.value)}"
    told += f" in {words.span(last.time - first.time)}, {per or words.size(leak.trend.slope) + ' a second'}"
    return Evidence(told, curve=_evenly(leak.points))


def _evenly(points: Sequence[Point], count: int = 32) -> tuple[float, ...]:
    """At equal distances in time: samples are denser when memory gets short."""
    begin, span = points[0].time, points[-1].time - points[0].time
    times = [begin + span * number / (count - 1) for number in range(count)]
    found, at = [], 0
    for time in times:
        while at + 1 < len(points) and points[at + 1].time <= time:
            at += 1
        found.append(points[at].value)
    return tuple(found)


def how_long(run: Run, leak: Leak) -> list[Evidence]:
    """When it runs out, while it lives; that it did, afterwards."""
    kill = memory_kill(run)
    if kill is not None:
        limit = limit_of(run, kill.group)
        whose = f"its control group reached its limit of {words.size(limit)}" if limit else "the machine had no more"
        return [Evidence(f"then the kernel killed the process: {whose}", tuple(run.all(ProcessEnd)[-1:]))]
    if leak.forecast is None or leak.room is None or not run.alive:
        return []
    return [Evidence(runs_out(leak.forecast, leak.room))]


def runs_out(forecast: Forecast, space: Room) -> str:
    told = f"memory runs out in about {words.span(forecast.seconds)}"
    told += f", at step ≈ {forecast.step:,}" if forecast.step else ""
    return told + f" (limit {words.size(space.limit)} of {space.whose})"


def not_garbage(leak: Leak) -> list[Evidence]:
    for taken in leak.censuses:
        if taken.freed is not None:
            freed = words.size(taken.freed)
            return [Evidence(f"collecting garbage gave back {freed}: the rest is still held by somebody", (taken,))]
    return []


def keeps(leak: Leak | None) -> bool:
    """Worth a finding: for sure no cache that fills, and large."""
    return leak is not None and leak.is_sound and leak.is_notable


def is_tensors(leak: Leak) -> bool:
    return leak.owner is not None and leak.owner.holds in TENSORS


def is_graphs(leak: Leak) -> bool:
    return leak.owner is None and leak.more_graphs >= MANY_GRAPHS


def quiet(run: Run, leak: Leak | None, because: str) -> RuledOut:
    """Not this; told only where memory was watched long enough to know."""
    if leak is None and len(run.samples) >= 12 and run.steps:
        most = max(sample.rss for sample in run.samples)
        return RuledOut(f"{because}; memory did not rise steadily, {words.size(most)} at most")
    return RuledOut(because)
