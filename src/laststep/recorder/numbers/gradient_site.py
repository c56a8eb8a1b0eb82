"""What the host makes of a step's numbers: norms by layer, dead units, statistics of the data, in bounded events."""

from __future__ import annotations

import math
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laststep.recorder import state
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.dependence import DependenceTest
from laststep.recorder.numbers.kept_step import keep_step
from laststep.recorder.numbers.model_layers import current_learning_rate
from laststep.recorder.numbers.sentinel import Answer
from laststep.recorder.numbers.silent import silent
from laststep.recorder.numbers.tensor_statistics import RunningStatistics, bad_values, rounded

MAX_LAYERS = 100
MAX_SAMPLES = 600  # per site: the first ones, later one per pause
DENSE_SAMPLES, SAMPLE_PAUSE_SECONDS = 60, 5.0
FIRST_WITH_WEIGHTS, WEIGHTS_EVERY = 4, 4  # weights are read in the first measurements, then in one of every four
MAX_COMPARED_WEIGHT_BYTES = 64 << 20  # of the copy with which later weights are compared


@dataclass(frozen=True)
class Measurement:
    """What one step measured, with the time and the state of the model."""

    step: int
    answer: Answer
    time: float
    rate: float | None
    weights: list[Any]  # when it was read; empty if too large or not due

    @property
    def bytes(self) -> int:
        return sum(values.nbytes for values in (*self.answer.batch.values(), *self.weights))


class GradientSite:
    """One place where gradients are taken: its variables, and what was measured so far."""

    def __init__(
        self, number: int, names: Sequence[str], references: Sequence[Any], missing: Sequence[str], optimizer: Any
    ) -> None:
        self.number = number
        self.made = time.monotonic()
        self.step_offset = 0  # our count of steps minus the optimizer's
        self._last_iterations = -1  # the optimizer's count at the last measurement
        self._optimizer = weakref.ref(optimizer) if optimizer is not None else lambda: None
        self._scales_loss = getattr(optimizer, "inner_optimizer", None) is not None
        self.layers = [_layer(name) for name in names]
        self.names = list(names)
        self._missing = [_layer(name) for name in missing]
        self._references = references  # weak references: a model that the program drops is not kept alive by us
        self.max_by_unit: dict[int, Any] = {}
        self.statistics: dict[str, RunningStatistics] = {}
        self.dependence = DependenceTest()
        self._weights: list[Any] | None = None
        self._weights_step = 0
        self.measurements = self._samples = 0
        self._next = 0.0
        self._recorded_batches = 0
        self.bad = False

    @property
    def is_gone(self) -> bool:
        return all(reference() is None for reference in self._references)

    def step_number(self, iterations: int) -> int:
        """The number of a step, by the optimizer's count; 0 if there is none or it does not change (never applied)."""
        is_unchanged, self._last_iterations = iterations == self._last_iterations, iterations
        return 0 if is_unchanged or iterations < 0 else iterations + 1 + self.step_offset

    def measure(self, answer: Answer, step: int = 0) -> Measurement:
        """Complete an answer that has just arrived with values that may change soon."""
        self.measurements += 1
        count = state.current.count if state.current is not None else 0
        number = step or self.step_number(answer.count) or count
        is_due = self.measurements <= FIRST_WITH_WEIGHTS or self.measurements % WEIGHTS_EVERY == 0 or answer.is_bad
        weights = self._values() if is_due else []
        return Measurement(number, answer, time.time(), current_learning_rate(self._optimizer()), weights)

    def process(self, measurement: Measurement) -> None:
        """Evaluate a measurement; this costs more than taking it."""
        loss, norms, batch = measurement.answer.loss, measurement.answer.norms, measurement.answer.batch
        for at, values in measurement.answer.max_by_unit.items():
            known = self.max_by_unit.get(at)
            self.max_by_unit[at] = values if known is None else _maximum(known, values)
        for name, values in batch.items():
            self._statistics_of(name).add(values)
        self.dependence.add(batch)
        bad = not math.isfinite(loss + sum(norms.values()))
        if bad and self._scales_loss and not math.isnan(loss) and not any(map(bad_values, batch.values())):
            return  # the loss scale was too high once: the optimizer skips this step by itself
        now = time.monotonic()
        if self._samples < DENSE_SAMPLES or now >= self._next or (bad and not self.bad):
            self._next = now + SAMPLE_PAUSE_SECONDS
            self._record(measurement, bad)
        if bad and not self.bad:
            self.bad = True
            self._record_bad_step(measurement)
        self._record_statistics(bad)

    def _statistics_of(self, name: str) -> RunningStatistics:
        if name not in self.statistics:
            self.statistics[name] = RunningStatistics(is_target=name == "y" or name.startswith("y/"))
        return self.statistics[name]

    @silent
    def test_dependence(self, at_end: bool) -> bool:
        """Returns whether there was a result."""
        answer = self.dependence.run(at_end)
        if answer is not None and state.current is not None:
            state.current.event("dependence", site=self.number, **answer)
        return answer is not None

    def _record(self, measurement: Measurement, bad: bool) -> None:
        recorder = state.current
        self._samples += 1
        if recorder is None or self._samples > MAX_SAMPLES:
            return
        weights = self._compare_weights(measurement.step, measurement.weights) if measurement.weights else {}
        grads = dict.fromkeys(self._missing) | self._by_layer(measurement.answer.norms)
        fields = {
            "site": self.number,
            "step": measurement.step,
            "loss": rounded(measurement.answer.loss),
            "grads": grads,
        }
        fields |= {"rate": measurement.rate, **weights, "dead": self._dead(), "bad": bad or None}
        recorder.event_at(measurement.time, "numbers", fields)

    def _by_layer(self, halves: Mapping[int, float]) -> dict[str, float]:
        """Norms, from half the sum of squares of each variable."""
        squares: dict[str, float] = {}
        for at, half in halves.items():
            squares[self.layers[at]] = squares.get(self.layers[at], 0.0) + 2 * half
        norms = {layer: rounded(math.sqrt(square)) for layer, square in squares.items()}
        return dict(list(norms.items())[:MAX_LAYERS])

    def _dead(self) -> dict[str, float]:
        """For each kernel, the share of its units that had no gradient in any measurement so far."""
        return {self.names[at]: rounded(float((values == 0).mean())) for at, values in self.max_by_unit.items()}

    def _compare_weights(self, step: int, values: list[Any]) -> dict[str, Any]:
        """Norms of the weights, how far they moved since the last measurement, and which are not finite."""
        halves = [half_square(value) for value in values]
        fields: dict[str, Any] = {"weights": self._by_layer(dict(enumerate(halves)))}
        broken = [name for name, half in zip(self.names, halves, strict=True) if not math.isfinite(half)]
        if broken:
            fields["broken"] = broken[:20]
        if self._weights is not None and step > self._weights_step:
            moved = [half_square(new - old) for new, old in zip(values, self._weights, strict=True)]
            fields |= {"moved": self._by_layer(dict(enumerate(moved))), "since": self._weights_step}
        if not broken:  # non-finite weights cannot be compared, and a replay needs the ones before
            self._weights, self._weights_step = values, step
        return fields

    def _values(self) -> list[Any]:
        """A copy of the weights; empty if they are too large to be copied regularly, or gone."""
        variables = [reference() for reference in self._references]
        if any(variable is None for variable in variables) or sum(map(_bytes, variables)) > MAX_COMPARED_WEIGHT_BYTES:
            return []
        return [variable.numpy() for variable in variables]

    def remember_weights(self, step: int) -> None:
        self._weights, self._weights_step = self._values() or None, step

    def _record_bad_step(self, measurement: Measurement) -> None:
        recorder, step, answer, norms = state.current, measurement.step, measurement.answer, measurement.answer.norms
        if recorder is None:
            return
        bad_inputs = {name: bad_values(values) for name, values in answer.batch.items()}
        if answer.weights:
            self._weights, self._weights_step = answer.weights, step - 1
        kept, trouble = attempt(keep_step, answer.batch, self.names, self._weights)
        recorder.event(
            "bad-number", site=self.number, step=step, loss=rounded(answer.loss),
            inputs={name: bad for name, bad in bad_inputs.items() if bad},
            data={name: bad for name, bad in recorder.scanned().items() if bad},
            kept=bool(kept), not_kept=trouble or None, weights_of=self._weights_step if self._weights else None,
            weights=self._by_layer(dict(enumerate(map(half_square, self._weights or ())))),
            grads=[self.names[at] for at, norm in norms.items() if not math.isfinite(norm)][:50],
            finite=[self.names[at] for at, norm in norms.items() if math.isfinite(norm)][:50],
        )  # fmt: skip

    def _record_statistics(self, bad: bool) -> None:
        """Record what is known about the data, each time twice as many batches were seen."""
        recorder = state.current
        seen = max((statistic.batches for statistic in self.statistics.values()), default=0)
        if recorder is not None and (seen >= 2 * self._recorded_batches or bad) and seen > self._recorded_batches:
            self._recorded_batches = seen
            described = {name: statistic.describe() for name, statistic in self.statistics.items()}
            recorder.event("batch", site=self.number, batches=seen, tensors=described)


def _layer(name: str) -> str:
    """sequential/dense/kernel → sequential/dense."""
    return name.rpartition("/")[0] or name


def _bytes(variable: Any) -> int:
    return int(variable.dtype.size * math.prod(variable.shape.as_list()))


def half_square(value: Any) -> float:
    flat = value.reshape(-1)
    if flat.dtype.itemsize < 4:
        flat = flat.astype("float32")
    return float(flat @ flat) / 2


def _maximum(one: Any, two: Any) -> Any:
    return sys.modules["numpy"].maximum(one, two)
