"""Run: everything recorded about one launch, read-only."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from laststep.record import folder as folders
from laststep.record.claim import claimant
from laststep.record.console import read_console
from laststep.record.event import Event
from laststep.record.events.experiments import ProveResult
from laststep.record.events.logs import Log
from laststep.record.events.process import ExitCall, Exiting, Raised
from laststep.record.events.supervisor import Launch, ProcessEnd
from laststep.record.events.training import Epoch, FitEnd, FitStart
from laststep.record.follow import modified
from laststep.record.journal import read_journal, read_recorders
from laststep.record.reading import Allowance
from laststep.record.sample import Sample
from laststep.record.samples import read_samples
from laststep.record.steps import Now, Step, StepRecord, read_steps

MAX_STEP_FILES = 16  # the newest are read
STEPS_NAME = re.compile(r"steps\.\d+(-\d+)?")
FATAL = frozenset({"SIGSEGV", "SIGABRT", "SIGILL", "SIGBUS", "SIGFPE", "SIGSYS", "SIGTRAP"})


class DamagedRun(Exception):
    """Its message is printed as one line."""


@dataclass(frozen=True)
class Fit:
    """One fit: what was requested and how far it came."""

    began: FitStart
    ended: FitEnd | None
    epochs: tuple[Epoch, ...]

    @property
    def id(self) -> int:
        return self.began.id

    @property
    def asked(self) -> int | None:
        return self.began.epochs

    @property
    def reached(self) -> int:
        """How many epochs are complete, counted from the first of all."""
        if not self.epochs:
            return self.began.initial_epoch
        last, asked = self.epochs[-1], self.began.steps
        stopped = self.ended is not None and self.ended.stop
        cut_short = stopped and asked is not None and (last.batches or 0) < asked
        return last.epoch + (0 if cut_short else 1)

    @property
    def complete(self) -> bool:
        return self.ended is not None and (self.asked is None or self.reached >= self.asked)


E = TypeVar("E", bound=Event)
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """The value that everything after the record reads: the same for a live run and for one that has ended."""

    id: str
    events: tuple[Event, ...] = ()
    steps: Sequence[Step] = ()
    samples: Sequence[Sample] = ()
    console: str = ""
    now: Now | None = None
    alive: bool = False
    previous: str | None = None
    prove_results: tuple[ProveResult, ...] = ()  # what `laststep prove` found later, the newest last
    folder: Path | None = field(default=None, compare=False)
    too_large: tuple[str, ...] = ()  # what was not read to its end
    views: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # see `view`

    @classmethod
    def load(cls, folder: Path) -> Run:
        """Read a run folder. Nothing in it is executed, and what is incomplete or not a record is skipped."""
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
            previous=next((event.previous for event in events if isinstance(event, Launch) and event.previous), None),
            prove_results=_read_prove_results(folder, allowance),
            folder=folder,
            too_large=tuple(allowance.notes),
        )

    @property
    def is_log(self) -> bool:
        """Read from a console log: there is no recording."""
        return self.has(Log)

    @property
    def is_kept_console(self) -> bool:
        """A log, but of a run that laststep launched: there is a record beside it."""
        log = self.first(Log)
        return log is not None and log.is_kept

    @functools.cached_property
    def _by_kind(self) -> dict[type[Event], list[Event]]:
        """Called hundreds of times by the rules, on records with a hundred thousand events."""
        found: dict[type[Event], list[Event]] = {}
        for event in self.events:
            found.setdefault(type(event), []).append(event)
        return found

    def _events_of(self, kind: type[E]) -> list[E]:
        return cast("list[E]", self._by_kind.get(kind, []))

    def all(self, kind: type[E]) -> list[E]:
        return list(self._events_of(kind))

    def first(self, kind: type[E]) -> E | None:
        return next(iter(self._events_of(kind)), None)

    def last(self, kind: type[E]) -> E | None:
        return next(reversed(self._events_of(kind)), None)

    def has(self, kind: type[Event]) -> bool:
        return kind in self._by_kind

    @property
    def command(self) -> list[str]:
        launch = self.first(Launch)
        return list(launch.command) if launch else []

    @property
    def cwd(self) -> str:
        """The folder in which the program was started; "" where that is not known."""
        launch = self.first(Launch)
        return launch.cwd or "" if launch else ""

    @property
    def began(self) -> float:
        return self.events[0].time if self.events else 0.0

    @property
    def seconds(self) -> float:
        if self.is_log:
            return 0.0
        end = self.last(ProcessEnd)
        if end is not None and end.seconds is not None and 0 <= end.seconds < math.inf:
            return end.seconds
        last: float = max([event.time for event in self.events[-1:]] + [sample.time for sample in self.samples[-1:]])
        return max(0.0, last - self.began)

    @property
    def exit_code(self) -> int | None:
        end = self.last(ProcessEnd)
        return end.code if end else None

    @property
    def signal(self) -> str | None:
        end = self.last(ProcessEnd)
        return end.signal if end else None

    @property
    def vanished(self) -> bool:
        """Dead, with no record of why: no exit status, no normal end, no exception that would explain it."""
        return not self.is_log and self._disappeared and self.uncaught is None

    @property
    def _disappeared(self) -> bool:
        """No exit status known, and no normal end."""
        end = self.last(ProcessEnd)
        unknown = not self.alive if end is None else end.beside and end.signal is None
        left = any(call.how == "os._exit" for call in self.all(ExitCall))
        return unknown and not left and not self.has(Exiting)

    @functools.cached_property
    def fits(self) -> list[Fit]:
        """In one pass: an epoch and an end belong to the last fit of their process that has their number."""
        open_fits: dict[tuple[str, int | None], _OpenFit] = {}
        found = []
        for event in self.events:
            if isinstance(event, FitStart):
                open_fits[event.source, event.id] = begun = _OpenFit(event)
                found.append(begun)
            elif isinstance(event, Epoch) and (fit := open_fits.get((event.source, event.fit))):
                fit.epochs.append(event)
            elif isinstance(event, FitEnd) and (fit := open_fits.get((event.source, event.id))):
                fit.ended = fit.ended or event
        return [Fit(fit.began, fit.ended, tuple(fit.epochs)) for fit in found]

    @functools.cached_property
    def fit(self) -> Fit | None:
        """The fit that matters: the last that is not complete and was not repaired, otherwise the last."""
        unfinished = [fit for fit in self.fits if not fit.complete and not self._was_repaired(fit)]
        return unfinished[-1] if unfinished else (self.fits[-1] if self.fits else None)

    def _was_repaired(self, fit: Fit) -> bool:
        """An exception left it, and a later fit came to its end."""
        return (fit.began.source, fit.id) in self._failed_fits and self.last_trained > fit.began.time

    @functools.cached_property
    def _failed_fits(self) -> set[tuple[str, int | None]]:
        return {(error.source, error.fit) for error in self._events_of(Raised) if error.left == "fit"}

    @functools.cached_property
    def last_trained(self) -> float:
        """When the last fit began that came to its end, or that may still."""
        return max((fit.began.time for fit in self.fits if fit.ended is not None or self.alive), default=-math.inf)

    @functools.cached_property
    def uncaught(self) -> Raised | None:
        """The exception that ended the program, or a notebook's cell; None where the kernel survived the last one."""
        for event in reversed(self.events):
            error = _ending(event)
            if error is not None:
                return None if self.survived(error) else self._of_cell(error) or error
        return None

    def survived(self, error: Raised) -> bool:
        """A notebook's kernel survived it, and then it trained again, or ended in another way: it is history."""
        cell = self._of_cell(error)
        if cell is None:
            return False
        trained = max([self.last_trained, *(step.time for step in self.steps[-1:])])
        return self.signal is not None or self._disappeared or trained > cell.time

    def _of_cell(self, error: Raised) -> Raised | None:
        """The same exception as it left a notebook's cell; of several, the last."""
        return self._cell_errors.get((error.type, error.message))

    @functools.cached_property
    def _cell_errors(self) -> dict[tuple[str, str], Raised]:
        return {(error.type, error.message): error for error in self._events_of(Raised) if error.left == "cell"}

    @property
    def training_seen(self) -> bool:
        return bool(self.steps) or bool(self.fits)


class view(Generic[T]):
    """A view of a run: computed on first use, then kept with the run."""

    def __init__(self, make: Callable[[Run], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __call__(self, run: Run) -> T:
        if self not in run.views:
            run.views[self] = self._make(run)
        made: T = run.views[self]
        return made

    def keep(self, run: Run, made: T) -> None:
        """Keep a view that was computed before."""
        run.views[self] = made


def _ending(event: Event) -> Raised | None:
    """What ended a cell or the program; IPython keeps the error of a cell as if it had ended the program."""
    if isinstance(event, Raised) and event.left in ("program", "cell"):
        return event
    if isinstance(event, Exiting) and event.uncaught is not None:
        return replace(event.uncaught, left="program", time=event.time, source=event.source)
    return None


@dataclass
class _OpenFit:
    """A fit while its events are being collected."""

    began: FitStart
    ended: FitEnd | None = None
    epochs: list[Epoch] = field(default_factory=list)


def _last_record(folder: Path) -> StepRecord:
    """The steps of the process that trained last, where a run had several."""
    files = [path for path in folder.glob("steps.*") if STEPS_NAME.fullmatch(path.name) and not path.is_symlink()]
    best = StepRecord([])
    for path in sorted(files, key=modified)[-MAX_STEP_FILES:]:
        record = read_steps(path)
        if record.steps or not best.steps:
            best = record
    return best


def _read_prove_results(folder: Path, allowance: Allowance) -> tuple[ProveResult, ...]:
    found = read_journal(folder / folders.PROVE_RESULTS, allowance)
    return tuple(event for event in found if isinstance(event, ProveResult))


def _is_alive(folder: Path, events: Sequence[Event]) -> bool:
    """A live process records into the folder: the supervisor, or the training alone if the supervisor is dead."""
    if any(isinstance(event, ProcessEnd) for event in events):
        return False
    launch = next((event for event in events if isinstance(event, Launch)), None)
    here = launch is None or launch.host == os.uname().nodename
    exiting = any(isinstance(event, Exiting) for event in events)
    return folders.is_held(folder) or (here and not exiting and claimant(str(folder)) != 0)
