"""The recorder of this process: where events and steps are written, and which fits are running."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from typing import Any

from laststep.record.journal import JournalWriter
from laststep.record.steps import NAN, PHASES, StepWriter

LONG_STEP_SECONDS = 0.02  # seconds
PHASE = {name: number for number, name in enumerate(PHASES)}
# By kind, per process: further events are counted, not written.
MAX_EVENTS = {
    **{"warning": 200, "stop": 200, "signal-sent": 50, "exit-call": 50, "loop": 50},
    **{"trace": 200, "dataset": 20, "census": 400, "numbers": 4000, "batch": 400, "stale": 20, "applied": 20},
}

current: Recorder | None = None


class OpenFit:
    """A running fit, as far as other probes need it; it holds no object of the host."""

    def __init__(self) -> None:
        self.id = 0
        self.epoch = -1
        self.batch = -1


class Recorder:
    """Writes what the probes observe. One per process; a forked child records nothing."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.handover: tuple[str, str | None] | None = None
        # What a command requests beyond recording: profile=10:20, save=1, tune=1;seconds=60
        self.options: dict[str, str] = {}
        # Called with (number, seconds, now); usually empty.
        self.at_step_end: list[Callable[[int, float, float], None]] = []
        self.pid = os.getpid()
        self._tag = _free_tag(folder, self.pid)
        self.journal = JournalWriter(os.path.join(folder, f"recorder.{self._tag}.jsonl"), "recorder")
        self.steps: StepWriter | None = None
        self.count = 0  # steps so far
        self.fits = 0
        self.models: weakref.WeakSet[Any] = weakref.WeakSet()  # that were passed to fit
        self.graphs: weakref.WeakSet[Any] = weakref.WeakSet()  # that were traced
        self.open_fits: list[OpenFit] = []
        self.dropped: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self.last_end = 0.0  # when the last step ended, or the epoch began
        self._step_seconds = 0.0
        self.phase = 0
        self.marked_at = 0.0  # when the current phase began
        self.pulse = 0  # activity other than steps
        self.waited = 0.0  # seconds that Python waited for data
        self.waiting_since = 0.0  # start of the current wait, 0 if there is none
        self.graph_waiting_since = 0.0  # the same for a wait inside a compiled step
        self.pipeline_calls = 0  # how often TensorFlow called Python functions: those of the input pipeline
        # Called at each beat of the heartbeat thread, which starts with the first mark or step.
        self.at_beat: list[Callable[[], None]] = []
        self.at_first_mark: Callable[[], None] = _do_nothing
        self.saver: Any = None  # saves the model once, if requested
        self.scanned: Callable[[], dict[str, Any]] = dict  # non-finite values in the arrays passed to fit

    @property
    def is_side_run(self) -> bool:
        """We started the program again, with an experiment in place of its first fit."""
        return "tune" in self.options or "prove" in self.options

    def event(self, kind: str, **data: Any) -> None:
        self.event_at(None, kind, data)

    def event_at(self, time: float | None, kind: str, data: dict[str, Any]) -> None:
        """Write an event with a given time; None means now."""
        if os.getpid() != self.pid:
            return
        max_events = MAX_EVENTS.get(kind)
        if max_events is not None:
            written = self._written[kind] = self._written.get(kind, 0) + 1
            if written > max_events:
                self.dropped[kind] = self.dropped.get(kind, 0) + 1
                return
        self.journal.write(kind, data, time)

    def _open_steps(self) -> StepWriter | None:
        try:
            self.steps = StepWriter(os.path.join(self.folder, f"steps.{self._tag}"))
        except OSError as error:
            self.mark = self._open_steps = _do_nothing  # type: ignore[method-assign]
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
        """The function that writes a step; it does nothing if there is no steps file."""
        steps = self.steps or self._open_steps()
        return steps.write if steps is not None else _do_nothing

    def close_fit(self, fit: OpenFit) -> None:
        """The fit is over: it returned or raised an exception."""
        if fit in self.open_fits:
            self.open_fits.remove(fit)
        self.mark(PHASE["between"], time.time())

    def hand_step(self, loss: float = NAN) -> None:
        """A step of a loop that is not Keras's is complete."""
        steps = self.steps or self._open_steps()
        if steps is None:
            return
        now = time.time()
        self.count = number = self.count + 1
        self._step_seconds = now - self.last_end if self.last_end else NAN
        steps.write(number, now, self._step_seconds, loss)
        self.last_end = now
        for listener in self.at_step_end:
            listener(number, self._step_seconds, now)

    def loss_is_cheap(self) -> bool:
        """Reading a tensor took 20 µs in a real loop: read every loss if steps are long, otherwise every eighth."""
        return self._step_seconds > LONG_STEP_SECONDS or self.count & 7 == 0


def _free_tag(folder: str, pid: int) -> str:
    """The pid; after an exec in the same process 77-2, so that the first program's record is kept."""
    tag, number = str(pid), 1
    while os.path.exists(os.path.join(folder, f"recorder.{tag}.jsonl")):
        number += 1
        tag = f"{pid}-{number}"
    return tag


def _do_nothing(*args: Any, **kwargs: Any) -> None:
    return None
