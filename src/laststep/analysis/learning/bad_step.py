"""The first step with a NaN or Inf: where it was, whether it did damage, what was not finite in it."""

from __future__ import annotations

import math

from laststep.analysis.finding import Evidence
from laststep.analysis.learning.site import Site, compact, loss_of, sites
from laststep.record.events.numbers import BadValues
from laststep.record.events.training import Epoch
from laststep.record.run import Run


def bad_site(run: Run) -> Site | None:
    """The site of the first NaN or Inf, if it did damage: a step that loss scaling skips does none."""
    found = [site for site in sites(run) if site.bad_step is not None]
    first = min(found, key=lambda site: site.bad_step.time if site.bad_step else 0.0, default=None)
    return first if first is not None and is_harmful(first) else None


def is_harmful(site: Site) -> bool:
    """Weights became NaN or Inf, or the loss did not recover; True where nothing more is known."""
    if site.bad_step is None or any(reading.broken for reading in site.readings):
        return site.bad_step is not None
    metrics = [epoch.metrics for epoch in site.run.all(Epoch) if epoch.time > site.bad_step.time]
    losses = [values["loss"] for values in metrics if "loss" in values]
    if losses:
        return not math.isfinite(losses[-1])
    after = site.bad_step.step + 1
    if not site.run.fits and any(step.number > after and math.isfinite(step.loss) for step in site.run.steps):
        return False
    return not site.scales_loss or not math.isfinite(loss_of(site.readings[-1]))


def bad_inputs(site: Site) -> dict[str, BadValues]:
    """The tensors given to the first bad step that contain NaN or Inf."""
    given = site.bad_step.inputs if site.bad_step is not None else {}
    return {name: values for name, values in given.items() if name != "y_pred"}


def bad_predictions(site: Site) -> BadValues | None:
    """The NaN and Inf in the predictions of the first bad step; None where all were finite, or not recorded."""
    return site.bad_step.inputs.get("y_pred") if site.bad_step is not None else None


def weights_were_bad(site: Site) -> bool:
    """Every prediction is NaN, and it is not the first step: the weights were NaN before this step began."""
    bad = bad_predictions(site)
    return bad is not None and bad.nan == bad.of > 1 and site.bad_step is not None and site.bad_step.step > 1


def bad_step_evidence(site: Site) -> Evidence:
    """Which step it was, and what was not finite in it."""
    assert site.bad_step is not None
    predictions, bad, good = bad_predictions(site), site.bad_step.grads, site.bad_step.finite
    says = f"step {site.bad_step.step:,} is the first with NaN or Inf: loss {compact(loss_of(site.bad_step))}"
    if predictions is not None:
        says += f", {predictions.nan + predictions.inf:,} of {predictions.of:,} predictions not finite"
    if bad:
        says += f", gradients of {len(bad)} of {len(bad) + len(good)} variables not finite"
    return Evidence(says, (site.bad_step,))
