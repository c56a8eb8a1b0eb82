"""While it runs: does memory grow for good, what keeps it, when does it run out; said, and again at half the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from laststep import text as words
from laststep.analysis.forecast import Forecast, Point, Room, memory_points, room, trend
from laststep.analysis.leaks import Leak, find_leak, is_graphs
from laststep.record.events.training import Epoch
from laststep.record.follow import Follower
from laststep.record.journal import JournalWriter, read_recorders
from laststep.record.sample import Sample, decode_sample
from laststep.record.steps import CENSUS, SAVE
from laststep.supervisor import host

MOST_SAMPLES = 2000
EVERY, EVERY_PART = 2.0, 0.05  # seconds, or this part of what has been watched
IN_A_ROW = 3
LOOK_EVERY = 3.0  # seconds between two readings of what was recorded inside
EPOCHS_EVERY = 10.0
PATIENCE = 15.0  # seconds
SAVE_SECONDS = 60.0
SAVE_FULL = 0.92  # of the limit
UNSETTLED = 0.25  # of the way
MANY_MORE = 40  # files, threads or processes
HANDLES = {"files": host.files_by_kind, "threads": host.threads_by_name, "processes": host.processes_by_name}
NEEDED = ("t", "rss", "group", "host", "inside", *HANDLES)  # of a sample; so many are kept


class Foresee:
    """Looks at each sample; dear questions are asked on suspicion only."""

    def __init__(
        self, folder: Path, pid: int, journal: JournalWriter, say: Callable[[str], None] | None, may_save: bool
    ) -> None:
        self._folder = folder
        self._pid = pid
        self._journal = journal
        self._say = say
        self._may_save = may_save
        self._inside = Follower(folder)
        self._samples: list[Sample] = []
        self._rising = 0
        self._next = self._next_look = 0.0
        self._ends: list[float] = []
        self._next_epochs = 0.0
        self._asked = 0
        self._patient_until = 0.0  # for what two looks inside say about the owner
        self._said: float | None = None  # the seconds left when it was last said
        self._handles: dict[str, list[Point]] = {name: [] for name in HANDLES}
        self._next_handles = 0

    def see(self, fields: Mapping[str, Any]) -> None:
        sample = decode_sample({name: fields[name] for name in NEEDED if name in fields})
        if not sample.step:
            return
        self._keep(sample)
        self._save_if_full(sample)
        now = sample.time
        if now >= self._next:
            self._next = now + max(EVERY, EVERY_PART * (now - self._samples[0].time))
            self._evaluate(now)
        if sample.files is not None or sample.threads is not None:  # counted now and then, processes in each
            self._see_handles(sample)

    def _keep(self, sample: Sample) -> None:
        self._samples.append(sample)
        if len(self._samples) > MOST_SAMPLES:
            del self._samples[: MOST_SAMPLES // 2 : 2]

    def _evaluate(self, now: float) -> None:
        points = memory_points(self._samples, 0.0)
        found = trend(points)
        if found is None or not found.is_steady:
            found = trend(points, self._epochs(now))
        self._rising = self._rising + 1 if found is not None and found.is_steady else 0
        if self._rising >= IN_A_ROW - 1 and _is_worth_asking(points):
            self._ask(CENSUS)
            self._patient_until = self._patient_until or now + PATIENCE
        if self._rising >= IN_A_ROW and now >= self._next_look and self._asked & CENSUS:
            self._next_look = now + LOOK_EVERY
            leak = find_leak(self._samples, read_recorders(self._folder))
            looked = leak is not None and (len(leak.censuses) > 1 or now > self._patient_until)
            if leak is not None and leak.forecast and leak.room and looked and _may_be_said(leak):
                self._tell(leak, leak.forecast, leak.room)

    def _epochs(self, now: float) -> list[float]:
        """What grows by epochs must be compared by epochs; their ends are read now and then."""
        if now >= self._next_epochs:
            self._next_epochs = now + EPOCHS_EVERY
            self._ends = [event.time for event in read_recorders(self._folder) if isinstance(event, Epoch)]
        return self._ends

    def _ask(self, what: int) -> None:
        if not self._asked & what and self._inside.ask(what):
            self._asked |= what

    def _tell(self, leak: Leak, forecast: Forecast, space: Room) -> None:
        if self._may_save and forecast.seconds < max(SAVE_SECONDS, _two_epochs(leak)):
            self._ask(SAVE)
        if self._said is not None and forecast.seconds > self._said / 2:
            return
        owner = leak.owner
        self._journal.write(
            "forecast",
            {
                "seconds": round(forecast.seconds, 1),
                "soonest": round(forecast.soonest, 1),
                "latest": round(forecast.latest, 1),
                "step": forecast.step,
                "way": round(forecast.way, 3),
                "per_step": round(leak.trend.per_step),
                "limit": space.limit,
                "whose": space.whose,
                "keeps": owner.name if owner else None,
                "where": asdict(owner.where) if owner and owner.where else None,
            },
        )
        # Once when it is sound, once at half of what was left then; after that only the page at the end speaks.
        again, self._said = self._said is not None, forecast.seconds if self._said is None else 0.0
        if self._say is not None:
            self._say(sentence(leak, forecast, space, again))

    def _save_if_full(self, sample: Sample) -> None:
        space = room(sample) if self._may_save and not self._asked & SAVE else None
        if space is not None and space.limit - space.left > SAVE_FULL * space.limit:
            self._ask(SAVE)

    def _see_handles(self, sample: Sample) -> None:
        counts = {"files": sample.files, "threads": sample.threads, "processes": sample.processes}
        for name, count in counts.items():
            if count is not None:
                self._see_count(name, Point(sample.time, float(count)))

    def _see_count(self, name: str, point: Point) -> None:
        points = self._handles[name]
        points.append(point)
        del points[: -MOST_SAMPLES // 4 - 1 : 2]
        more = point.value - points[0].value
        if more >= MANY_MORE and more >= self._next_handles:
            self._next_handles = 2 * int(more)
            self._ask(CENSUS)
            held = HANDLES[name](self._pid)
            self._journal.write("census", {"handles": name, "count": int(point.value), "what": held})


def _may_be_said(leak: Leak) -> bool:
    """Before an epoch has ended, a list that grows may be the data being read: wait until a good part is gone."""
    assert leak.forecast is not None
    return leak.is_sound and (leak.epochs > 0 or leak.forecast.way > UNSETTLED)


def _is_worth_asking(points: list[Point]) -> bool:
    """A census costs the program a few tenths of a second: not for a few megabytes."""
    return points[-1].value - min(point.value for point in points) > 32e6


def _two_epochs(leak: Leak) -> float:
    return 2 * leak.trend.seconds / leak.epochs if leak.epochs else 0.0


def sentence(leak: Leak, forecast: Forecast, space: Room, again: bool) -> str:
    """For stderr, in the middle of the program's own output: one line that says what, when and who."""
    more = f"{words.size(leak.trend.per_step)} more per step; " if leak.trend.pace else ""
    at = f", at step ≈ {forecast.step:,}" if forecast.step else ""
    told = f"laststep: memory runs out in about {words.span(forecast.seconds)}{at}"
    told += f" ({more}limit {words.size(space.limit)} of {space.whose})."
    if leak.owner is not None:
        where = f", {Path(leak.owner.where.file).name}:{leak.owner.where.line}" if leak.owner.where else ""
        told += f" What keeps it: {leak.owner.name}{where}."
    elif is_graphs(leak):
        told += f" TensorFlow's graphs grow with it: {leak.more_graphs} more."
    elif not again:
        told += " What keeps it is not known."
    return f"\n{told}\n"
