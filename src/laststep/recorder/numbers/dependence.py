"""Do the targets depend on the inputs at all? A permutation test on rows that passed through the training."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from laststep.recorder.slices import Slices

ENOUGH, FEWEST = 1000, 120  # rows
MOST_FEATURES = 256
MOST_CLASSES = 64
NEIGHBOURS = 5
SHUFFLES = 399


class DependenceTest:
    """Collects rows of inputs and targets; asked once, when there are enough, or at the end."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, Any]] = []  # added by the program's own thread in an eager loop, read by ours
        self.rows = 0
        self.is_done = False

    def add(self, batch: Mapping[str, Any]) -> None:
        inputs = [value for name, value in batch.items() if name.split("/")[0] == "x" and value.ndim]
        target = batch.get("y")
        if self.is_done or self.rows >= ENOUGH or not inputs or target is None or not target.ndim:
            return
        if any(len(value) != len(target) for value in inputs) or not _is_one_per_row(target):
            self.is_done = True  # several targets for each row, or rows that do not belong together
            return
        self._parts.append((_features(inputs), _target(target)))
        self.rows += len(target)

    def ask(self, at_end: bool = False) -> dict[str, Any] | None:
        if self.is_done or self.rows < (FEWEST if at_end else ENOUGH):
            return None
        self.is_done = True
        numpy = sys.modules["numpy"]
        parts, self._parts = self._parts, []
        inputs, where = numpy.unique(numpy.concatenate([part[0] for part in parts]), axis=0, return_index=True)
        targets = numpy.concatenate([part[1] for part in parts])[where]  # a row seen twice is one row
        return test(inputs, targets, Slices(math.inf, math.inf)) if len(targets) >= FEWEST else None


def _is_one_per_row(target: Any) -> bool:
    return bool(target.ndim == 1 or (target.ndim == 2 and (target.shape[1] == 1 or _is_one_hot(target))))


def _is_one_hot(target: Any) -> bool:
    return bool(((target == 0) | (target == 1)).all() and (target.sum(axis=1) == 1).all())


def _target(target: Any) -> Any:
    if target.ndim == 2:
        return target.argmax(axis=1) if target.shape[1] > 1 else target[:, 0]
    return target


def _features(inputs: list[Any]) -> Any:
    """Flat rows of at most so many numbers; of tokens, how often each occurs."""
    numpy = sys.modules["numpy"]
    parts = []
    for value in inputs:
        flat = value.reshape(len(value), -1)
        if value.dtype.kind in "iu" and value.ndim == 2 and flat.shape[1] > 1 and flat.max(initial=0) > 255:
            counts = numpy.zeros((len(flat), MOST_FEATURES), "float32")
            numpy.add.at(counts, (numpy.arange(len(flat))[:, None], flat % MOST_FEATURES), 1)
            flat = counts
        parts.append(flat[:, :: -(-flat.shape[1] // MOST_FEATURES)].astype("float32"))
    return numpy.concatenate(parts, axis=1)


def test(inputs: Any, targets: Any, slices: Slices) -> dict[str, Any] | None:
    """By the nearest neighbours' targets, and by each feature alone; against the same with the targets shuffled."""
    numpy = sys.modules["numpy"]
    good = numpy.isfinite(inputs).all(axis=1) & numpy.isfinite(targets.astype("float64"))
    inputs, targets = inputs[good], targets[good]
    spread = inputs.std(axis=0)
    inputs = inputs[:, spread > 0]
    kinds = numpy.unique(targets)
    if len(targets) < FEWEST or len(kinds) < 2:
        return None
    told: dict[str, Any] = {"rows": len(targets), "features": int(inputs.shape[1])}
    classes = len(kinds) <= MOST_CLASSES and bool((kinds == numpy.floor(kinds)).all())
    told["targets"] = "classes" if classes else "numbers"
    if not inputs.shape[1]:
        return told | {"p": 1.0, "constant": True}
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    table = (targets[:, None] == kinds[None, :]).astype("float32") if classes else _ranks(targets)[:, None]
    table = table - table.mean(axis=0)
    near = _neighbours(inputs)
    random = numpy.random.default_rng(0)
    real = _scores(inputs, table, near)
    shuffled = []
    for _ in range(SHUFFLES):
        shuffled.append(_scores(inputs, table[random.permutation(len(table))], near))
        slices.go_on()
    p = [(1 + sum(other[at] >= real[at] for other in shuffled)) / (1 + SHUFFLES) for at in range(2)]
    return told | {"p": round(min(1.0, 2 * min(p)), 4)}


def _ranks(targets: Any) -> Any:
    return targets.argsort().argsort().astype("float32") / len(targets)


def _neighbours(inputs: Any) -> Any:
    numpy = sys.modules["numpy"]
    squares = (inputs * inputs).sum(axis=1)
    apart = squares[:, None] + squares[None, :] - 2 * inputs @ inputs.T
    numpy.fill_diagonal(apart, numpy.inf)
    return numpy.argpartition(apart, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def _scores(inputs: Any, table: Any, near: Any) -> tuple[float, float]:
    """(how alike neighbours are, the strongest link of a single feature)."""
    alike = float((table * table[near].mean(axis=1)).sum())
    links = inputs.T @ table / len(table)
    return alike, float((links * links).max())
