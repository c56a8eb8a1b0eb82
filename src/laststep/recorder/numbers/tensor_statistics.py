"""Running statistics of a tensor of a step, over the batches that were measured."""

from __future__ import annotations

import math
import sys
from typing import Any

from laststep.recorder.numbers.target_entropy import RunningEntropy

MAX_VALUES = 65536  # of one batch
MAX_DISTINCT = 64
MAX_COLUMNS = 256


class RunningStatistics:
    """Range, mean, standard deviation, non-finite and distinct values, row sums, the scale of each column."""

    def __init__(self, is_target: bool = False) -> None:
        self.batches = 0
        self._entropy = RunningEntropy() if is_target else None
        self._shape: list[int] = []
        self._dtype = ""
        self._count = self._nan = self._inf = self._zeros = 0
        self._low, self._high = math.inf, -math.inf
        self._sum = self._squares = 0.0
        self._are_whole = True
        self._distinct: set[float] | None = set()
        self._row_sums: list[float] | None = None
        self._is_one_hot = True
        self._columns: Any = None  # count, sum and sum of squares of each column
        self._column_nan: Any = None

    def add(self, values: Any) -> None:
        numpy = sys.modules["numpy"]
        self.batches += 1
        self._shape, self._dtype = list(values.shape), str(values.dtype)
        if values.dtype.kind not in "fiub" or not values.size:
            return
        self._add_rows(numpy, values)
        if self._entropy is not None and values.ndim:
            self._entropy.add(values)
        flat = values.reshape(-1)
        if flat.size > MAX_VALUES:
            flat = flat[:: -(-flat.size // MAX_VALUES)]
        flat = flat.astype("float64")
        finite = flat[numpy.isfinite(flat)]
        self._nan += int(numpy.isnan(flat).sum())
        self._inf += int(numpy.isinf(flat).sum())
        self._count += int(flat.size)
        if finite.size:
            self._low, self._high = min(self._low, float(finite.min())), max(self._high, float(finite.max()))
            self._sum += float(finite.sum())
            self._squares += float(finite @ finite)
            self._zeros += int((finite == 0).sum())
            self._are_whole = self._are_whole and bool((finite == numpy.floor(finite)).all())
            self._add_distinct(numpy, finite)

    def _add_distinct(self, numpy: Any, finite: Any) -> None:
        if self._distinct is not None:
            sample = numpy.sort(finite[:4096])
            sample = sample[numpy.flatnonzero(numpy.diff(sample, prepend=-math.inf))]
            self._distinct |= set(sample.tolist()[: MAX_DISTINCT + 1])
            if len(self._distinct) > MAX_DISTINCT:
                self._distinct = None

    def _add_rows(self, numpy: Any, values: Any) -> None:
        """For a table: the range of its row sums, whether each row is one-hot, and the scale of each column."""
        if values.ndim != 2 or values.shape[1] > MAX_COLUMNS:
            return
        rows = values[:4096].astype("float64")
        if values.shape[1] > 1:
            sums = rows.sum(axis=1)
            sums = sums[numpy.isfinite(sums)]
            if sums.size:
                known = self._row_sums or [math.inf, -math.inf]
                self._row_sums = [min(known[0], float(sums.min())), max(known[1], float(sums.max()))]
            self._is_one_hot = self._is_one_hot and _are_one_hot(rows)
        finite = numpy.where(numpy.isfinite(rows), rows, 0.0)
        added = numpy.stack([numpy.isfinite(rows).sum(0), finite.sum(0), (finite * finite).sum(0)])
        nan = (~numpy.isfinite(rows)).sum(0)
        fits = self._columns is not None and self._columns.shape == added.shape
        self._columns = self._columns + added if fits else added
        self._column_nan = self._column_nan + nan if fits else nan

    def describe(self) -> dict[str, Any]:
        finite = self._count - self._nan - self._inf
        described: dict[str, Any] = {"shape": self._shape, "dtype": self._dtype, "values": self._count}
        described |= {name: count for name, count in (("nan", self._nan), ("inf", self._inf)) if count}
        if not finite:
            return described
        mean = self._sum / finite
        spread = math.sqrt(max(0.0, self._squares / finite - mean * mean))
        described |= {
            "low": rounded(self._low),
            "high": rounded(self._high),
            "mean": rounded(mean),
            "std": rounded(spread),
        }
        described |= {"zeros": rounded(self._zeros / finite), "whole": self._are_whole}
        if self._distinct is not None:
            described["distinct"] = sorted(self._distinct)
        if self._row_sums is not None:
            described |= {"row_sums": [rounded(value) for value in self._row_sums], "one_hot": self._is_one_hot}
        entropy = self._entropy.describe() if self._entropy is not None else {}
        return described | self._describe_columns() | entropy

    def _describe_columns(self) -> dict[str, Any]:
        if self._columns is None:
            return {}
        numpy = sys.modules["numpy"]
        count, total, squares = self._columns
        count = numpy.maximum(count, 1)
        means = total / count
        stds = numpy.sqrt(numpy.maximum(0.0, squares / count - means * means))
        described: dict[str, Any] = {
            "column_means": [rounded(v) for v in means],
            "column_stds": [rounded(v) for v in stds],
        }
        if self._column_nan.any():
            bad = numpy.flatnonzero(self._column_nan)[:20]
            described["bad_columns"] = {int(at): int(self._column_nan[at]) for at in bad}
        return described


def _are_one_hot(rows: Any) -> bool:
    return bool((((rows == 0) | (rows == 1)).all(axis=1) & (rows.sum(axis=1) == 1)).all())


def rounded(value: float) -> float:
    return float(f"{value:.5g}")


def bad_values(values: Any) -> dict[str, Any]:
    """How many values are NaN or Inf, in which samples and features; {} if all are finite."""
    numpy = sys.modules["numpy"]
    if values.dtype.kind != "f" or not values.size:
        return {}
    bad = ~numpy.isfinite(values)
    if not bad.any():
        return {}
    places = numpy.argwhere(bad)
    features = sorted({int(place[-1]) for place in places}) if values.ndim > 1 else []
    return {
        "nan": int(numpy.isnan(values).sum()),
        "inf": int(numpy.isinf(values).sum()),
        "of": int(values.size),
        "samples": sorted({int(place[0]) for place in places})[:10],
        "features": features[:10],
        "shape": list(values.shape),
    }
