"""The experiment: the same start, the same batches, with and without the change, in a few rounds."""

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from typing import Any

from laststep.recorder import state
from laststep.recorder.experiments.prove import data_edits, edits
from laststep.recorder.experiments.prove.held_batches import Batch, CannotTry, sample, take
from laststep.recorder.experiments.prove.skill_score import are_classes, skill
from laststep.recorder.frames import Place
from laststep.recorder.guard import attempt

BEFORE, AFTER = "as it is", "changed"
ROUNDS, FEWEST_ROUNDS = 3, 2
SHARE_FOR_DATA = 0.15  # of the time
LOOKS = 8  # at what was learnt, in each training
MOST_POINTS = 60  # of a curve that is written down
MOST_STEPS, FEWEST_STEPS = 20_000, 200
MARGIN = 1.5  # times the steps after which the trouble showed


class ProveExperiment:
    """One program, one fit, two arms."""

    def __init__(self, original: Any, model: Any, args: Any, kwargs: Any, where: Place | None, ends: float) -> None:
        bound = inspect.signature(original).bind(model, *args, **kwargs)
        bound.apply_defaults()
        self.model, self.asked, self.where, self.ends = model, dict(bound.arguments), where, ends
        with open(_asked_for(), encoding="utf-8") as file:
            self.plan = json.load(file)
        self.trial: dict[str, Any] = self.plan["trial"]

    def run(self) -> None:
        _tell("side-run", state="began", where=self.where)
        _, trouble = attempt(self._rounds)
        if trouble:
            _tell("side-run", state="unsupported", because=trouble.removeprefix("CannotTry: "), where=self.where)
        else:
            _tell("side-run", state="ended")

    def _rounds(self) -> None:
        model = self.model
        left = self.ends - time.time()
        batches = take(model, self.asked, time.time() + SHARE_FOR_DATA * left)
        model(batches[0].x)  # built now, if it was not
        _step_by_step(model)
        start = [(variable, variable.numpy()) for variable in model.variables]
        arms = {BEFORE: Arm(self, {}, batches, start), AFTER: Arm(self, self.trial, batches, start)}
        steps = self._steps(len(batches))
        _tell("side-run", state="trains", steps=steps)
        for number in range(ROUNDS):
            began = time.time()
            for at, (name, arm) in enumerate(sorted(arms.items(), reverse=bool(number % 2))):
                trainings_left = 2 * max(1, FEWEST_ROUNDS - number) - at
                until = time.time() + max(1.0, (self.ends - time.time()) / trainings_left)
                _tell("trained", arm=name, round=number, **arm.train(number, steps, until))
            if number + 1 >= FEWEST_ROUNDS and time.time() + (time.time() - began) > self.ends:
                break

    def _steps(self, batches: int) -> int:
        """As long as the recorded run trained, or a good while beyond the step in which it broke."""
        showed, trained = self.plan.get("bad_step"), int(self.plan.get("steps") or 0)
        wanted = MARGIN * showed + 20 if showed else min(trained, 20 * batches)
        return int(min(MOST_STEPS, max(FEWEST_STEPS, wanted)))


class Arm:
    """One way to train: an optimizer and a traced step of its own, on weights that are shared and put back."""

    def __init__(self, whole: ProveExperiment, trial: dict[str, Any], batches: list[Batch], start: list[Any]) -> None:
        self.model, self.trial, self.start = whole.model, trial, start
        self.batches = data_edits.change_data(self.model, batches, trial)
        self.sample = sample(self.batches)
        self.classes = are_classes(self.model, batches)
        self.first = self.model.optimizer
        self.mine: tuple[Any, list[Any], Any] | None = None  # the optimizer, its state before all steps, the trace
        self.keeps_trace = "loss" not in whole.trial  # which makes Keras count anew, into other variables
        self.scores = True

    def train(self, number: int, steps: int, until: float) -> dict[str, Any]:
        """Some steps from the start; what it lost in each, and what was learnt now and then."""
        for variable, value in self.start:
            variable.assign(value)
        edits.keras_of(self.model).utils.set_random_seed(number)
        self.model.optimizer = self.mine[0] if self.mine is not None else _fresh(self.first)
        undone = edits.apply(self.model, self.trial)
        self._begin()
        try:
            return self._train(number, steps, until)
        finally:
            if self.keeps_trace and self.mine is not None:
                self.mine = (*self.mine[:2], self.model.train_function)
            for undo in reversed(undone):
                undo()
            self.model.optimizer = self.first

    def _begin(self) -> None:
        """The optimizer as before its first step; the step traced in an earlier round, or none."""
        optimizer = self.model.optimizer
        if optimizer is not None and self.mine is None:
            optimizer.build(self.model.trainable_variables)
            self.mine = optimizer, [value.numpy() for value in _variables(optimizer)], None
        elif self.mine is not None:
            for variable, value in zip(_variables(optimizer), self.mine[1], strict=True):
                variable.assign(value)
        self.model.train_function = self.mine[2] if self.mine is not None else None

    def _train(self, number: int, steps: int, until: float) -> dict[str, Any]:
        order = _order(len(self.batches), number)
        losses: list[float] = []
        learnt: list[tuple[int, float]] = []
        looks = {round(steps * (look + 1) / LOOKS) for look in range(LOOKS)}
        self._look(0, learnt)
        bad, raised = None, ""
        for step in range(1, steps + 1):
            loss, raised = attempt(self._step, self.batches[order[(step - 1) % len(order)]])
            losses.append(math.nan if loss is None else loss)
            if not math.isfinite(losses[-1]):
                bad = step
                break
            if step in looks:
                self._look(step, learnt)
            if time.time() > until and step >= 3:
                break
        if bad is None and (not learnt or learnt[-1][0] != len(losses)):
            self._look(len(losses), learnt)
        if bad is None and not self._weights_are_finite():
            bad = len(losses)  # a loss can stay finite where a fused relu swallows the NaN
        return {"steps": len(losses), "bad": bad, "raised": raised, "losses": _thinned(losses), "skill": learnt}

    def _step(self, batch: Batch) -> float:
        """fit would take the mean over the epoch: this is the step's own."""
        logs = self.model.train_on_batch(batch.x, batch.y, batch.weights, return_dict=True)
        value = logs.get("loss", next(iter(logs.values()), math.nan)) if isinstance(logs, dict) else math.nan
        return float(value)

    def _look(self, step: int, learnt: list[tuple[int, float]]) -> None:
        if self.scores:
            found, trouble = attempt(skill, self.model, self.sample, self.classes)
            self.scores = found is not None and not trouble
            if found is not None:
                learnt.append((step, round(found, 4)))

    def _weights_are_finite(self) -> bool:
        numpy = sys.modules["numpy"]
        return all(numpy.isfinite(variable.numpy()).all() for variable in self.model.trainable_variables)


def _fresh(optimizer: Any) -> Any:
    """The same optimizer before its first step."""
    if optimizer is None:  # a step of the program's own may have others
        return None
    made, trouble = attempt(lambda: type(optimizer).from_config(optimizer.get_config()))
    if made is None:
        raise CannotTry(f"its optimizer can't be made anew ({trouble})")
    return made


def _step_by_step(model: Any) -> None:
    """However many steps the program takes at once."""
    several = getattr(model, "_steps_per_execution", None)
    if several is not None and hasattr(several, "assign"):  # tf_keras
        several.assign(1)
    else:
        model.steps_per_execution = 1


def _variables(optimizer: Any) -> list[Any]:
    held = optimizer.variables
    return list(held() if callable(held) else held)  # a method in tf_keras


def _order(count: int, number: int) -> list[int]:
    """The first round in the program's own order, the others shuffled."""
    numpy = sys.modules["numpy"]
    found = numpy.arange(count) if number == 0 else numpy.random.default_rng(number).permutation(count)
    return [int(at) for at in found]


def _thinned(losses: list[float]) -> list[float]:
    """Means over equal stretches; the last one as it is, where it is not finite."""
    size = max(1, math.ceil(len(losses) / MOST_POINTS))
    parts = [losses[at : at + size] for at in range(0, len(losses), size)]
    return [float(f"{sum(part) / len(part):.6g}") for part in parts]


def _asked_for() -> str:
    assert state.current is not None
    return state.current.options["prove"]


def _tell(kind: str, **data: Any) -> None:
    if state.current is not None:
        state.current.event(kind, **data)
