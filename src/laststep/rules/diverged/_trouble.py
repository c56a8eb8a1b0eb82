"""That training does not work, and how it shows: no better than one constant answer, or than at its beginning."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from laststep.event import Event
from laststep.finding import Confidence, Evidence
from laststep.rules.diverged._numbers import Site, loss_of, number, tell

NOTHING_LEARNT = 0.97  # of the loss that one constant answer would give
FLAT = 0.95  # of the first loss


@dataclass(frozen=True)
class Trouble:
    """That training does not work, and how it shows."""

    says: str
    events: tuple[Event, ...]
    curve: tuple[float, ...]
    first: float
    last: float
    floor: float  # the loss that one constant answer would give; NaN where that is not known

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.says, self.events, self.curve)


def sureness(site: Site) -> Confidence:
    """Of a training that fails without a bad number: where targets do not depend on inputs it would fail anyway."""
    found = site.run.last("dependence") if site.bad is None else None
    independent = found is not None and number(found.get("p")) > 0.05
    return Confidence.POSSIBLE if independent else Confidence.LIKELY


def trouble_of(site: Site) -> Trouble | None:
    """That it learns nothing: no better than one constant answer, or no better than at its beginning."""
    curve, events = curve_of(site)
    if len(curve) < 3:
        return None
    last = statistics.median(curve[-max(1, len(curve) // 4) :])
    first = statistics.median(curve[: max(1, len(curve) // 10)])
    floor = constant_loss(site)
    if math.isfinite(floor) and floor > 0:
        if last < NOTHING_LEARNT * floor or _is_accurate(site):
            return None
        told = f"the loss ended at {tell(last)}; one constant answer would reach {tell(floor)}"
        return Trouble(told, events, tuple(curve), first, last, floor)
    if not last > FLAT * first or first < 0:
        return None
    return Trouble(f"the loss was {tell(first)} at first and {tell(last)} at the end", events, tuple(curve), first,
                   last, math.nan)  # fmt: skip


def curve_of(site: Site) -> tuple[list[float], tuple[Event, ...]]:
    """The loss over time: of each epoch where a fit tells it, otherwise of the steps that were looked at."""
    fit = site.run.fit
    epochs = [epoch for epoch in fit.epochs if "loss" in (epoch.get("metrics") or {})] if fit else []
    told = [number(epoch.get("metrics")["loss"]) for epoch in epochs]
    looked = [] if site.scales_loss else [loss_of(look) for look in site.good]
    chosen, events = (told, (epochs[-1],)) if len(told) >= 3 else (looked, site.looks[-1:])
    return [value for value in chosen if math.isfinite(value)], tuple(events)


def _is_accurate(site: Site) -> bool:
    """An accuracy well above that of the commonest answer."""
    fit = site.run.fit
    metrics = (fit.epochs[-1].get("metrics") or {}) if fit and fit.epochs else {}
    best = max((number(value) for name, value in metrics.items() if "acc" in name), default=math.nan)
    return best > chance(site) + 0.15


def chance(site: Site) -> float:
    """How often the commonest answer is right."""
    y = site.tensors.get("y", {})
    kinds = y.get("distinct") or []
    if y.get("one_hot") and y.get("column_means"):
        return max(number(value) for value in y["column_means"])
    mean = number(y.get("mean"))
    if kinds == [0.0, 1.0] and math.isfinite(mean):
        return max(mean, 1 - mean)
    return 1 / len(kinds) if kinds else 1.0


def constant_loss(site: Site) -> float:
    """The loss that a model reaches which gives the same answer for every sample; NaN where that is not known."""
    y = site.tensors.get("y")
    names = {str(loss.get("name")) for loss in site.losses}
    if y is None or len(names) != 1 or len(site.losses) != 1 or "sample_weight" in site.tensors:
        return math.nan
    name = names.pop().lower().replace("_", "")
    spread, mean, kinds = number(y.get("std")), number(y.get("mean")), y.get("distinct") or []
    columns = [number(value) for value in y.get("column_stds") or []] or [spread]
    if name in ("meansquarederror", "mse"):
        return sum(value * value for value in columns) / len(columns)
    if name in ("meanabsoluteerror", "mae"):
        return 0.8 * sum(columns) / len(columns)  # that of a normal distribution; of others it is less
    if name == "binarycrossentropy" and number(y.get("low")) >= 0 and number(y.get("high")) <= 1:
        means = [number(value) for value in y.get("column_means") or []] or [mean]
        return sum(_entropy(value) + _entropy(1 - value) for value in means) / len(means)
    if name == "sparsecategoricalcrossentropy" and y.get("whole"):
        width = number((site.tensors.get("y_pred", {}).get("shape") or [0])[-1])  # not all classes may have been seen
        return math.log(max(len(kinds), width)) if max(len(kinds), width) > 1 else math.nan
    if name == "categoricalcrossentropy" and y.get("one_hot"):
        return sum(_entropy(number(value)) for value in y.get("column_means") or [])
    return math.nan


def _entropy(share: float) -> float:
    return -share * math.log(share) if 0 < share < 1 else 0.0
