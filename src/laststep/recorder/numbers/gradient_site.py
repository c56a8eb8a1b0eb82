"""What the host makes of a step's numbers: norms by layer, dead units, statistics of the data; in bounded events."""

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
from laststep.recorder.numbers.kept_step import keep
from laststep.recorder.numbers.model_layers import current_rate
from laststep.recorder.numbers.sentinel import Answer
from laststep.recorder.numbers.tensor_statistics import RunningStatistics, bad_values, short

MOST_LAYERS = 100
MOST_SAMPLES = 600  # of one site: the first ones, then one each while
DENSE_SAMPLES, PAUSE = 60, 5.0
ALL_WEIGHTS, SOME_WEIGHTS = 4, 4  # looks: at first in each, then in one of so many the weights are looked at, too
MOST_WEIGHTS = 64 << 20  # bytes that are copied to compare weights with those of a while ago


@dataclass(frozen=True)
class Measurement:
    """What one step measured of itself, and when."""

    step: int
    answer: Answer
    time: float
    rate: float | None
    weights: list[Any]  # as they were when it was read; none where they are too large, or not looked at each time

    @property
    def bytes(self) -> int:
        return sum(values.nbytes for values in (*self.answer.batch.values(), *self.weights))


class GradientSite:
    """One place where gradients are taken: its variables, what was seen of them so far."""

    def __init__(
        self, number: int, names: Sequence[str], references: Sequence[Any], missing: Sequence[str], optimizer: Any
    ) -> None:
        self.number = number
        self.made = time.monotonic()
        self.began = 0  # by how much our count of steps is ahead of the optimizer's
        self._clock = -1  # the optimizer's count in the look before
        self._optimizer = weakref.ref(optimizer) if optimizer is not None else lambda: None
        self._scales_loss = getattr(optimizer, "inner_optimizer", None) is not None
        self.layers = [_layer(name) for name in names]
        self.names = list(names)
        self._missing = [_layer(name) for name in missing]
        self._references = references  # weak: a model that the program lets go of is not kept by us
        self.lively: dict[int, Any] = {}
        self.tallies: dict[str, RunningStatistics] = {}
        self.dependence = DependenceTest()
        self._weights: list[Any] | None = None
        self._weights_step = 0
        self.looks = self._samples = 0
        self._next = 0.0
        self._told_batches = 0
        self.bad = False

    @property
    def is_gone(self) -> bool:
        return all(reference() is None for reference in self._references)

    def number_of(self, clock: int) -> int:
        """Of a step, by the optimizer's count; 0 where there is none, or where it stands still: it is never applied."""
        stands, self._clock = clock == self._clock, clock
        return 0 if stands or clock < 0 else clock + 1 + self.began

    def look(self, answer: Answer, step: int = 0) -> Measurement:
        """An answer that has just come, with what may be another soon."""
        self.looks += 1
        count = state.current.count if state.current is not None else 0
        number = step or self.number_of(answer.count) or count
        is_due = self.looks <= ALL_WEIGHTS or self.looks % SOME_WEIGHTS == 0 or answer.is_bad
        weights = self._values() if is_due else []
        return Measurement(number, answer, time.time(), current_rate(self._optimizer()), weights)

    def take(self, look: Measurement) -> None:
        """What is made of it: it costs more than the look."""
        loss, norms, batch = look.answer.loss, look.answer.norms, look.answer.batch
        for at, values in look.answer.lively.items():
            known = self.lively.get(at)
            self.lively[at] = values if known is None else _maximum(known, values)
        for name, values in batch.items():
            self.tallies.setdefault(name, RunningStatistics()).add(values)
        self.dependence.add(batch)
        bad = not math.isfinite(loss + sum(norms.values()))
        if bad and self._scales_loss and not math.isnan(loss) and not any(map(bad_values, batch.values())):
            return  # a scale that is too high for once: the optimizer leaves this step out by itself
        now = time.monotonic()
        if self._samples < DENSE_SAMPLES or now >= self._next or (bad and not self.bad):
            self._next = now + PAUSE
            self._tell(look, bad)
        if bad and not self.bad:
            self.bad = True
            self._tell_bad(look)
        self._tell_batches(bad)

    def ask_dependence(self, at_end: bool) -> bool:
        """Whether there was an answer."""
        answer = self.dependence.ask(at_end)
        if answer is not None and state.current is not None:
            state.current.event("dependence", site=self.number, **answer)
        return answer is not None

    def _tell(self, look: Measurement, bad: bool) -> None:
        recorder = state.current
        self._samples += 1
        if recorder is None or self._samples > MOST_SAMPLES:
            return
        weights = self._compare_weights(look.step, look.weights) if look.weights else {}
        grads = dict.fromkeys(self._missing) | self._by_layer(look.answer.norms)
        fields = {"site": self.number, "step": look.step, "loss": short(look.answer.loss), "grads": grads}
        fields |= {"rate": look.rate, **weights, "dead": self._dead(), "bad": bad or None}
        recorder.event_at(look.time, "numbers", fields)

    def _by_layer(self, halves: Mapping[int, float]) -> dict[str, float]:
        """Norms, from half the sums of squares of each variable."""
        squares: dict[str, float] = {}
        for at, half in halves.items():
            squares[self.layers[at]] = squares.get(self.layers[at], 0.0) + 2 * half
        told = {layer: short(math.sqrt(square)) for layer, square in squares.items()}
        return dict(list(told.items())[:MOST_LAYERS])

    def _dead(self) -> dict[str, float]:
        """For each kernel, the share of its units that had no gradient in any look so far."""
        return {self.names[at]: short(float((values == 0).mean())) for at, values in self.lively.items()}

    def _compare_weights(self, step: int, values: list[Any]) -> dict[str, Any]:
        """Norms of the weights, how far they went since the last look, whether all are finite."""
        halves = [half_square(value) for value in values]
        told: dict[str, Any] = {"weights": self._by_layer(dict(enumerate(halves)))}
        broken = [name for name, half in zip(self.names, halves, strict=True) if not math.isfinite(half)]
        if broken:
            told["broken"] = broken[:20]
        if self._weights is not None and step > self._weights_step:
            moved = [half_square(new - old) for new, old in zip(values, self._weights, strict=True)]
            told |= {"moved": self._by_layer(dict(enumerate(moved))), "since": self._weights_step}
        if not broken:  # of what is broken nothing can be compared, and before it is what a replay wants
            self._weights, self._weights_step = values, step
        return told

    def _values(self) -> list[Any]:
        """A copy of the weights; none where they are too large to be copied now and then, or gone."""
        held = [reference() for reference in self._references]
        if any(variable is None for variable in held) or sum(_bytes(variable) for variable in held) > MOST_WEIGHTS:
            return []
        return [variable.numpy() for variable in held]

    def remember_weights(self, step: int) -> None:
        self._weights, self._weights_step = self._values() or None, step

    def _tell_bad(self, look: Measurement) -> None:
        recorder, step, answer, norms = state.current, look.step, look.answer, look.answer.norms
        if recorder is None:
            return
        found = {name: bad_values(values) for name, values in answer.batch.items()}
        if answer.weights:
            self._weights, self._weights_step = answer.weights, step - 1
        kept, trouble = attempt(keep, answer.batch, self.names, self._weights)
        recorder.event(
            "bad-number", site=self.number, step=step, loss=short(answer.loss),
            inputs={name: told for name, told in found.items() if told},
            data={name: told for name, told in recorder.scanned().items() if told},
            kept=bool(kept), not_kept=trouble or None, weights_of=self._weights_step if self._weights else None,
            weights=self._by_layer(dict(enumerate(map(half_square, self._weights or ())))),
            grads=[self.names[at] for at, norm in norms.items() if not math.isfinite(norm)][:50],
            finite=[self.names[at] for at, norm in norms.items() if math.isfinite(norm)][:50],
        )  # fmt: skip

    def _tell_batches(self, bad: bool) -> None:
        """What is known of the data, told again whenever twice as many batches were seen."""
        recorder = state.current
        seen = max((tally.batches for tally in self.tallies.values()), default=0)
        if recorder is not None and (seen >= 2 * self._told_batches or bad) and seen > self._told_batches:
            self._told_batches = seen
            told = {name: tally.tell() for name, tally in self.tallies.items()}
            recorder.event("batch", site=self.number, batches=seen, tensors=told)


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
