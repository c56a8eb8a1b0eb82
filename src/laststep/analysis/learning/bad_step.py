"""The first step with a number that is none: where it was, whether it did harm, what was bad in it."""

from __future__ import annotations

import math

from laststep.analysis.finding import Evidence
from laststep.analysis.learning.record import metrics_of
from laststep.analysis.learning.site import Site, Told, loss_of, sites, tell
from laststep.record.run import Run


def bad_site(run: Run) -> Site | None:
    """Where the first number was that is none, if it did harm: a step that is tried and skipped does none."""
    found = [site for site in sites(run) if site.bad is not None]
    first = min(found, key=lambda site: site.bad.time if site.bad else 0.0, default=None)
    return first if first is not None and did_harm(first) else None


def did_harm(site: Site) -> bool:
    """Whether weights were broken, or the loss was bad to the end; where nothing more is known, it did."""
    if site.bad is None or any(look.get("broken") for look in site.looks):
        return site.bad is not None
    metrics = [metrics_of(epoch) for epoch in site.run.all("epoch") if epoch.time > site.bad.time]
    losses = [held["loss"] for held in metrics if "loss" in held]
    if losses:
        return not math.isfinite(losses[-1])
    step = site.bad.raw["step"]
    if not site.run.fits and any(s.number > step + 1 and math.isfinite(s.loss) for s in site.run.steps):
        return False
    return not site.scales_loss or not math.isfinite(loss_of(site.looks[-1]))


def bad_inputs(site: Site) -> dict[str, Told]:
    """What the first bad step was given that is NaN or Inf."""
    given = site.bad.raw["inputs"] if site.bad is not None else {}
    return {name: told for name, told in given.items() if name != "y_pred"}


def bad_predictions(site: Site) -> Told:
    """Of the first bad step: how many, of how many; {} where all were finite, or not seen."""
    return dict(site.bad.raw["inputs"].get("y_pred", {})) if site.bad is not None else {}


def is_late(site: Site) -> bool:
    """Every prediction is bad after good steps: it was the weights, which a step before this one had broken."""
    held, step = bad_predictions(site), site.bad.raw["step"] if site.bad is not None else 0
    return held.get("of", 0) > 1 and held.get("nan") == held["of"] and step > 1


def first_bad(site: Site) -> Evidence:
    """Which step it was, and what was bad in it."""
    assert site.bad is not None
    held, bad, good = bad_predictions(site), site.bad.raw["grads"], site.bad.raw["finite"]
    told = f"step {site.bad.raw['step']:,} was the first bad one: loss {tell(loss_of(site.bad))}"
    if held.get("of"):
        told += f", {held.get('nan', 0) + held.get('inf', 0):,} of {held['of']:,} predictions not finite"
    if bad:
        told += f", gradients of {len(bad)} of {len(bad) + len(good)} variables not finite"
    return Evidence(told, (site.bad,))
