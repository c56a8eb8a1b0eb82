"""Baseline: the loss and accuracy of the best constant prediction. NaN where they are not known."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from laststep.analysis.learning.cross_entropy import CrossEntropy, are_probabilities, cross_entropy_of
from laststep.analysis.learning.outputs import SQUARED, Output, outputs_of, plain_name
from laststep.analysis.learning.site import UNSEEN, Site, or_nan

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
    floor: float = 0.0  # the lowest loss that these targets allow: their entropy
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
    if weighted:
        return Baseline(accuracy=_accuracy(found[0]))
    soft = cross_entropy_of(found[0])
    slack = MAE_SLACK if plain_name(found[0].loss) in ABSOLUTE else soft.error
    loss, error = _loss(found[0], soft), slack + _relative_error(found[0])
    return Baseline(loss, _accuracy(found[0]), slack, error, soft.floor)


def _loss(output: Output, soft: CrossEntropy) -> float:
    y, name = output.y, plain_name(output.loss)
    spreads = y.column_stds or (or_nan(y.std),)
    if "focal" in name:
        return math.nan
    if soft.constant > 0:
        return soft.constant
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
    if are_probabilities(y) and (output.kind == "binary" or y.distinct == (0.0, 1.0)):
        return max(mean, 1 - mean)
    return 1 / _classes(output) if output.kind == "sparse" and _classes(output) > 1 else math.nan


def _relative_error(output: Output) -> float:
    """Two standard errors of the targets' variance, which is estimated from a sample of the rows."""
    if output.kind != "regression":
        return 0.0
    columns = max(1, len(output.y.column_stds))
    return 2 * math.sqrt(2 * columns / max(output.y.values, 32))
