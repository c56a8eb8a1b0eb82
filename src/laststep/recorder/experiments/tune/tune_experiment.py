"""The side run: find the changes, train in turns on the original and on each of them, record every turn."""

from __future__ import annotations

import inspect
import os
import time
from typing import Any

from laststep.recorder import state
from laststep.recorder.experiments.tune import other_inputs
from laststep.recorder.experiments.tune.cache import cache_of
from laststep.recorder.experiments.tune.calls import Call, is_dataset
from laststep.recorder.experiments.tune.changes import PipelineChange, SkippedChange, changes_of
from laststep.recorder.experiments.tune.shuffle_buffer import with_smaller_shuffles
from laststep.recorder.experiments.tune.turns import RepeatedFit, TurnResult
from laststep.recorder.frames import PlaceFields
from laststep.recorder.guard import attempt

NOW, BOUND = "now", "no wait for data"
SHORT_EPOCH_SECONDS = 2.0  # shorter epochs are measured as a whole, including the time between them
MIN_ROUNDS, MAX_ROUNDS = 4, 8
MAX_ROUNDS_WITHOUT_GAIN = 3  # then a change is no longer measured
BUSY_LOAD_PER_CORE = 1.5  # load per core
CACHE_TIME_SHARE = 0.2  # of the remaining time


class TuneExperiment:
    """One program, one fit, several pipelines."""

    def __init__(
        self, original: Any, model: Any, args: Any, kwargs: Any, where: PlaceFields | None, ends: float
    ) -> None:
        call = inspect.signature(original).bind(model, *args, **kwargs)
        call.apply_defaults()
        self.fit = RepeatedFit(original, model, dict(call.arguments))
        self.where, self.ends = where, ends
        self.arms: dict[str, PipelineChange] = {}
        self.turn_overhead = 1.0
        self.round = 0

    def run(self) -> None:
        data = other_inputs.as_shared(self.fit.arguments.get("x"))
        _record("side-run", state="began", where=self.where, data=other_inputs.kind_of(data), cores=os.cpu_count())
        notes: list[str] = []
        load_notes = _load_notes()
        if is_dataset(data):
            data, notes = with_smaller_shuffles(data)
        epoch = self._calibrate(data, bool(notes))
        notes += load_notes
        self._collect(data, epoch)
        _record(
            "side-run",
            state="trains",
            whole_epochs=self.fit.whole_epochs,
            notes=notes,
            batch=other_inputs.batch_of(data),
        )
        risky = [name for name, change in self.arms.items() if change.risky]
        usual = [name for name in self.arms if name not in risky]
        left = self.ends - time.time()
        self._rounds(usual, time.time() + left * (0.6 if risky else 1.0))
        if risky:
            self._rounds([NOW, *risky], self.ends)
        _record("side-run", state="ended")

    def _calibrate(self, data: Any, whole: bool) -> tuple[float, int] | None:
        """The first turn: TensorFlow traces the step, and the length of steps and epochs becomes known."""
        turn = self.fit.turn(data, 2.0, {}, max_seconds=6.0)
        self.fit.whole_epochs = turn.epoch is not None and (whole or turn.epoch[0] <= SHORT_EPOCH_SECONDS)
        if not turn.steps and turn.epoch is None:
            raise NothingTrained("fit ran no step that could be timed")
        return turn.epoch

    def _collect(self, data: Any, epoch: tuple[float, int] | None) -> None:
        self.arms[NOW] = PipelineChange(NOW, None, "", data)
        found: list[PipelineChange | SkippedChange | None] = []
        if is_dataset(data):
            found += changes_of(data)
            epochs, steps = int(self.fit.arguments.get("epochs") or 1), self.fit.arguments.get("steps_per_epoch")
            cached, problem = attempt(cache_of, data, (self.ends - time.time()) * CACHE_TIME_SHARE, epochs, steps)
            found.append(SkippedChange("keep the result in memory", None, problem) if problem else cached)
        else:
            found += other_inputs.changes_of(data)
        for change in found:
            if isinstance(change, SkippedChange):
                _record_skipped(change)
            elif change is not None:
                self._add(change)
        is_finite = epoch is not None and self.fit.whole_epochs and not self.fit.arguments.get("steps_per_epoch")
        length = epoch[1] * self.fit.steps_per_execution if epoch is not None and is_finite else None
        repeated_batch, problem = attempt(other_inputs.repeated_batch, self.fit, data, length, BOUND)
        if repeated_batch is not None:
            self._add(repeated_batch)
        else:
            _record_skipped(
                SkippedChange("one batch again and again", None, f"no first batch was available ({problem})")
            )

    def _add(self, change: PipelineChange) -> None:
        """One short turn first, in which failures and tracing happen."""
        name = change.says if change.says == BOUND else f"{len(self.arms)}"
        began = time.time()
        turn, problem = (
            attempt(self.fit.turn, change.data, 0.1, change.fit) if not change.risky else (TurnResult(1, 1), "")
        )
        if problem or turn is None or not turn.steps:
            _record_skipped(
                SkippedChange(change.says, change.call, f"training on it failed ({problem[:150] or 'no steps'})")
            )
            return
        self.turn_overhead = max(self.turn_overhead, min(time.time() - began, 5.0))
        self.arms[name] = change
        where = change.call.where if change.call is not None else change.where
        _record("change", arm=name, says=change.says, where=where, code=change.code, note=change.note)

    def _rounds(self, names: list[str], ends: float) -> None:
        """Rounds alternate in direction, so that a machine that slows down affects all arms."""
        left = ends - time.time()
        seconds = min(max(left / (7 * len(names)) - self.turn_overhead, 0.8), 2.5)
        gains: dict[str, list[float]] = {}
        for number in range(MAX_ROUNDS):
            began, seconds_per_step = time.time(), {}
            for name in names if number % 2 == 0 else reversed(names):
                seconds_per_step[name] = self._turn(name, seconds)
            self.round += 1
            for name in names:
                has_both = seconds_per_step[name] and seconds_per_step[NOW]
                gain = seconds_per_step[NOW] / seconds_per_step[name] if has_both else 0.0
                gains.setdefault(name, []).append(gain)
            took = time.time() - began
            names = [name for name in names if name in (NOW, BOUND) or _may_gain(gains[name])]
            if number + 1 >= MIN_ROUNDS and time.time() + took > ends:
                break

    def _turn(self, name: str, seconds: float) -> float:
        change = self.arms[name]
        turn, problem = attempt(self.fit.turn, change.data, seconds, change.fit)
        if turn is None or not turn.steps:
            _record("turn", arm=name, round=self.round, steps=0, seconds=0.0, because=problem)
            return 0.0
        _record("turn", arm=name, round=self.round, steps=turn.steps, seconds=turn.seconds)
        return turn.seconds / turn.steps


class NothingTrained(Exception):
    """There is nothing to compare."""


def _load_notes() -> list[str]:
    """Other work on the machine does not make a range wrong, only wider."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < BUSY_LOAD_PER_CORE * cores:
        return []
    return [
        f"the machine was busy with other work (load {load:.0f} on {cores} cores): an idle one gives narrower ranges"
    ]


def _may_gain(gains: list[float]) -> bool:
    return len(gains) <= MAX_ROUNDS_WITHOUT_GAIN or max(gains) > 1.03


def _record_skipped(change: SkippedChange) -> None:
    where = change.call.where if isinstance(change.call, Call) else None
    _record("change", arm=None, says=change.says, where=where, because=change.because)


def _record(kind: str, **data: Any) -> None:
    if state.current is not None:
        state.current.event(kind, **data)
