"""The entropy of targets that are probabilities: the lowest loss that a cross-entropy can reach on them."""

from __future__ import annotations

import math
import sys
from typing import Any

MAX_VALUES = 65536  # of one batch
MAX_CLASSES = 256
SUM_TOLERANCE = 0.01
TINY = 1e-12


class RunningEntropy:
    """Of each value as a probability, and of each row as a distribution; nothing where all targets are 0 or 1."""

    def __init__(self) -> None:
        self._by_value: _RowMean | None = _RowMean()
        self._by_row: _RowMean | None = _RowMean()

    def add(self, values: Any) -> None:
        numpy = sys.modules["numpy"]
        if self._by_value is None:
            return
        rows = _sample(values).astype("float64")
        if not (numpy.isfinite(rows) & (rows >= 0) & (rows <= 1)).all():
            self._by_value = self._by_row = None
            return
        of_values = _entropy(numpy, rows) + _entropy(numpy, 1 - rows)
        self._by_value.add(of_values.reshape(len(rows), -1).mean(1))
        if self._by_row is None:
            return
        if rows.ndim < 2 or not 2 <= rows.shape[-1] <= MAX_CLASSES or not _are_distributions(rows):
            self._by_row = None
            return
        self._by_row.add(_entropy(numpy, rows).sum(-1).reshape(len(rows), -1).mean(1))

    def describe(self) -> dict[str, Any]:
        parts = {"entropy": self._by_value, "row_entropy": self._by_row}
        return {name: part.describe() for name, part in parts.items() if part is not None and part.mean > 0}


class _RowMean:
    """The mean over rows, and its standard error."""

    def __init__(self) -> None:
        self._rows, self._sum, self._squares = 0, 0.0, 0.0

    def add(self, rows: Any) -> None:
        self._rows += len(rows)
        self._sum += float(rows.sum())
        self._squares += float(rows @ rows)

    @property
    def mean(self) -> float:
        return self._sum / self._rows if self._rows else 0.0

    def describe(self) -> list[float]:
        variance = max(0.0, self._squares / self._rows - self.mean**2)
        return [float(f"{value:.6g}") for value in (self.mean, math.sqrt(variance / self._rows))]


def _sample(values: Any) -> Any:
    """Some of its rows, so that not too many values are looked at."""
    per_row = max(1, values.size // len(values))
    return values[:: -(-len(values) // max(1, MAX_VALUES // per_row))]


def _entropy(numpy: Any, shares: Any) -> Any:
    return -shares * numpy.log(numpy.maximum(shares, TINY))


def _are_distributions(rows: Any) -> bool:
    return bool((abs(rows.sum(-1) - 1) <= SUM_TOLERANCE).all())
