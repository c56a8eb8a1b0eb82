"""What grew before the first bad step and why: the rate, the size of the data, the gradients themselves."""

from __future__ import annotations

import math

from laststep import text as words
from laststep.analysis.learning.bad_step import bad_inputs, bad_predictions, bad_site
from laststep.analysis.learning.constant import constant_of
from laststep.analysis.learning.scale import large_inputs, large_targets, only_inputs, reach
from laststep.analysis.learning.site import UNSEEN, Site, gradient, length, loss_of, tell
from laststep.analysis.learning.weights import LONG, TOO_LONG, drawn, is_high, stride
from laststep.record.run import Run

HUGE = 1e15  # no loss that means something


def grew(site: Site) -> str:
    """What became too large before the first bad step, or with it; "" where all was of an ordinary size."""
    return _loss_grew(site) or _norms_grew(site) or _guess_grew(site) or _long_stride(site) or _drawn_long(site)


def _loss_grew(site: Site) -> str:
    losses = _losses(site)
    if not losses:
        return ""
    floor = constant_of(site).loss
    if losses[0] > 1000 * floor > 0:
        return f"the first loss was {tell(losses[0])}, where one constant answer would give {tell(floor)}"
    if max(losses[1:], default=0.0) > 10 * abs(losses[0]) > 0:
        return f"the loss went from {tell(losses[0])} to {tell(max(losses[1:]))}"
    return f"the loss was {tell(max(losses))}" if max(losses) > HUGE else ""


def _losses(site: Site) -> list[float]:
    """Up to the first bad step, that one too where it has one."""
    bad, at = (site.bad.step, loss_of(site.bad)) if site.bad is not None else (math.inf, math.nan)
    before = [step.loss for step in site.run.steps if step.number < bad and math.isfinite(step.loss)]
    before = before if len(before) > 1 else [loss_of(reading) for reading in site.good]
    return before + ([at] if math.isfinite(at) else [])


def _norms_grew(site: Site) -> str:
    for of, norms in (("gradients", [gradient(reading) for reading in site.good]), ("weights", _weights(site))):
        if len(norms) > 1 and max(norms) > (100 if of == "gradients" else 20) * norms[0] > 0:
            return f"the {of} grew from {tell(norms[0])} to {tell(max(norms))}"
    return ""


def _weights(site: Site) -> list[float]:
    norms = [length(reading.weights.values()) for reading in site.readings]
    return [norm for norm in norms if math.isfinite(norm) and norm > 0]


def _guess_grew(site: Site) -> str:
    y, guess = (reach(site.tensors.get(name, UNSEEN)) for name in ("y", "y_pred"))
    if guess > 1e4 * max(1.0, y):
        return f"the predictions had reached {tell(guess)}"
    bad = bad_predictions(site)
    if bad is not None and bad.inf == bad.of > 0:
        return "all predictions were infinite: too large for their type"
    return ""


def _long_stride(site: Site) -> str:
    first = next((stride(site, reading) for reading in site.good), math.nan)
    return f"the first step was {tell(first)} times as long as all weights together" if first > 1 else ""


def _drawn_long(site: Site) -> str:
    """Bad at once, in a model whose weights were drawn far too large: it grows on its way through the layers."""
    if site.bad is None or site.bad.step > 2 or bad_predictions(site) is None:
        return ""
    times = drawn(site)
    layer = max(times, key=lambda layer: times[layer], default="")
    told = f"the weights of {layer} were drawn {tell(times[layer])} times as long as usual" if layer else ""
    return told if layer and times[layer] > TOO_LONG else ""


def growth_cause(site: Site) -> str:
    """Why numbers grow: the rate where it is no ordinary one, then the scale of the data, else the gradients."""
    if any(is_high(site, site.rate(reading)) for reading in site.readings):
        return "learning-rate-too-high"
    if large_targets(site):
        return "unscaled-targets"
    return "unscaled-inputs" if large_inputs(site) or only_inputs(site) else "exploding-gradients"


def blown_up(run: Run, cause: str) -> tuple[Site, str] | None:
    """The site whose numbers grew until they were none, if for this cause; and what grew."""
    site = bad_site(run)
    if site is None or bad_inputs(site) or site.is_half:
        return None
    sign = grew(site) or hurried(site)
    return (site, sign) if sign and growth_cause(site) == cause else None


def hurried(site: Site) -> str:
    """Plain SGD, whose steps know no bound, and an infinite loss before anybody looked again: it may have grown."""
    assert site.bad is not None
    step, last = site.bad.step, site.good[-1].step if site.good else 0
    seen = [found.number for found in site.run.steps if last < found.number < step and math.isfinite(found.loss)]
    if seen or site.optimizer_class != "SGD" or step - last <= 2 or loss_of(site.bad) != math.inf:
        return ""
    if not site.good:
        return f"the loss was infinite in step {step}, and nothing was seen of the steps before"
    part, after = stride(site, site.good[0]), words.count(step - last, "step")
    return f"a step changed the weights by {part:.0%}, and {after} later the loss was infinite" if part > LONG else ""
