"""Watch the memory of a live run: forecast when it runs out and which container holds it; count handles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from laststep.analysis.forecast import (
    Headroom,
    Point,
    Projection,
    exhaustion,
    fit_trend,
    headroom_in,
    memory_points,
)
from laststep.analysis.leaks import Leak, find_leak
from laststep.record.events.training import Epoch
from laststep.record.follow import Follower
from laststep.record.journal import JournalWriter, read_recorders
from laststep.record.sample import Sample, decode_sample
from laststep.record.steps import CENSUS, SAVE
from laststep.supervisor import host
from laststep.text import format_size

MAX_SAMPLES = 2000
MAX_COUNTS = 500  # of each kind of handle
TREND_SECONDS, TREND_SHARE = 2.0, 0.05  # a trend is fitted so often, or after this share of the history
MIN_STEADY_TRENDS = 3  # in a row
LEAK_SECONDS = 3.0  # between two searches for a leak, which read the recorder's journal
EPOCH_SECONDS = 10.0  # between two readings of the epochs' ends
CENSUS_SECONDS = 15.0  # to wait for two censuses, which name the owner
MIN_RISE_BYTES = 32e6  # a census holds up the program for some tenths of a second
SAVE_SECONDS = 60.0  # before memory runs out
SAVE_SHARE = 0.92  # of the limit in use
MIN_USED_SHARE = 0.25  # of the headroom, before an epoch has ended
MIN_MORE_HANDLES = 40
LIST_HANDLES = {"files": host.files_by_kind, "threads": host.threads_by_name, "processes": host.processes_by_name}
NEEDED = ("t", "rss", "group", "host", "inside", *LIST_HANDLES)  # fields of a sample: many samples are kept


class Forecaster:
    """Gets each sample; requests a census from the recorder, which costs time, only when memory or handles grow."""

    def __init__(
        self, folder: Path, pid: int, journal: JournalWriter, say: Callable[[str], None] | None, may_save: bool
    ) -> None:
        self._folder = folder
        self._pid = pid
        self._journal = journal
        self._say = say
        self._may_save = may_save
        self._recorder = Follower(folder)
        self._asked = 0  # bits: CENSUS, SAVE
        self._samples: list[Sample] = []
        self._steady_trends = 0  # in a row
        self._epoch_ends: list[float] = []
        self._next_trend = self._next_leak = self._next_epochs = 0.0
        self._owner_until = 0.0  # until then it waits for two censuses
        self._announced: float | None = None  # seconds that were left
        self._counts: dict[str, list[Point]] = {name: [] for name in LIST_HANDLES}
        self._next_listing = 0  # more handles of one kind

    def see(self, fields: Mapping[str, Any]) -> None:
        sample = decode_sample({name: fields[name] for name in NEEDED if name in fields})
        if not sample.step:
            return
        self._keep(sample)
        self._save_if_full(sample)
        now = sample.time
        if now >= self._next_trend:
            self._next_trend = now + max(TREND_SECONDS, TREND_SHARE * (now - self._samples[0].time))
            self._evaluate(now)
        if sample.files is not None or sample.threads is not None:  # they are not counted in each sample
            self._see_handles(sample)

    def _keep(self, sample: Sample) -> None:
        self._samples.append(sample)
        if len(self._samples) > MAX_SAMPLES:
            del self._samples[: MAX_SAMPLES // 2 : 2]

    def _evaluate(self, now: float) -> None:
        points = memory_points(self._samples, 0.0)
        trend = fit_trend(points)
        if trend is None or not trend.is_steady:
            trend = fit_trend(points, self._read_epoch_ends(now))
        self._steady_trends = self._steady_trends + 1 if trend is not None and trend.is_steady else 0
        if self._steady_trends >= MIN_STEADY_TRENDS - 1 and _is_worth_a_census(points):
            self._ask(CENSUS)
            self._owner_until = self._owner_until or now + CENSUS_SECONDS
        if self._steady_trends >= MIN_STEADY_TRENDS and now >= self._next_leak and self._asked & CENSUS:
            self._next_leak = now + LEAK_SECONDS
            self._search_leak(now)

    def _search_leak(self, now: float) -> None:
        leak = find_leak(self._samples, read_recorders(self._folder))
        if leak is None or leak.projection is None or leak.headroom is None:
            return
        is_owner_known = len(leak.censuses) > 1 or now > self._owner_until
        if is_owner_known and _may_be_announced(leak, leak.projection):
            self._forecast(leak, leak.projection, leak.headroom)

    def _read_epoch_ends(self, now: float) -> list[float]:
        if now >= self._next_epochs:
            self._next_epochs = now + EPOCH_SECONDS
            self._epoch_ends = [event.time for event in read_recorders(self._folder) if isinstance(event, Epoch)]
        return self._epoch_ends

    def _ask(self, what: int) -> None:
        if not self._asked & what and self._recorder.ask(what):
            self._asked |= what

    def _forecast(self, leak: Leak, projection: Projection, headroom: Headroom) -> None:
        """Print it once, and again when half of that time is left; after the end, the page reports it."""
        if self._may_save and projection.seconds < max(SAVE_SECONDS, _two_epochs(leak)):
            self._ask(SAVE)
        if self._announced is not None and projection.seconds > self._announced / 2:
            return
        self._journal.write("forecast", _fields(leak, projection, headroom))
        is_first = self._announced is None
        self._announced = projection.seconds if is_first else 0.0
        if self._say is not None:
            self._say(f"\nlaststep: {announcement(leak, projection, headroom, is_first)}\n")

    def _save_if_full(self, sample: Sample) -> None:
        headroom = headroom_in(sample) if self._may_save and not self._asked & SAVE else None
        if headroom is not None and headroom.limit - headroom.left > SAVE_SHARE * headroom.limit:
            self._ask(SAVE)

    def _see_handles(self, sample: Sample) -> None:
        counts = {"files": sample.files, "threads": sample.threads, "processes": sample.processes}
        for name, count in counts.items():
            if count is not None:
                self._see_count(name, Point(sample.time, float(count)))

    def _see_count(self, name: str, point: Point) -> None:
        points = self._counts[name]
        points.append(point)
        del points[: -MAX_COUNTS - 1 : 2]
        more = point.value - points[0].value
        if more >= MIN_MORE_HANDLES and more >= self._next_listing:
            self._next_listing = 2 * int(more)
            self._ask(CENSUS)
            listed = LIST_HANDLES[name](self._pid)
            self._journal.write("census", {"handles": name, "count": int(point.value), "what": listed})


def _may_be_announced(leak: Leak, projection: Projection) -> bool:
    """Before an epoch has ended, a list that grows may be the data being read."""
    return leak.is_sound and (leak.epochs > 0 or projection.used_share > MIN_USED_SHARE)


def _is_worth_a_census(points: list[Point]) -> bool:
    return points[-1].value - min(point.value for point in points) > MIN_RISE_BYTES


def _two_epochs(leak: Leak) -> float:
    """In seconds."""
    return 2 * leak.trend.seconds / leak.epochs if leak.epochs else 0.0


def _fields(leak: Leak, projection: Projection, headroom: Headroom) -> dict[str, Any]:
    """As they are on disk; `Forecast` in record/events describes them."""
    owner = leak.owner
    return {
        "seconds": round(projection.seconds, 1),
        "soonest": round(projection.soonest, 1),
        "latest": round(projection.latest, 1),
        "step": projection.step,
        "way": round(projection.used_share, 3),
        "per_step": round(leak.trend.per_step),
        "limit": headroom.limit,
        "whose": headroom.whose,
        "keeps": owner.name if owner else None,
        "where": asdict(owner.where) if owner and owner.where else None,
    }


def announcement(leak: Leak, projection: Projection, headroom: Headroom, is_first: bool) -> str:
    """One line for stderr, between the program's own output."""
    rate = [f"{format_size(leak.trend.per_step)} more per step"] if leak.trend.steps_per_second else []
    said = exhaustion(projection.seconds, projection.step, *rate, headroom.text) + "."
    if leak.owner is not None:
        where = f" ({Path(leak.owner.where.file).name}:{leak.owner.where.line})" if leak.owner.where else ""
        return f"{said} {leak.owner.label}{where} keeps growing."
    if leak.is_of_graphs:
        return f"{said} {leak.more_graphs} more TensorFlow graphs are alive."
    return f"{said} No container that accounts for it was found." if is_first else said
