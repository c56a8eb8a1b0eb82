"""The experiment: the same start and the same batches, with and without the change, in a few rounds."""

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from typing import Any

from laststep.recorder import state
from laststep.recorder.experiments.prove import data_edits, edits
from laststep.recorder.experiments.prove.held_batches import Batch, CannotTry, hold_batches, sample
from laststep.recorder.experiments.prove.skill_score import are_classes, skill
from laststep.recorder.frames import PlaceFields
from laststep.recorder.guard import attempt

BEFORE, AFTER = "as it is", "changed"
MAX_ROUNDS, MIN_ROUNDS = 3, 2
DATA_TIME_SHARE = 0.15  # of the time
SCORES_PER_TRAINING = 8  # how often the skill is measured
MAX_CURVE_POINTS = 60  # of a recorded curve
MAX_STEPS, MIN_STEPS = 20_000, 200
STEP_MARGIN = 1.5  # factor on the step in which the problem appeared


class ProveExperiment:
    """One program, one fit, two arms."""

    def __init__(
        self, original: Any, model: Any, args: Any, kwargs: Any, where: PlaceFields | None, ends: float
    ) -> None:
        call = inspect.signature(original).bind(model, *args, **kwargs)
        call.apply_defaults()
        self.model, self.arguments, self.where, self.ends = model, dict(call.arguments), where, ends
        with open(_plan_path(), encoding="utf-8") as file:
            self.plan = json.load(file)
        self.trial: dict[str, Any] = self.plan["trial"]

    def run(self) -> None:
        _record("side-run", state="began", where=self.where)
        _, problem = attempt(self._rounds)
        if problem:
            _record("side-run", state="unsupported", because=problem.removeprefix("CannotTry: "), where=self.where)
        else:
            _record("side-run", state="ended")

    def _rounds(self) -> None:
        model = self.model
        left = self.ends - time.time()
        batches = hold_batches(model, self.arguments, time.time() + DATA_TIME_SHARE * left)
        model(batches[0].x)  # builds the model if necessary
        _set_single_steps(model)
        start = [(variable, variable.numpy()) for variable in model.variables]
        arms = {BEFORE: Arm(self, {}, batches, start), AFTER: Arm(self, self.trial, batches, start)}
        steps = self._steps(len(batches))
        _record("side-run", state="trains", steps=steps)
        for number in range(MAX_ROUNDS):
            began = time.time()
            for at, (name, arm) in enumerate(sorted(arms.items(), reverse=bool(number % 2))):
                trainings_left = 2 * max(1, MIN_ROUNDS - number) - at
                until = time.time() + max(1.0, (self.ends - time.time()) / trainings_left)
                _record("trained", arm=name, round=number, **arm.train(number, steps, until))
            if number + 1 >= MIN_ROUNDS and time.time() + (time.time() - began) > self.ends:
                break

    def _steps(self, batches: int) -> int:
        """As long as the recorded run trained, or well beyond the step in which it broke."""
        bad_step, trained = self.plan.get("bad_step"), int(self.plan.get("steps") or 0)
        wanted = STEP_MARGIN * bad_step + 20 if bad_step else min(trained, 20 * batches)
        return int(min(MAX_STEPS, max(MIN_STEPS, wanted)))


class Arm:
    """One way to train: an optimizer and a traced step of its own, on shared weights that are restored each time."""

    def __init__(
        self, experiment: ProveExperiment, trial: dict[str, Any], batches: list[Batch], start: list[Any]
    ) -> None:
        self.model, self.trial, self.start = experiment.model, trial, start
        self.batches = data_edits.change_data(self.model, batches, trial)
        self.sample = sample(self.batches)
        self.classes = are_classes(self.model, batches)
        self.original_optimizer = self.model.optimizer
        self.own: tuple[Any, list[Any], Any] | None = None  # the optimizer, its initial state, the traced step
        self.keeps_trace = "loss" not in experiment.trial  # a new loss makes Keras create other metric variables
        self.can_score = True

    def train(self, number: int, steps: int, until: float) -> dict[str, Any]:
        """Train from the start; returns the loss of each step and the skill at some of them."""
        for variable, value in self.start:
            variable.assign(value)
        edits.keras_of(self.model).utils.set_random_seed(number)
        self.model.optimizer = self.own[0] if self.own is not None else _recreated(self.original_optimizer)
        undos = edits.apply(self.model, self.trial)
        self._begin()
        try:
            return self._train(number, steps, until)
        finally:
            if self.keeps_trace and self.own is not None:
                self.own = (*self.own[:2], self.model.train_function)
            for undo in reversed(undos):
                undo()
            self.model.optimizer = self.original_optimizer

    def _begin(self) -> None:
        """Reset the optimizer to its initial state; use the step traced in an earlier round, if any."""
        optimizer = self.model.optimizer
        if optimizer is not None and self.own is None:
            optimizer.build(self.model.trainable_variables)
            self.own = optimizer, [value.numpy() for value in _variables(optimizer)], None
        elif self.own is not None:
            for variable, value in zip(_variables(optimizer), self.own[1], strict=True):
                variable.assign(value)
        self.model.train_function = self.own[2] if self.own is not None else None

    def _train(self, number: int, steps: int, until: float) -> dict[str, Any]:
        order = _order(len(self.batches), number)
        losses: list[float] = []
        skills: list[tuple[int, float]] = []
        scored_steps = {round(steps * (index + 1) / SCORES_PER_TRAINING) for index in range(SCORES_PER_TRAINING)}
        self._score(0, skills)
        bad, raised = None, ""
        for step in range(1, steps + 1):
            loss, raised = attempt(self._step, self.batches[order[(step - 1) % len(order)]])
            losses.append(math.nan if loss is None else loss)
            if not math.isfinite(losses[-1]):
                bad = step
                break
            if step in scored_steps:
                self._score(step, skills)
            if time.time() > until and step >= 3:
                break
        if bad is None and (not skills or skills[-1][0] != len(losses)):
            self._score(len(losses), skills)
        if bad is None and not self._weights_are_finite():
            bad = len(losses)  # the loss can stay finite if a fused relu hides the NaN
        return {"steps": len(losses), "bad": bad, "raised": raised, "losses": _thinned_out(losses), "skill": skills}

    def _step(self, batch: Batch) -> float:
        """fit reports the mean over the epoch; this is the loss of the step itself."""
        logs = self.model.train_on_batch(batch.x, batch.y, batch.weights, return_dict=True)
        value = logs.get("loss", next(iter(logs.values()), math.nan)) if isinstance(logs, dict) else math.nan
        return float(value)

    def _score(self, step: int, skills: list[tuple[int, float]]) -> None:
        if self.can_score:
            score, problem = attempt(skill, self.model, self.sample, self.classes)
            self.can_score = score is not None and not problem
            if score is not None:
                skills.append((step, round(score, 4)))

    def _weights_are_finite(self) -> bool:
        numpy = sys.modules["numpy"]
        return all(numpy.isfinite(variable.numpy()).all() for variable in self.model.trainable_variables)


def _recreated(optimizer: Any) -> Any:
    """The same optimizer before its first step."""
    if optimizer is None:  # a custom train_step may have others
        return None
    made, problem = attempt(lambda: type(optimizer).from_config(optimizer.get_config()))
    if made is None:
        raise CannotTry(f"its optimizer can't be recreated ({problem})")
    return made


def _set_single_steps(model: Any) -> None:
    """One step per call, however many the program uses."""
    steps_per_execution = getattr(model, "_steps_per_execution", None)
    if steps_per_execution is not None and hasattr(steps_per_execution, "assign"):  # tf_keras
        steps_per_execution.assign(1)
    else:
        model.steps_per_execution = 1


def _variables(optimizer: Any) -> list[Any]:
    variables = optimizer.variables
    return list(variables() if callable(variables) else variables)  # a method in tf_keras


def _order(count: int, number: int) -> list[int]:
    """The first round in the program's order, the others shuffled."""
    numpy = sys.modules["numpy"]
    order = numpy.arange(count) if number == 0 else numpy.random.default_rng(number).permutation(count)
    return [int(at) for at in order]


def _thinned_out(losses: list[float]) -> list[float]:
    """Means over segments of equal length; a last non-finite loss stays non-finite."""
    size = max(1, math.ceil(len(losses) / MAX_CURVE_POINTS))
    parts = [losses[at : at + size] for at in range(0, len(losses), size)]
    return [float(f"{sum(part) / len(part):.6g}") for part in parts]


def _plan_path() -> str:
    assert state.current is not None
    return state.current.options["prove"]


def _record(kind: str, **data: Any) -> None:
    if state.current is not None:
        state.current.event(kind, **data)
