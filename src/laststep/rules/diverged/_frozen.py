"""A fit in which no gradient is taken, because all layers were frozen when it was compiled."""

from __future__ import annotations

import math

from laststep.rules.diverged._outputs import table
from laststep.run import Fit, Run


def is_frozen(run: Run, fit: Fit) -> bool:
    """A fit of many steps without any gradient, whose loss stays where it is."""
    model, told = table(fit.began.get("model")), fit.began.get("strategy")
    losses = [table(epoch.get("metrics")).get("loss") for epoch in fit.epochs]
    steady = [loss for loss in losses if isinstance(loss, float) and math.isfinite(loss)]
    unseen = run.has("gradients") or told not in (None, "_DefaultDistributionStrategy") or fit.began.get("run_eagerly")
    if unseen or not model.get("parameters") or len(steady) < 3 or not _probe_is_there(run):
        return False
    return model.get("trainable") == 0 or max(steady) - min(steady) < 0.01 * abs(steady[0])


def _probe_is_there(run: Run) -> bool:
    """TensorFlow's own: with another backend gradients are taken where nobody looks."""
    return any("tensorflow" in str(event.data) for event in run.all("versions"))
