"""Do the targets depend on the inputs at all? A permutation test on rows that passed through the training."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from laststep.recorder.slices import Slices

ENOUGH_ROWS, MIN_ROWS = 1000, 120
MAX_FEATURES = 256
MAX_CLASSES = 64
NEIGHBOUR_COUNT = 5
PERMUTATIONS = 399


class DependenceTest:
    """Collects rows of inputs and targets; runs once, when there are enough, or at the end."""

    def __init__(self) -> None:
        self._batches: list[tuple[Any, Any]] = []  # filled by the program's thread in an eager loop, read by ours
        self.rows = 0
        self.is_done = False

    def add(self, batch: Mapping[str, Any]) -> None:
        inputs = [value for name, value in batch.items() if name.split("/")[0] == "x" and value.ndim]
        target = batch.get("y")
        if self.is_done or self.rows >= ENOUGH_ROWS or not inputs or target is None or not target.ndim:
            return
        if any(len(value) != len(target) for value in inputs) or not _is_one_per_row(target):
            self.is_done = True  # several targets per row, or rows that do not match
            return
        self._batches.append((_features(inputs), _target(target)))
        self.rows += len(target)

    def run(self, at_end: bool = False) -> dict[str, Any] | None:
        if self.is_done or self.rows < (MIN_ROWS if at_end else ENOUGH_ROWS):
            return None
        self.is_done = True
        numpy = sys.modules["numpy"]
        batches, self._batches = self._batches, []
        inputs, where = numpy.unique(numpy.concatenate([batch[0] for batch in batches]), axis=0, return_index=True)
        targets = numpy.concatenate([batch[1] for batch in batches])[where]  # a row seen twice counts once
        return permutation_test(inputs, targets, Slices(math.inf, math.inf)) if len(targets) >= MIN_ROWS else None


def _is_one_per_row(target: Any) -> bool:
    return bool(target.ndim == 1 or (target.ndim == 2 and (target.shape[1] == 1 or _is_one_hot(target))))


def _is_one_hot(target: Any) -> bool:
    return bool(((target == 0) | (target == 1)).all() and (target.sum(axis=1) == 1).all())


def _target(target: Any) -> Any:
    if target.ndim == 2:
        return target.argmax(axis=1) if target.shape[1] > 1 else target[:, 0]
    return target


def _features(inputs: list[Any]) -> Any:
    """Flat rows of a limited number of features; for tokens, how often each occurs."""
    numpy = sys.modules["numpy"]
    parts = []
    for value in inputs:
        flat = value.reshape(len(value), -1)
        if value.dtype.kind in "iu" and value.ndim == 2 and flat.shape[1] > 1 and flat.max(initial=0) > 255:
            counts = numpy.zeros((len(flat), MAX_FEATURES), "float32")
            numpy.add.at(counts, (numpy.arange(len(flat))[:, None], flat % MAX_FEATURES), 1)
            flat = counts
        parts.append(flat[:, :: -(-flat.shape[1] // MAX_FEATURES)].astype("float32"))
    return numpy.concatenate(parts, axis=1)


def permutation_test(inputs: Any, targets: Any, slices: Slices) -> dict[str, Any] | None:
    """By the targets of the nearest neighbours and by each feature alone, compared with permuted targets."""
    numpy = sys.modules["numpy"]
    finite = numpy.isfinite(inputs).all(axis=1) & numpy.isfinite(targets.astype("float64"))
    inputs, targets = inputs[finite], targets[finite]
    spread = inputs.std(axis=0)
    inputs = inputs[:, spread > 0]
    distinct = numpy.unique(targets)
    if len(targets) < MIN_ROWS or len(distinct) < 2:
        return None
    result: dict[str, Any] = {"rows": len(targets), "features": int(inputs.shape[1])}
    are_classes = len(distinct) <= MAX_CLASSES and bool((distinct == numpy.floor(distinct)).all())
    result["targets"] = "classes" if are_classes else "numbers"
    if not inputs.shape[1]:
        return result | {"p": 1.0, "constant": True}
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    table = (targets[:, None] == distinct[None, :]).astype("float32") if are_classes else _ranks(targets)[:, None]
    table = table - table.mean(axis=0)
    neighbours = _neighbours(inputs)
    random = numpy.random.default_rng(0)
    real = _scores(inputs, table, neighbours)
    shuffled = []
    for _ in range(PERMUTATIONS):
        shuffled.append(_scores(inputs, table[random.permutation(len(table))], neighbours))
        slices.go_on()
    p = [(1 + sum(other[at] >= real[at] for other in shuffled)) / (1 + PERMUTATIONS) for at in range(2)]
    return result | {"p": round(min(1.0, 2 * min(p)), 4)}


def _ranks(targets: Any) -> Any:
    return targets.argsort().argsort().astype("float32") / len(targets)


def _neighbours(inputs: Any) -> Any:
    numpy = sys.modules["numpy"]
    squares = (inputs * inputs).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * inputs @ inputs.T
    numpy.fill_diagonal(distances, numpy.inf)
    return numpy.argpartition(distances, NEIGHBOUR_COUNT, axis=1)[:, :NEIGHBOUR_COUNT]


def _scores(inputs: Any, table: Any, neighbours: Any) -> tuple[float, float]:
    """(similarity of neighbours, strongest correlation of a single feature)."""
    similarity = float((table * table[neighbours].mean(axis=1)).sum())
    correlations = inputs.T @ table / len(table)
    return similarity, float((correlations * correlations).max())
