"""The learning rate over a training: its values, and whether it dropped long before the end."""

from __future__ import annotations

import math
from collections.abc import Mapping

from laststep.analysis.learning.site import Site, or_nan
from laststep.analysis.learning.weights import default_rate
from laststep.record.decode import Scalar
from laststep.record.run import Run

MAX_DROPPED_RATE = 0.01  # as a share of the highest rate
MAX_DROPPED_AT = 0.25  # share of the steps: a schedule that works comes down later
HIGHER_IS_BETTER = ("acc", "auc", "precision", "recall", "f1")  # in the name of a metric


def rates_of(site: Site) -> tuple[float, ...]:
    """Of all readings in which it is known."""
    return tuple(rate for reading in site.readings if math.isfinite(rate := site.rate(reading)))


def dropped_early(site: Site) -> bool:
    """It dropped for good in the first quarter of the steps, and not because of a plateau."""
    rates = [(reading.step, rate) for reading in site.readings if math.isfinite(rate := site.rate(reading))]
    initial = or_nan(site.optimizer.learning_rate)
    highest = max([rate for _, rate in rates] + [initial if math.isfinite(initial) else 0.0])
    low = MAX_DROPPED_RATE * (highest or default_rate(site))  # a schedule may be at 0 in the first reading
    step = next((step for step, rate in rates if rate < low), None)
    if step is None or not site.steps or rates[-1][1] >= low or step > MAX_DROPPED_AT * site.steps:
        return False
    plateau = plateau_settings(site.run)
    return not plateau or _has_wrong_mode(plateau)


def plateau_settings(run: Run) -> Mapping[str, Scalar]:
    """Of the callback ReduceLROnPlateau; empty where it is not used."""
    callbacks = run.fit.began.callbacks if run.fit else ()
    return next((callback.values for callback in callbacks if callback.class_name == "ReduceLROnPlateau"), {})


def _has_wrong_mode(plateau: Mapping[str, Scalar]) -> bool:
    """It treats a lower accuracy, or a higher loss, as an improvement."""
    should_rise = any(word in str(plateau.get("monitor")) for word in HIGHER_IS_BETTER)
    return plateau.get("mode") == ("min" if should_rise else "max")
