"""What always giving the same answer would reach: its loss, how often it is right. NaN where that is not known."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.analysis.learning.outputs import SQUARED, Output, outputs_of, plain_name
from laststep.analysis.learning.site import UNSEEN, Site, or_nan
from laststep.record.events.numbers import TensorStatistics

ABSOLUTE = {"meanabsoluteerror", "mae"}
NORMAL, ROUGH = 0.8, 0.25  # mean distance from the middle, in spreads; of another distribution up to a quarter more
SURELY_SEEN = 20  # targets for each unit: with fewer there may be classes that nobody saw


@dataclass(frozen=True)
class Constant:
    """The best of all constant answers."""

    loss: float = math.nan
    right: float = math.nan  # the share of samples of the commonest class
    rough: float = 0.0  # how far above this the loss may lie, as a part of it: the distribution is not known
    doubt: float = 0.0  # how far off it may be at all
    squared: float = math.nan  # its squared error, for a loss of the program's own: that may be one


def constant_of(site: Site) -> Constant:
    """Of a site with one loss: a sum of several has no yardstick."""
    found = outputs_of(site)
    if not found:
        y = site.tensors.get("y", UNSEEN)
        spread = math.nan if y.whole else or_nan(y.std)
        return Constant(squared=spread * spread or math.nan)
    if len(found) > 1 or found[0].y == UNSEEN:
        return Constant()
    weighted = any(name.startswith("sample_weight") for name in site.tensors)  # then the loss has another scale
    rough = ROUGH if plain_name(found[0].loss) in ABSOLUTE else 0.0
    loss = math.nan if weighted else _loss(found[0])
    return Constant(loss, _right(found[0]), rough, rough + _doubt(found[0]))


def _loss(output: Output) -> float:
    y, name = output.y, plain_name(output.loss)
    means = y.column_means or (or_nan(y.mean),)
    spreads = y.column_stds or (or_nan(y.std),)
    if "focal" in name:
        return math.nan
    if output.kind == "binary" and _are_shares(y):
        return statistics.fmean(_entropy((mean, 1 - mean)) for mean in means)
    if output.kind == "categorical" and _are_shares(y) and sum(means) > 0:  # rows of several classes sum to more than 1
        return sum(means) * _entropy(mean / sum(means) for mean in means)
    if output.kind == "sparse" and _classes(output) > 1:
        return math.log(_classes(output))
    if name in SQUARED:
        return statistics.fmean(spread * spread for spread in spreads)
    return NORMAL * statistics.fmean(spreads) if name in ABSOLUTE else math.nan


def _classes(output: Output) -> int:
    """As many as there are labels; as there are units where there are too many labels, or too few were seen."""
    seen, units = len(output.y.distinct), output.units or 0
    if not output.y.whole:
        return 0
    return seen if seen and output.y.values >= SURELY_SEEN * units else max(seen, units)


def _right(output: Output) -> float:
    y, mean = output.y, or_nan(output.y.mean)
    if output.kind == "categorical" and y.column_means:
        return max(y.column_means)
    if _are_shares(y) and (output.kind == "binary" or y.distinct == (0.0, 1.0)):
        return max(mean, 1 - mean)
    return 1 / _classes(output) if output.kind == "sparse" and _classes(output) > 1 else math.nan


def _doubt(output: Output) -> float:
    """The spread of the targets is known from some of the rows: two standard errors."""
    if output.kind != "regression":
        return 0.0
    columns = max(1, len(output.y.column_stds))
    return 2 * math.sqrt(2 * columns / max(output.y.values, 32))


def _are_shares(y: TensorStatistics) -> bool:
    return or_nan(y.low) >= 0 and or_nan(y.high) <= 1


def _entropy(shares: Iterable[float]) -> float:
    return -sum(share * math.log(share) for share in shares if 0 < share < 1)
