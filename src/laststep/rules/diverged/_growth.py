"""What grew before the first bad step and why: the rate, the scale of the data, the gradients themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from laststep.finding import Evidence, Place
from laststep.reports import words
from laststep.rules.diverged._numbers import LONG, Site, bad_site, length, loss_of, number, numbers_in, tell
from laststep.rules.diverged._trouble import constant_loss
from laststep.run import Run

HUGE = 1e15  # no loss that means something
SCALERS = ("BatchNormalization", "LayerNormalization", "Normalization", "Rescaling", "GroupNormalization", "Embedding",
           "UnitNormalization", "Discretization", "Hashing", "IntegerLookup", "CategoryEncoding")  # fmt: skip
PLAIN = ("InputLayer", "Flatten", "Reshape", "Permute", "Dropout", "Masking", "ZeroPadding2D", "Sequential")


def grew(site: Site) -> str:
    """What became too large before the first bad step, or with it; "" where all was of an ordinary size."""
    return next(
        (sign for sign in (_loss_grew(site), _norms_grew(site), _guess_grew(site), _long_stride(site)) if sign), ""
    )


def _loss_grew(site: Site) -> str:
    bad = number(site.bad.get("step")) if site.bad is not None else math.inf
    before = [step.loss for step in site.run.steps if step.number < bad and math.isfinite(step.loss)]
    before = before if len(before) > 1 else [loss_of(look) for look in site.good]
    at = number(site.bad.get("loss")) if site.bad is not None else math.nan
    losses = before + ([at] if math.isfinite(at) else [])
    if not losses:
        return ""
    floor = constant_loss(site)
    if losses[0] > 1000 * floor > 0:
        return f"the first loss was {tell(losses[0])}, where one constant answer would give {tell(floor)}"
    if max(losses[1:], default=0.0) > 10 * abs(losses[0]) > 0:
        return f"the loss went from {tell(losses[0])} to {tell(max(losses[1:]))}"
    return f"the loss was {tell(max(losses))}" if max(losses) > HUGE else ""


def _norms_grew(site: Site) -> str:
    for of, norms in (("gradients", [site.gradient(look) for look in site.good]), ("weights", _weights(site))):
        if len(norms) > 1 and max(norms) > (100 if of == "gradients" else 20) * norms[0] > 0:
            return f"the {of} grew from {tell(norms[0])} to {tell(max(norms))}"
    return ""


def _weights(site: Site) -> list[float]:
    norms = [length(numbers_in(look.get("weights")).values()) for look in site.looks]
    return [norm for norm in norms if math.isfinite(norm) and norm > 0]


def _guess_grew(site: Site) -> str:
    y, guess = _reach(site.tensors.get("y")), _reach(site.tensors.get("y_pred"))
    if guess > 1e4 * max(1.0, y):
        return f"the predictions had reached {tell(guess)}"
    held = ((site.bad.get("inputs") or {}).get("y_pred") or {}) if site.bad is not None else {}
    if held.get("of") and held.get("inf") == held.get("of"):
        return "all predictions were infinite: too large for their type"
    return ""


def _long_stride(site: Site) -> str:
    stride = next((site.stride(look) for look in site.good), math.nan)
    return f"the first step was {tell(stride)} times as long as all weights together" if stride > 1 else ""


def _reach(told: Mapping[str, Any] | None) -> float:
    held = [abs(number((told or {}).get(name))) for name in ("low", "high")]
    return max((value for value in held if math.isfinite(value)), default=0.0)


# Keras draws weights for values around 1: targets a hundred times as large make the gradients of a squared error
# 10,000 times as large, and pixels up to 255 are around 80.
LARGE, LARGE_INPUTS = 100.0, 30.0


def large(site: Site, names: Iterable[str], least: float = LARGE) -> tuple[str, float, int | None] | None:
    """The first of these tensors whose values are far from 1: its name, their size, the column where it is a table."""
    for name in names:
        sizes = [scale_of((event.get("tensors") or {}).get(name) or {}) for event in site.batches]
        if sizes and least <= sizes[-1][0] < 1e20 and sizes[-1][0] < LARGE * sizes[0][0]:  # what grows is no data
            return name, *sizes[-1]
    return None


def large_targets(site: Site) -> tuple[str, float, int | None] | None:
    """Targets that are numbers to be met, not names of classes."""
    last = str(site.losses[-1].get("name")) if site.losses else ""  # "y" is what the last one was given
    names = [name for name in site.tensors if name == "y" or name.startswith("y/")]
    return None if "crossentropy" in last.lower().replace("_", "") and len(names) == 1 else large(site, names)


def large_inputs(site: Site) -> tuple[str, float, int | None] | None:
    return None if is_scaled_inside(site) else large(site, site.inputs, LARGE_INPUTS)


def scale_of(told: Mapping[str, Any]) -> tuple[float, int | None]:
    """The typical size of a tensor's values; of a table, of the column that is largest."""
    means, stds = told.get("column_means") or [], told.get("column_stds") or []
    sizes = [math.hypot(number(mean), number(std)) for mean, std in zip(means, stds, strict=False)]
    if len(sizes) > 1:
        return max(sizes), sizes.index(max(sizes))
    whole = math.hypot(number(told.get("mean")), number(told.get("std")))
    return (whole if whole == whole else 0.0), None


def is_scaled_inside(site: Site) -> bool:
    """Whether the model itself puts its inputs in order, or takes them as names of things."""
    for layer in site.described:
        if layer.get("class") in PLAIN:
            continue
        return layer.get("class") in SCALERS
    return False


def data_place(site: Site, name: str) -> Place | None:
    """The line that made the data, where it is known; else the one that trains on it."""
    data = site.run.fit.began.get("data") if site.run.fit else None
    held = data if isinstance(data, dict) else {}
    if not name.startswith("x") and (held.get("y_made_at") or held.get("y_shape")):  # of its own
        return held.get("y_made_at") or site.where
    return held.get("made_at") or held.get("where") or site.where


def growth_cause(site: Site) -> str:
    """Why numbers grow: the rate where it is no ordinary one, then the scale of the data, else the gradients."""
    if any(site.is_high(site.rate(look)) for look in site.looks):
        return "learning-rate-too-high"
    if large_targets(site):
        return "unscaled-targets"
    return "unscaled-inputs" if large_inputs(site) or only_inputs(site) else "exploding-gradients"


def only_inputs(site: Site) -> float:
    """Of a model of one layer whose data was not seen: the size of its inputs, which the gradient tells; else 0.

    Such a model has no depth in which gradients could grow: it runs away where the rate is too high for its inputs.
    The gradient of a squared error is twice the error times the input.
    """
    kernels = [name for name, shape in site.shapes.items() if len(shape) > 1]
    if site.tensors or len(kernels) != 1 or not site.good:
        return 0.0
    look = site.good[0]
    size = site.gradient(look) / (2 * math.sqrt(loss_of(look))) if loss_of(look) > 0 else 0.0
    return size if size > LARGE else 0.0


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
    step, last = number(site.bad.get("step")), number(site.good[-1].get("step")) if site.good else 0.0
    seen = [found.number for found in site.run.steps if last < found.number < step and math.isfinite(found.loss)]
    if seen or site.optimizer != "SGD" or not step - last > 2 or number(site.bad.get("loss")) != math.inf:
        return ""
    if not site.good:
        return f"the loss was infinite in step {int(step)}, and nothing was seen of the steps before"
    stride = site.stride(site.good[0])
    after = words.count(int(step - last), "step")
    return (
        f"a step changed the weights by {stride:.0%}, and {after} later the loss was infinite" if stride > LONG else ""
    )


def bad_inputs(site: Site) -> dict[str, dict[str, Any]]:
    """What the first bad step was given that is NaN or Inf."""
    held = site.bad.get("inputs") if site.bad is not None else None
    given = held.items() if isinstance(held, dict) else ()
    return {str(name): told for name, told in given if name != "y_pred" and isinstance(told, dict)}


def is_late(site: Site) -> bool:
    """Every prediction is bad after good steps: it was the weights, which a step before this one had broken."""
    held = site.bad.data["inputs"].get("y_pred", {}) if site.bad is not None else {}
    every = number(held.get("of"))
    return every > 1 and number(held.get("nan")) == every and site.bad is not None and site.bad.data["step"] > 1


def first_bad(site: Site) -> Evidence:
    """Which step it was, and what was bad in it."""
    assert site.bad is not None
    loss, grads = number(site.bad.get("loss")), site.bad.get("grads") or []
    count = len(grads) + len(site.bad.get("finite") or [])
    told = f"step {site.bad.data['step']:,} was the first bad one: loss {tell(loss)}"
    held = (site.bad.get("inputs") or {}).get("y_pred")
    if isinstance(held, dict) and held.get("of"):
        told += f", {int(held.get('nan') or 0) + int(held.get('inf') or 0):,} of {held['of']:,} predictions not finite"
    if grads:
        told += f", gradients of {len(grads)} of {count} variables not finite"
    return Evidence(told, (site.bad,))
