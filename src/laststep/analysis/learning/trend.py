"""A straight line through a loss curve: how far it falls, and how well the noise lets that be known."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MIN_POINTS = 4


@dataclass(frozen=True)
class Trend:
    """How far the line falls from the first point to the last, and how high it lies."""

    fell: float
    error: float  # two standard errors of that
    level_error: float  # and of its height

    @property
    def falls(self) -> bool:
        """By more than noise alone would explain."""
        return self.fell > self.error


UNKNOWN = Trend(math.nan, math.inf, math.inf)


def trend_of(points: Sequence[float]) -> Trend:
    """The noise is taken from the differences between neighbours: a bend in the curve is not noise."""
    count = len(points)
    if count < MIN_POINTS or not all(map(math.isfinite, points)):
        return UNKNOWN
    middle, mean = (count - 1) / 2, statistics.fmean(points)
    squares = count * (count**2 - 1) / 12
    slope = sum((at - middle) * (value - mean) for at, value in enumerate(points)) / squares
    noise = statistics.stdev(after - before for before, after in pairwise(points)) / math.sqrt(2)
    error = 2 * noise * (count - 1) / math.sqrt(squares)
    return Trend(-slope * (count - 1), error, 2 * noise / math.sqrt(count))
