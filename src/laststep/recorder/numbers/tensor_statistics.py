"""Running statistics of one of a step's tensors, over the batches that were looked at."""

from __future__ import annotations

import math
import sys
from typing import Any

MOST_VALUES = 65536  # of one batch that are looked at
MOST_DISTINCT = 64
MOST_COLUMNS = 256


class RunningStatistics:
    """Range, mean, spread, what is not finite, distinct values, sums of rows, the scale of each column."""

    def __init__(self) -> None:
        self.batches = 0
        self._shape: list[int] = []
        self._dtype = ""
        self._count = self._nan = self._inf = self._zeros = 0
        self._low, self._high = math.inf, -math.inf
        self._sum = self._squares = 0.0
        self._whole = True
        self._distinct: set[float] | None = set()
        self._rows: list[float] | None = None
        self._hot = True
        self._columns: Any = None  # count, sum, squares, low, high of each
        self._column_nan: Any = None

    def add(self, values: Any) -> None:
        numpy = sys.modules["numpy"]
        self.batches += 1
        self._shape, self._dtype = list(values.shape), str(values.dtype)
        if values.dtype.kind not in "fiub" or not values.size:
            return
        self._add_rows(numpy, values)
        flat = values.reshape(-1)
        if flat.size > MOST_VALUES:
            flat = flat[:: -(-flat.size // MOST_VALUES)]
        flat = flat.astype("float64")
        good = flat[numpy.isfinite(flat)]
        self._nan += int(numpy.isnan(flat).sum())
        self._inf += int(numpy.isinf(flat).sum())
        self._count += int(flat.size)
        if good.size:
            self._low, self._high = min(self._low, float(good.min())), max(self._high, float(good.max()))
            self._sum += float(good.sum())
            self._squares += float(good @ good)
            self._zeros += int((good == 0).sum())
            self._whole = self._whole and bool((good == numpy.floor(good)).all())
            self._add_distinct(numpy, good)

    def _add_distinct(self, numpy: Any, good: Any) -> None:
        if self._distinct is not None:
            some = numpy.sort(good[:4096])
            some = some[numpy.flatnonzero(numpy.diff(some, prepend=-math.inf))]
            self._distinct |= set(some.tolist()[: MOST_DISTINCT + 1])
            if len(self._distinct) > MOST_DISTINCT:
                self._distinct = None

    def _add_rows(self, numpy: Any, values: Any) -> None:
        """Of a table: the range of its rows' sums, whether each row is one-hot, and each column's own range."""
        if values.ndim != 2 or values.shape[1] > MOST_COLUMNS:
            return
        rows = values[:4096].astype("float64")
        if values.shape[1] > 1:
            sums = rows.sum(axis=1)
            sums = sums[numpy.isfinite(sums)]
            if sums.size:
                known = self._rows or [math.inf, -math.inf]
                self._rows = [min(known[0], float(sums.min())), max(known[1], float(sums.max()))]
            self._hot = self._hot and bool((((rows == 0) | (rows == 1)).all(axis=1) & (rows.sum(axis=1) == 1)).all())
        good = numpy.where(numpy.isfinite(rows), rows, 0.0)
        added = numpy.stack([numpy.isfinite(rows).sum(0), good.sum(0), (good * good).sum(0)])
        nan = (~numpy.isfinite(rows)).sum(0)
        fits = self._columns is not None and self._columns.shape == added.shape
        self._columns = self._columns + added if fits else added
        self._column_nan = self._column_nan + nan if fits else nan

    def tell(self) -> dict[str, Any]:
        good = self._count - self._nan - self._inf
        told: dict[str, Any] = {"shape": self._shape, "dtype": self._dtype, "values": self._count}
        told |= {name: count for name, count in (("nan", self._nan), ("inf", self._inf)) if count}
        if not good:
            return told
        mean = self._sum / good
        spread = math.sqrt(max(0.0, self._squares / good - mean * mean))
        told |= {"low": short(self._low), "high": short(self._high), "mean": short(mean), "std": short(spread)}
        told |= {"zeros": short(self._zeros / good), "whole": self._whole}
        if self._distinct is not None:
            told["distinct"] = sorted(self._distinct)
        if self._rows is not None:
            told |= {"row_sums": [short(value) for value in self._rows], "one_hot": self._hot}
        return told | self._tell_columns()

    def _tell_columns(self) -> dict[str, Any]:
        if self._columns is None:
            return {}
        numpy = sys.modules["numpy"]
        count, total, squares = self._columns
        count = numpy.maximum(count, 1)
        means = total / count
        stds = numpy.sqrt(numpy.maximum(0.0, squares / count - means * means))
        told: dict[str, Any] = {"column_means": [short(v) for v in means], "column_stds": [short(v) for v in stds]}
        if self._column_nan.any():
            bad = numpy.flatnonzero(self._column_nan)[:20]
            told["bad_columns"] = {int(at): int(self._column_nan[at]) for at in bad}
        return told


def short(value: float) -> float:
    return float(f"{value:.5g}")


def bad_values(values: Any) -> dict[str, Any]:
    """How many are NaN or Inf, in which samples and which features; {} where all are finite."""
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
