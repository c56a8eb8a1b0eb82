"""The first step with a number that is none: where it was, whether it did harm, what was bad in it."""

from __future__ import annotations

import math

from laststep.analysis.finding import Evidence
from laststep.analysis.learning.site import Site, loss_of, sites, tell
from laststep.record.events.numbers import BadValues
from laststep.record.events.training import Epoch
from laststep.record.run import Run


def bad_site(run: Run) -> Site | None:
    """Where the first number was that is none, if it did harm: a step that is tried and skipped does none."""
    found = [site for site in sites(run) if site.bad is not None]
    first = min(found, key=lambda site: site.bad.time if site.bad else 0.0, default=None)
    return first if first is not None and did_harm(first) else None


def did_harm(site: Site) -> bool:
    """Whether weights were broken, or the loss was bad to the end; where nothing more is known, it did."""
    if site.bad is None or any(reading.broken for reading in site.readings):
        return site.bad is not None
    metrics = [epoch.metrics for epoch in site.run.all(Epoch) if epoch.time > site.bad.time]
    losses = [held["loss"] for held in metrics if "loss" in held]
    if losses:
        return not math.isfinite(losses[-1])
    after = site.bad.step + 1
    if not site.run.fits and any(s.number > after and math.isfinite(s.loss) for s in site.run.steps):
        return False
    return not site.scales_loss or not math.isfinite(loss_of(site.readings[-1]))


def bad_inputs(site: Site) -> dict[str, BadValues]:
    """What the first bad step was given that is NaN or Inf."""
    given = site.bad.inputs if site.bad is not None else {}
    return {name: values for name, values in given.items() if name != "y_pred"}


def bad_predictions(site: Site) -> BadValues | None:
    """Of the first bad step: how many, of how many; None where all were finite, or not seen."""
    return site.bad.inputs.get("y_pred") if site.bad is not None else None


def is_late(site: Site) -> bool:
    """Every prediction is bad after good steps: it was the weights, which a step before this one had broken."""
    bad = bad_predictions(site)
    return bad is not None and bad.nan == bad.of > 1 and site.bad is not None and site.bad.step > 1


def first_bad(site: Site) -> Evidence:
    """Which step it was, and what was bad in it."""
    assert site.bad is not None
    predictions, bad, good = bad_predictions(site), site.bad.grads, site.bad.finite
    says = f"step {site.bad.step:,} was the first bad one: loss {tell(loss_of(site.bad))}"
    if predictions is not None:
        says += f", {predictions.nan + predictions.inf:,} of {predictions.of:,} predictions not finite"
    if bad:
        says += f", gradients of {len(bad)} of {len(bad) + len(good)} variables not finite"
    return Evidence(says, (site.bad,))
