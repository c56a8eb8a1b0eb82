"""The side run itself: find the changes, train in turns on the original and on each of them, write down every turn."""

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
from laststep.recorder.experiments.tune.shuffle_buffer import scaled
from laststep.recorder.experiments.tune.turns import RepeatedFit, TurnResult
from laststep.recorder.frames import Place
from laststep.recorder.guard import attempt

NOW, BOUND = "now", "no wait for data"
SHORT_EPOCH = 2.0  # seconds: such epochs are measured whole, with the time between them
FEWEST_ROUNDS, MOST_ROUNDS = 4, 8
LOSES_AFTER = 3  # rounds without any gain, after which a change is not trained on any more
BUSY = 1.5  # load per core
SHARE_FOR_CACHE = 0.2  # of the time left


class TuneExperiment:
    """One program, one fit, several pipelines."""

    def __init__(self, original: Any, model: Any, args: Any, kwargs: Any, where: Place | None, ends: float) -> None:
        asked = inspect.signature(original).bind(model, *args, **kwargs)
        asked.apply_defaults()
        self.fit = RepeatedFit(original, model, dict(asked.arguments))
        self.where, self.ends = where, ends
        self.arms: dict[str, PipelineChange] = {}
        self.cost = 1.0
        self.round = 0

    def run(self) -> None:
        data = other_inputs.shareable(self.fit.asked.get("x"))
        _tell("side-run", state="began", where=self.where, data=other_inputs.kind_of(data), cores=os.cpu_count())
        notes: list[str] = []
        busy = _busy()
        if is_dataset(data):
            data, notes = scaled(data)
        epoch = self._calibrate(data, bool(notes))
        notes += busy
        self._collect(data, epoch)
        _tell(
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
        _tell("side-run", state="ended")

    def _calibrate(self, data: Any, whole: bool) -> tuple[float, int] | None:
        """The first turn: TensorFlow traces the step, and we see how long steps and epochs are."""
        turn = self.fit.turn(data, 2.0, {}, longest=6.0)
        self.fit.whole_epochs = turn.epoch is not None and (whole or turn.epoch[0] <= SHORT_EPOCH)
        if not turn.steps and turn.epoch is None:
            raise NothingTrained("fit went through no step that could be timed")
        return turn.epoch

    def _collect(self, data: Any, epoch: tuple[float, int] | None) -> None:
        self.arms[NOW] = PipelineChange(NOW, None, "", data)
        found: list[PipelineChange | SkippedChange | None] = []
        if is_dataset(data):
            found += changes_of(data)
            epochs, steps = int(self.fit.asked.get("epochs") or 1), self.fit.asked.get("steps_per_epoch")
            cached, trouble = attempt(cache_of, data, (self.ends - time.time()) * SHARE_FOR_CACHE, epochs, steps)
            found.append(SkippedChange("keep the result in memory", None, trouble) if trouble else cached)
        else:
            found += other_inputs.changes_of(data)
        for change in found:
            if isinstance(change, SkippedChange):
                _not_tried(change)
            elif change is not None:
                self._add(change)
        ends = epoch is not None and self.fit.whole_epochs and not self.fit.asked.get("steps_per_epoch")
        length = epoch[1] * self.fit.steps_at_once if epoch is not None and ends else None
        bound, trouble = attempt(other_inputs.bound, self.fit, data, length, BOUND)
        if bound is not None:
            self._add(bound)
        else:
            _not_tried(SkippedChange("one batch again and again", None, f"no first batch could be had ({trouble})"))

    def _add(self, change: PipelineChange) -> None:
        """One short turn first: what fails or needs to be traced does so here."""
        name = change.says if change.says == BOUND else f"{len(self.arms)}"
        began = time.time()
        turn, trouble = (
            attempt(self.fit.turn, change.data, 0.1, change.fit) if not change.risky else (TurnResult(1, 1), "")
        )
        if trouble or turn is None or not turn.steps:
            _not_tried(
                SkippedChange(change.says, change.call, f"training on it failed ({trouble[:150] or 'no steps'})")
            )
            return
        self.cost = max(self.cost, min(time.time() - began, 5.0))
        self.arms[name] = change
        where = change.call.where if change.call is not None else change.where
        _tell("change", arm=name, says=change.says, where=where, code=change.code, note=change.note)

    def _rounds(self, names: list[str], ends: float) -> None:
        """Each round forwards or backwards, so that a machine that gets slower does so for all."""
        left = ends - time.time()
        seconds = min(max(left / (7 * len(names)) - self.cost, 0.8), 2.5)
        gains: dict[str, list[float]] = {}
        for number in range(MOST_ROUNDS):
            began, pace = time.time(), {}
            for name in names if number % 2 == 0 else reversed(names):
                pace[name] = self._turn(name, seconds)
            self.round += 1
            for name in names:
                gains.setdefault(name, []).append(pace[NOW] / pace[name] if pace[name] and pace[NOW] else 0.0)
            took = time.time() - began
            names = [name for name in names if name in (NOW, BOUND) or _may_win(gains[name])]
            if number + 1 >= FEWEST_ROUNDS and time.time() + took > ends:
                break

    def _turn(self, name: str, seconds: float) -> float:
        change = self.arms[name]
        turn, trouble = attempt(self.fit.turn, change.data, seconds, change.fit)
        if turn is None or not turn.steps:
            _tell("turn", arm=name, round=self.round, steps=0, seconds=0.0, because=trouble)
            return 0.0
        _tell("turn", arm=name, round=self.round, steps=turn.steps, seconds=turn.seconds)
        return turn.seconds / turn.steps


class NothingTrained(Exception):
    """Nothing to compare."""


def _busy() -> list[str]:
    """Other work on the machine does not make a range wrong, but wide."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < BUSY * cores:
        return []
    return [f"the machine was busy with other work (load {load:.0f} on {cores} cores): idle, it gives narrower ranges"]


def _may_win(gains: list[float]) -> bool:
    return len(gains) <= LOSES_AFTER or max(gains) > 1.03


def _not_tried(change: SkippedChange) -> None:
    where = change.call.where if isinstance(change.call, Call) else None
    _tell("change", arm=None, says=change.says, where=where, because=change.because)


def _tell(kind: str, **data: Any) -> None:
    if state.current is not None:
        state.current.event(kind, **data)
