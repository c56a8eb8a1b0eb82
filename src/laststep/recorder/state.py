"""The recorder of this process: where events and steps go, and which fit is going on."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from typing import Any

from laststep.record.journal import JournalWriter
from laststep.record.steps import NAN, PHASES, StepWriter

LONG_STEP = 0.02  # seconds
PHASE = {name: number for number, name in enumerate(PHASES)}
# Per kind, in one process: what comes after is counted, not written.
MOST_EVENTS = {
    **{"warning": 200, "stop": 200, "signal-sent": 50, "exit-call": 50, "loop": 50},
    **{"trace": 200, "dataset": 20, "census": 400, "numbers": 4000, "batch": 400, "stale": 20, "applied": 20},
}

current: Recorder | None = None


class OpenFit:
    """A fit that is going on, as far as others need to know it; it holds nothing of the host."""

    def __init__(self) -> None:
        self.id = 0
        self.epoch = -1
        self.batch = -1


class Recorder:
    """Writes what the probes see. One per process; a forked child stands aside."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.handover: tuple[str, str | None] | None = None
        # What a command asks of the recorder beyond recording: profile=10:20, save=1, tune=1;seconds=60
        self.asked: dict[str, str] = {}
        self.at_step_end: list[Callable[[int, float, float], None]] = []  # told (number, seconds, now); empty as a rule
        self.pid = os.getpid()
        self._tag = _free_tag(folder, self.pid)
        self.journal = JournalWriter(os.path.join(folder, f"recorder.{self._tag}.jsonl"), "recorder")
        self.steps: StepWriter | None = None
        self.count = 0
        self.fits = 0
        self.models: weakref.WeakSet[Any] = weakref.WeakSet()  # that were fitted
        self.graphs: weakref.WeakSet[Any] = weakref.WeakSet()  # that were traced
        self.open_fits: list[OpenFit] = []
        self.dropped: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self.last_end = 0.0  # when the last step was complete, or the epoch began
        self._pace = 0.0
        self.phase = 0
        self.marked_at = 0.0  # when the phase that goes on began
        self.pulse = 0  # signs of life that are no steps
        self.waited = 0.0  # seconds that Python waited for data
        self.waiting_since = 0.0  # and since when it waits now
        self.graph_waiting_since = 0.0  # the same of a wait inside a compiled step
        # What to do with each beat of the heartbeat thread, which starts with the first mark or step.
        self.at_beat: list[Callable[[], None]] = []
        self.at_first_mark: Callable[[], None] = _nothing
        self.saver: Any = None  # then what saves, once
        self.scanned: Callable[[], dict[str, Any]] = dict  # what is not finite in the arrays that fit was given

    @property
    def is_side_run(self) -> bool:
        """The program was started again by us, for an experiment in the place of its first fit."""
        return "tune" in self.asked or "prove" in self.asked

    def event(self, kind: str, **data: Any) -> None:
        self.event_at(None, kind, data)

    def event_at(self, time: float | None, kind: str, data: dict[str, Any]) -> None:
        """One of a while ago; None: of now."""
        if os.getpid() != self.pid:
            return
        most = MOST_EVENTS.get(kind)
        if most is not None:
            written = self._written[kind] = self._written.get(kind, 0) + 1
            if written > most:
                self.dropped[kind] = self.dropped.get(kind, 0) + 1
                return
        self.journal.write(kind, data, time)

    def _open_steps(self) -> StepWriter | None:
        try:
            self.steps = StepWriter(os.path.join(self.folder, f"steps.{self._tag}"))
        except OSError as error:
            self.mark = self._open_steps = _nothing  # type: ignore[method-assign]
            self.event("recording-stopped", what="steps", because=str(error))
        self.at_first_mark()
        return self.steps

    def mark(self, phase: int, at: float) -> None:
        self.phase, self.marked_at = phase, at
        steps = self.steps or self._open_steps()
        if steps is not None:
            steps.mark(phase, self.count, at)

    @property
    def write_step(self) -> Any:
        """What writes a step: the steps file, or nothing where there is none."""
        steps = self.steps or self._open_steps()
        return steps.write if steps is not None else _nothing

    def close_fit(self, fit: OpenFit) -> None:
        """fit is over, by its own end or by an exception."""
        if fit in self.open_fits:
            self.open_fits.remove(fit)
        self.mark(PHASE["between"], time.time())

    def hand_step(self, loss: float = NAN) -> None:
        """One step of a loop that is not Keras's is complete."""
        steps = self.steps or self._open_steps()
        if steps is None:
            return
        now = time.time()
        self.count = number = self.count + 1
        self._pace = now - self.last_end if self.last_end else NAN
        steps.write(number, now, self._pace, loss)
        self.last_end = now
        for tell in self.at_step_end:
            tell(number, self._pace, now)

    def loss_is_cheap(self) -> bool:
        """Reading a tensor took 20 µs in a real loop: each step's where steps are long, every eighth's otherwise."""
        return self._pace > LONG_STEP or self.count & 7 == 0


def _free_tag(folder: str, pid: int) -> str:
    """The pid; after an exec in the same process, 77-2: the first program's record stays."""
    tag, number = str(pid), 1
    while os.path.exists(os.path.join(folder, f"recorder.{tag}.jsonl")):
        number += 1
        tag = f"{pid}-{number}"
    return tag


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None
