"""A cross-entropy of targets that are probabilities: the loss of the best constant prediction, and the lowest possible.

Soft targets (of a teacher, of an autoencoder, or smoothed labels) have an entropy, and no model gets below it. What a
model can learn is the part between the two.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.analysis.learning.outputs import Output, plain_name
from laststep.analysis.learning.site import or_nan
from laststep.record.events.numbers import TensorStatistics


@dataclass(frozen=True)
class CrossEntropy:
    """The range in which the loss of a model that learns something lies. NaN where it is not known."""

    constant: float = math.nan
    floor: float = 0.0
    error: float = 0.0  # how far off `floor` may be, as a share of the distance: rows were sampled


def cross_entropy_of(output: Output) -> CrossEntropy:
    y = output.y
    if "focal" in plain_name(output.loss):
        return CrossEntropy()
    means = y.column_means or (or_nan(y.mean),)
    if output.kind == "binary" and are_probabilities(y):
        constant = statistics.fmean(_entropy_of_yes(_smoothed(mean, output, 2)) for mean in means)
        smoothed = _entropy_of_yes(output.label_smoothing / 2)
        return _range(constant, smoothed, y.entropy, math.log(2) * 4 * _mean_product(y))
    if output.kind == "categorical" and are_probabilities(y) and sum(means) > 0:
        # Multi-hot rows sum to more than 1: the loss is a sum over their classes.
        total, classes = sum(means), len(means)
        constant = total * entropy(_smoothed(mean / total, output, classes) for mean in means)
        smoothed = entropy(_smoothed(float(at == 0), output, classes) for at in range(classes))
        is_distribution = abs(total - 1) < 0.01
        return _range(constant, smoothed, y.row_entropy, classes * _mean_product(y) if is_distribution else 0.0)
    return CrossEntropy()


def _range(constant: float, smoothed: float, recorded: tuple[float, float] | None, least: float) -> CrossEntropy:
    """`least` is a lower bound of the entropy, for a record that does not hold the entropy itself."""
    found, error = recorded or (least, 0.0)
    floor = max(smoothed, found if found > 1e-6 else 0.0)
    distance = constant - floor
    if not floor > 0:
        return CrossEntropy(constant)
    return CrossEntropy(constant, floor, 2 * error / distance if distance > 0 else math.inf)


def _mean_product(y: TensorStatistics) -> float:
    """The mean of p(1 - p) over all values; 0 for targets of 0 and 1."""
    mean, spread = or_nan(y.mean), or_nan(y.std)
    product = mean - mean * mean - spread * spread
    return product if product > 1e-4 else 0.0  # what is recorded is rounded


def _smoothed(mean: float, output: Output, classes: int) -> float:
    return mean * (1 - output.label_smoothing) + output.label_smoothing / classes


def _entropy_of_yes(share: float) -> float:
    return entropy((share, 1 - share))


def entropy(shares: Iterable[float]) -> float:
    return -sum(share * math.log(share) for share in shares if 0 < share < 1)


def are_probabilities(y: TensorStatistics) -> bool:
    return or_nan(y.low) >= 0 and or_nan(y.high) <= 1
