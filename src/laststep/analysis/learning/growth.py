"""What grew before the first NaN or Inf, and why: the learning rate, the scale of the data, or the gradients."""

from __future__ import annotations

import math

from laststep.analysis.learning.bad_step import bad_inputs, bad_predictions, bad_site
from laststep.analysis.learning.baseline import baseline_of
from laststep.analysis.learning.scale import implied_input_scale, large_inputs, large_targets, max_abs
from laststep.analysis.learning.site import UNSEEN, Site, compact, gradient_norm, loss_of, norm
from laststep.analysis.learning.weights import (
    MAX_STARTING_SCALE,
    MIN_LARGE_UPDATE,
    is_high_rate,
    relative_update,
    starting_scales,
)
from laststep.record.run import Run
from laststep.text import format_count

MAX_PLAUSIBLE_LOSS = 1e15
MIN_GRADIENT_GROWTH, MIN_WEIGHT_GROWTH = 100.0, 20.0  # times the first norm


def growth(site: Site) -> str:
    """What became too large before the first NaN or Inf, or with it; "" where all was of ordinary size."""
    return (
        _loss_grew(site)
        or _norms_grew(site)
        or _predictions_grew(site)
        or _large_first_update(site)
        or _large_weights(site)
    )


def _loss_grew(site: Site) -> str:
    losses = _losses(site)
    if not losses:
        return ""
    constant = baseline_of(site).loss
    if losses[0] > 1000 * constant > 0:
        return f"the first loss was {compact(losses[0])}; a constant prediction would give {compact(constant)}"
    if max(losses[1:], default=0.0) > 10 * abs(losses[0]) > 0:
        return f"the loss rose from {compact(losses[0])} to {compact(max(losses[1:]))}"
    return f"the loss reached {compact(max(losses))}" if max(losses) > MAX_PLAUSIBLE_LOSS else ""


def _losses(site: Site) -> list[float]:
    """Up to the first bad step, including it where its loss is finite."""
    bad, at = (site.bad_step.step, loss_of(site.bad_step)) if site.bad_step is not None else (math.inf, math.nan)
    before = [step.loss for step in site.run.steps if step.number < bad and math.isfinite(step.loss)]
    before = before if len(before) > 1 else [loss_of(reading) for reading in site.good]
    return before + ([at] if math.isfinite(at) else [])


def _norms_grew(site: Site) -> str:
    gradients = [gradient_norm(reading) for reading in site.good]
    weights = [norm(reading.weights.values()) for reading in site.readings]
    weights = [each for each in weights if math.isfinite(each) and each > 0]
    for name, norms, least in (("gradient", gradients, MIN_GRADIENT_GROWTH), ("weight", weights, MIN_WEIGHT_GROWTH)):
        if len(norms) > 1 and max(norms) > least * norms[0] > 0:
            return f"the {name} norm grew from {compact(norms[0])} to {compact(max(norms))}"
    return ""


def _predictions_grew(site: Site) -> str:
    y, y_pred = (max_abs(site.tensors.get(name, UNSEEN)) for name in ("y", "y_pred"))
    if y_pred > 1e4 * max(1.0, y):
        return f"the predictions reached {compact(y_pred)}"
    bad = bad_predictions(site)
    if bad is not None and bad.inf == bad.of > 0:
        return "all predictions overflowed to Inf"
    return ""


def _large_first_update(site: Site) -> str:
    first = next((relative_update(site, reading) for reading in site.good), math.nan)
    return f"the first update was {compact(first)} times the norm of all weights" if first > 1 else ""


def _large_weights(site: Site) -> str:
    """NaN or Inf at once, in a model with far too large weights: values grow from layer to layer."""
    if site.bad_step is None or site.bad_step.step > 2 or bad_predictions(site) is None:
        return ""
    scales = starting_scales(site)
    layer = max(scales, key=lambda layer: scales[layer], default="")
    if not layer or scales[layer] <= MAX_STARTING_SCALE:
        return ""
    return f"the weights of {layer} had {compact(scales[layer])} times the usual initial norm"


def growth_cause(site: Site) -> str:
    """Why numbers grow: a high learning rate comes first, then the scale of the data, else the gradients."""
    if any(is_high_rate(site, site.rate(reading)) for reading in site.readings):
        return "learning-rate-too-high"
    if large_targets(site):
        return "unscaled-targets"
    return "unscaled-inputs" if large_inputs(site) or implied_input_scale(site) else "exploding-gradients"


def blow_up(run: Run, cause: str) -> tuple[Site, str] | None:
    """The site whose numbers grew until they overflowed, if for this cause; and what grew."""
    site = bad_site(run)
    if site is None or bad_inputs(site) or site.is_half:
        return None
    grew = growth(site) or unseen_growth(site)
    return (site, grew) if grew and growth_cause(site) == cause else None


def unseen_growth(site: Site) -> str:
    """Plain SGD, whose updates are not bounded, and an Inf loss between two readings: numbers may have grown."""
    assert site.bad_step is not None
    step, last = site.bad_step.step, site.good[-1].step if site.good else 0
    seen = [found.number for found in site.run.steps if last < found.number < step and math.isfinite(found.loss)]
    if seen or site.optimizer_class != "SGD" or step - last <= 2 or loss_of(site.bad_step) != math.inf:
        return ""
    if not site.good:
        return f"the loss was Inf in step {step}, and no step before it was sampled"
    share, later = relative_update(site, site.good[0]), format_count(step - last, "step")
    if not share > MIN_LARGE_UPDATE:
        return ""
    return f"one update changed the weights by {share:.0%}, and {later} later the loss was Inf"
