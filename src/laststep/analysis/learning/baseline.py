"""Baseline: the loss and accuracy of the best constant prediction. NaN where they are not known."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.analysis.learning.outputs import SQUARED, Output, outputs_of, plain_name
from laststep.analysis.learning.site import UNSEEN, Site, or_nan
from laststep.record.events.numbers import TensorStatistics

ABSOLUTE = {"meanabsoluteerror", "mae"}
NORMAL_DEVIATION = 0.8  # mean absolute deviation of a normal distribution, in standard deviations
MAE_SLACK = 0.25  # how much larger it may be for another distribution, as a share of it
MIN_TARGETS_PER_UNIT = 20  # with fewer, a class may not have been seen yet


@dataclass(frozen=True)
class Baseline:
    """The best constant prediction."""

    loss: float = math.nan
    accuracy: float = math.nan  # the share of the most frequent class
    slack: float = 0.0  # how far the true value may lie above `loss`, as a share of it: the distribution is not known
    error: float = 0.0  # how far off `loss` may be in either direction, as a share of it
    squared_error: float = math.nan  # only for a custom loss, which may be a squared error


def baseline_of(site: Site) -> Baseline:
    """Of a site with one loss; a sum of several cannot be compared with anything."""
    found = outputs_of(site)
    if not found:
        y = site.tensors.get("y", UNSEEN)
        spread = math.nan if y.whole else or_nan(y.std)
        return Baseline(squared_error=spread * spread or math.nan)
    if len(found) > 1 or found[0].y == UNSEEN:
        return Baseline()
    weighted = any(name.startswith("sample_weight") for name in site.tensors)  # then the loss has another scale
    slack = MAE_SLACK if plain_name(found[0].loss) in ABSOLUTE else 0.0
    loss = math.nan if weighted else _loss(found[0])
    return Baseline(loss, _accuracy(found[0]), slack, slack + _relative_error(found[0]))


def _loss(output: Output) -> float:
    y, name = output.y, plain_name(output.loss)
    means = y.column_means or (or_nan(y.mean),)
    spreads = y.column_stds or (or_nan(y.std),)
    if "focal" in name:
        return math.nan
    if output.kind == "binary" and _are_probabilities(y):
        return statistics.fmean(_entropy((mean, 1 - mean)) for mean in means)
    if output.kind == "categorical" and _are_probabilities(y) and sum(means) > 0:  # multi-hot rows sum to more than 1
        return sum(means) * _entropy(mean / sum(means) for mean in means)
    if output.kind == "sparse" and _classes(output) > 1:
        return math.log(_classes(output))
    if name in SQUARED:
        return statistics.fmean(spread * spread for spread in spreads)
    return NORMAL_DEVIATION * statistics.fmean(spreads) if name in ABSOLUTE else math.nan


def _classes(output: Output) -> int:
    """The number of distinct labels; of units where too many labels are distinct, or too few were seen."""
    seen, units = len(output.y.distinct), output.units or 0
    if not output.y.whole:
        return 0
    return seen if seen and output.y.values >= MIN_TARGETS_PER_UNIT * units else max(seen, units)


def _accuracy(output: Output) -> float:
    y, mean = output.y, or_nan(output.y.mean)
    if output.kind == "categorical" and y.column_means:
        return max(y.column_means)
    if _are_probabilities(y) and (output.kind == "binary" or y.distinct == (0.0, 1.0)):
        return max(mean, 1 - mean)
    return 1 / _classes(output) if output.kind == "sparse" and _classes(output) > 1 else math.nan


def _relative_error(output: Output) -> float:
    """Two standard errors of the targets' variance, which is estimated from a sample of the rows."""
    if output.kind != "regression":
        return 0.0
    columns = max(1, len(output.y.column_stds))
    return 2 * math.sqrt(2 * columns / max(output.y.values, 32))


def _are_probabilities(y: TensorStatistics) -> bool:
    return or_nan(y.low) >= 0 and or_nan(y.high) <= 1


def _entropy(shares: Iterable[float]) -> float:
    return -sum(share * math.log(share) for share in shares if 0 < share < 1)
