"""The arithmetic of the benchmark: ratios of interleaved rounds, their spread, and one row of the table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the table; `met` is None where the spread is too wide to say, or where there is no target."""

    what: str
    measured: str
    spread: str = ""
    target: str = ""
    met: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """(lower quartile, median, upper quartile)."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def summary(values: Sequence[float]) -> dict[str, Any]:
    """Median, quartiles, and how far the median itself may be off (twice its standard error, from the quartiles)."""
    low, middle, high = quartiles(values)
    # 1.2533 is what a median costs against a mean, 1.349 turns an interquartile range into a deviation.
    margin = 2 * 1.2533 * (high - low) / 1.349 / len(values) ** 0.5
    return {"median": middle, "low": low, "high": high, "margin": margin, "rounds": len(values)}


def ratios(arm: Sequence[float], base: Sequence[float]) -> dict[str, Any]:
    """What one arm costs against another, round by round."""
    return summary([one / other for one, other in zip(arm, base, strict=True)])


def percent(found: dict[str, Any]) -> str:
    return f"{(found['median'] - 1) * 100:+.2f} % ± {found['margin'] * 100:.2f}"


def percent_spread(found: dict[str, Any]) -> str:
    return f"IQR {(found['low'] - 1) * 100:+.1f} … {(found['high'] - 1) * 100:+.1f} %, n={found['rounds']}"


def within(found: dict[str, Any], limit: float) -> bool | None:
    """True or False where even the margin agrees, None where the rounds can't tell."""
    cost = found["median"] - 1
    if cost + found["margin"] <= limit:
        return True
    return False if cost - found["margin"] > limit else None


def step_limit(milliseconds: float) -> float:
    """The promise: at most 2 % where a step takes about 1 ms, 0.5 % from 10 ms on."""
    return 0.02 if milliseconds < 8 else 0.005
