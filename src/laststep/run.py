"""Run: everything recorded about one launch, read-only."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from laststep.blackbox import folder as folders
from laststep.blackbox.claim import claimant
from laststep.blackbox.console import read_console
from laststep.blackbox.follow import modified
from laststep.blackbox.journal import read_journal, read_recorders
from laststep.blackbox.reading import Allowance
from laststep.blackbox.samples import read_samples
from laststep.blackbox.steps import Now, Record, Step, read_steps
from laststep.event import Event
from laststep.logs.read import Story, story_of
from laststep.torn import count, is_number, number

MOST_STEP_FILES = 16  # the newest are read
STEPS_NAME = re.compile(r"steps\.\d+(-\d+)?")
FATAL = frozenset({"SIGSEGV", "SIGABRT", "SIGILL", "SIGBUS", "SIGFPE", "SIGSYS", "SIGTRAP"})


class DamagedRun(Exception):
    """Said to the user in one line."""


@dataclass(frozen=True)
class Fit:
    """One fit: what was asked of it and how far it came."""

    began: Event
    ended: Event | None
    epochs: tuple[Event, ...]
    first_epoch: int = 0

    @property
    def id(self) -> int:
        return count(self.began.get("id"))

    @property
    def asked(self) -> int | None:
        asked = self.began.get("epochs")
        return count(asked) if is_number(asked) else None

    @property
    def reached(self) -> int:
        """How many epochs are complete, counted from the first of all."""
        if not self.epochs:
            return self.first_epoch
        last = self.epochs[-1]
        asked = self.began.get("steps")
        stopped = self.ended is not None and bool(self.ended.get("stop"))
        cut_short = stopped and isinstance(asked, int) and count(last.get("batches")) < asked
        return count(last.get("epoch", -1)) + (0 if cut_short else 1)

    @property
    def complete(self) -> bool:
        return self.ended is not None and (self.asked is None or self.reached >= self.asked)


@dataclass(frozen=True)
class Run:
    """The one value in the middle: the same while the run lives and after it is dead."""

    id: str
    events: tuple[Event, ...] = ()
    steps: Sequence[Step] = ()
    samples: Sequence[dict[str, Any]] = ()
    console: str = ""
    now: Now | None = None
    alive: bool = False
    previous: str | None = None
    proofs: tuple[Event, ...] = ()  # what experiments told later, the last one last
    folder: Path | None = field(default=None, compare=False)
    too_large: tuple[str, ...] = ()  # what was not read to its end

    @classmethod
    def load(cls, folder: Path) -> Run:
        """Read a run folder. Nothing in it is executed, and what is torn or foreign is skipped."""
        allowance = Allowance()
        supervisor = read_journal(folder / folders.SUPERVISOR_JOURNAL, allowance)
        found = [*supervisor, *read_recorders(folder, allowance)]
        events = sorted(found, key=lambda event: event.time)
        if not events:
            raise DamagedRun(f"{folder} holds no readable record")
        record = _last_record(folder)
        return cls(
            id=folder.resolve().name,
            events=tuple(events),
            steps=record.steps,
            samples=read_samples(folder / folders.SAMPLES, allowance),
            console=read_console(folder / folders.CONSOLE).decode("utf-8", "replace"),
            now=record.now,
            alive=_is_alive(folder, events),
            previous=next((str(e.get("previous")) for e in events if e.kind == "run" and e.get("previous")), None),
            proofs=tuple(event for event in read_journal(folder / folders.PROOFS, allowance) if event.kind == "proof"),
            folder=folder,
            too_large=tuple(allowance.notes),
        )

    @classmethod
    def of_log(cls, story: Story, name: str) -> Run:
        """A run of which nothing is there but what it printed."""
        told = {"file": name, "lines": story.reading.lines, "bytes": story.reading.bytes, "runs": story.runs}
        told |= {"rubbish": story.reading.rubbish} | ({"reversed": True} if story.reading.is_reversed else {})
        log = Event(0.0, "log", told, "log")
        run = cls(id=name, events=(log, *story.events), too_large=story.too_large)
        run.__dict__["story"] = story
        return run

    @functools.cached_property
    def story(self) -> Story:
        """What was printed, read as a bare log would be."""
        return story_of(self.console)

    @property
    def is_log(self) -> bool:
        return self.has("log")

    @functools.cached_property
    def _by_kind(self) -> dict[str, list[Event]]:
        """Asked hundreds of times by the rules, of records with a hundred thousand events."""
        found: dict[str, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.kind, []).append(event)
        return found

    def all(self, kind: str) -> list[Event]:
        return list(self._by_kind.get(kind, ()))

    def first(self, kind: str) -> Event | None:
        return next(iter(self._by_kind.get(kind, ())), None)

    def last(self, kind: str) -> Event | None:
        return next(reversed(self._by_kind.get(kind, ())), None)

    def has(self, kind: str) -> bool:
        return kind in self._by_kind

    def series(self, kind: str, name: str) -> list[tuple[float, Any]]:
        return [(event.time, event.get(name)) for event in self.all(kind) if event.get(name) is not None]

    @property
    def command(self) -> list[str]:
        began = self.first("run")
        return [str(word) for word in began.get("command", [])] if began else []

    @property
    def cwd(self) -> str:
        """The folder in which the program was started; "" where that is not known."""
        began = self.first("run")
        return str(began.get("cwd") or "") if began else ""

    @property
    def began(self) -> float:
        return self.events[0].time if self.events else 0.0

    @property
    def seconds(self) -> float:
        if self.is_log:
            return 0.0
        end = self.last("end")
        seconds = number(end.get("seconds")) if end is not None else math.nan
        if 0 <= seconds < math.inf:
            return seconds
        last: float = max([event.time for event in self.events[-1:]] + [sample["t"] for sample in self.samples[-1:]])
        return max(0.0, last - self.began)

    @property
    def exit_code(self) -> int | None:
        end = self.last("end")
        return end.get("code") if end else None

    @property
    def signal(self) -> str | None:
        end = self.last("end")
        return end.get("signal") if end else None

    @property
    def vanished(self) -> bool:
        """Dead without a word: no exit status known, no normal end, no exception that would explain it."""
        if self.is_log:
            return False
        end = self.last("end")
        unknown = not self.alive if end is None else bool(end.get("beside")) and end.get("signal") is None
        left = any(call.get("how") == "os._exit" for call in self.all("exit-call"))
        return unknown and not left and not self.has("exiting") and self.uncaught is None

    @functools.cached_property
    def fits(self) -> list[Fit]:
        """In one pass: an epoch and an end belong to the last fit of their process that has their number."""
        open_fits: dict[Any, _OpenFit] = {}
        found = []
        for event in self.events:
            if event.kind == "fit":
                open_fits[_fit_key(event, "id")] = begun = _OpenFit(event)
                found.append(begun)
            elif event.kind == "epoch" and (fit := open_fits.get(_fit_key(event, "fit"))):
                fit.epochs.append(event)
            elif event.kind == "fit-end" and (fit := open_fits.get(_fit_key(event, "id"))):
                fit.ended = fit.ended or event
        return [Fit(fit.began, fit.ended, tuple(fit.epochs), count(fit.began.get("initial_epoch"))) for fit in found]

    @functools.cached_property
    def fit(self) -> Fit | None:
        """The fit that matters: the first that is not complete, otherwise the last."""
        unfinished = [fit for fit in self.fits if not fit.complete]
        return unfinished[-1] if unfinished else (self.fits[-1] if self.fits else None)

    @functools.cached_property
    def last_trained(self) -> float:
        """When the last fit began that came to its end, or that may still."""
        return max((fit.began.time for fit in self.fits if fit.ended is not None or self.alive), default=-math.inf)

    @functools.cached_property
    def uncaught(self) -> Event | None:
        """The exception that ended the program, or a notebook's cell."""
        for event in reversed(self.events):
            if event.kind == "exception" and event.get("left") in ("program", "cell"):
                return event
            if event.kind == "exiting" and isinstance(event.get("uncaught"), dict):
                return Event(event.time, "exception", {"left": "program"} | event.get("uncaught"), event.source)
        return None

    @property
    def training_seen(self) -> bool:
        return bool(self.steps) or bool(self.fits)


@dataclass
class _OpenFit:
    """A fit while its events are being collected."""

    began: Event
    ended: Event | None = None
    epochs: list[Event] = field(default_factory=list)


def _fit_key(event: Event, name: str) -> tuple[str, Any]:
    number = event.get(name)
    return event.source, number if isinstance(number, (int, float, str)) else repr(number)


def _last_record(folder: Path) -> Record:
    """The steps of the process that trained last, where a run had several."""
    files = [path for path in folder.glob("steps.*") if STEPS_NAME.fullmatch(path.name) and not path.is_symlink()]
    best = Record([])
    for path in sorted(files, key=modified)[-MOST_STEP_FILES:]:
        record = read_steps(path)
        if record.steps or not best.steps:
            best = record
    return best


def _is_alive(folder: Path, events: Sequence[Event]) -> bool:
    """Somebody records into the folder: the supervisor, or the training alone when the supervisor is dead."""
    kinds = {event.kind for event in events}
    if "end" in kinds:
        return False
    began = next((event for event in events if event.kind == "run"), None)
    here = began is None or began.get("host") == os.uname().nodename
    return folders.is_held(folder) or (here and "exiting" not in kinds and claimant(str(folder)) != 0)
