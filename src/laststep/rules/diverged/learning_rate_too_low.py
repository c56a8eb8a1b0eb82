"""The learning rate is too low."""

from __future__ import annotations

import math
from typing import Any

from laststep.analysis.finding import Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import Learning, learning_of, steady_site, sureness
from laststep.analysis.learning.site import SYMPTOMS, Site, tell
from laststep.analysis.learning.weights import default_rate
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.record.torn import entries, number, table
from laststep.rules.rule import Answer, rule

HARDLY = 0.02  # of their length, all updates of the whole run together
COLLAPSED = 0.01  # of the highest rate that was seen
EARLY = 0.25  # of the steps: a schedule that ends well comes down later
LEFT = 0.5  # of the loss of one constant answer: more than half of what could be learnt is not


@rule(needs=("recorder",), outranks=(*SYMPTOMS, "learning-rate-too-high"))
def learning_rate_too_low(run: Run) -> Answer:
    """The learning rate is so low that the model stays where it began.

    What happened
        The gradients are there, but each update is tiny: after all steps the weights are nearly those of the start.
        The rate itself is tiny, or a schedule brought it down long before anything was learnt: one that counts steps
        was given epochs, a decay meant for each epoch is done in each step, a callback watches the wrong way round.

    How laststep knows
        The weights are compared between looks: all updates together are less than a fiftieth of the weights. Or the
        rate fell below a hundredth of its highest value in the first quarter of the steps, not because of a plateau.
        And the loss is no better than one constant answer would give, or not much.

    What to do
        Take the rate that is shown. Give a schedule its length in steps: epochs times steps_per_epoch.

    Not to be confused with
        weights-not-updating (nothing moves at all), vanishing-gradients (only the early layers do not move),
        unscaled-targets (the weights move, but the way is too long).
    """
    site = steady_site(run)
    if site is None:
        return no("no training that could be judged by its updates")
    moved, turned = _moved(site), _turned(site)
    slow = 0 < moved < HARDLY and _all_pull(site)
    if not slow and turned is None:
        return measured(f"the updates together are {moved:.0%} of the weights") if moved == moved else no("not known")
    learning = learning_of(run)
    trouble = learning.trouble or (_unfinished(learning) if turned is not None else None)
    if trouble is None or (turned is None and _may_be_tuning(site, learning)):
        return measured("it learns with this rate, or is only being tuned")
    return _finding(run, site, trouble, moved, turned)


def _may_be_tuning(site: Site, learning: Learning) -> bool:
    """A loss of which is not known what is good, and a rate that one takes for a model that was trained before."""
    return math.isnan(learning.share) and max(map(site.rate, site.looks), default=0.0) > default_rate(site) / 1000


def _unfinished(learning: Learning) -> Evidence | None:
    """It learnt something before the rate came down, and most is left."""
    if not learning.share > LEFT:
        return None
    last, floor = learning.losses.last, learning.constant.loss
    told = f"the loss stayed at {tell(last)}; one constant answer would reach {tell(floor)}"
    return Evidence(told, learning.losses.events, learning.losses.points)


def _moved(site: Site) -> float:
    """All updates together as a part of the weights, of the layer that moved most."""
    path: dict[str, float] = {}
    for look in site.looks:
        for layer, value in look.raw["moved"].items():
            path[layer] = path.get(layer, 0.0) + value
    first = site.looks[0].raw["weights"]
    return max((path[layer] / first[layer] for layer in path if first.get(layer, 0.0) > 0), default=math.nan)


def _all_pull(site: Site) -> bool:
    """Each layer has a gradient, and one that is no accident of rounding."""
    last = site.good[-1].raw["grads"] if site.good else {}
    return bool(last) and all(value > 1e-8 for value in last.values() if value == value)


def _turned(site: Site) -> float | None:
    """By which part of its steps the rate had come down for good; None where it had not, or late, or for a plateau."""
    rates = [(look.raw["step"], site.rate(look)) for look in site.looks if math.isfinite(site.rate(look))]
    asked = number(site.settings.get("learning_rate"))
    highest = max([rate for _, rate in rates] + [asked if math.isfinite(asked) else 0.0])
    few = COLLAPSED * highest or COLLAPSED * default_rate(site)  # a schedule may be at 0 when it is first looked at
    low = next((step for step, rate in rates if rate < few), None)
    if low is None or not site.steps or rates[-1][1] >= few or low > EARLY * site.steps:
        return None
    plateau = _plateau(site.run)
    return None if plateau and not _is_turned_round(plateau) else low / site.steps


def _plateau(run: Run) -> dict[str, Any]:
    held = map(table, entries(run.fit.began.get("callbacks"))) if run.fit else ()
    return next((table(item.get("values")) for item in held if item.get("class") == "ReduceLROnPlateau"), {})


def _is_turned_round(plateau: dict[str, Any]) -> bool:
    """It waits for an accuracy to fall, or for a loss to rise."""
    rises = any(word in str(plateau.get("monitor")) for word in ("acc", "auc", "precision", "recall", "f1"))
    return plateau.get("mode") == ("min" if rises else "max")


def _finding(run: Run, site: Site, trouble: Evidence, moved: float, turned: float | None) -> Finding:
    rates = [site.rate(look) for look in site.looks if math.isfinite(site.rate(look))]
    last, highest = (rates[-1], max(rates)) if rates else (math.nan, math.nan)
    if turned is None:
        cause = f"The learning rate of {tell(highest)} is too low: all updates together are {moved:.2%} of the weights."
        value = float(f"{_try(site, highest, moved):.1g}")
        trial = {"learning_rate": value}
        remedy = Remedy("Take a higher learning rate", f"learning_rate={value}", site.rate_set_at, trial=trial)
    else:
        cause = f"The learning rate came down to {tell(last)} before anything was learnt."
        held = _plateau(run)
        turns = f"ReduceLROnPlateau watches {held.get('monitor')} with mode={held.get('mode')!r}"
        told = turns if held else "a schedule counts steps, not epochs"
        rate = highest or default_rate(site)  # a schedule may be at 0 when it is first looked at
        stays = {"learning_rate": rate, "says": f"The rate stays at {tell(rate)}"}
        remedy = Remedy(f"Look at what lowers the rate: {told}", None, site.rate_set_at, trial=None if held else stays)
    told = f"the rate was {tell(highest)} at most, {tell(last)} in the end; Keras takes {tell(default_rate(site))}"
    evidence = [trouble, Evidence(told, site.looks[-1:], tuple(rates))]
    if turned is None:
        evidence.append(Evidence(f"all updates seen together are {moved:.2%} of the weights", site.looks[-1:]))
    return Finding(
        cause=cause,
        confidence=sureness(site),
        evidence=(*evidence, progress(run)),
        remedies=(remedy,), where=site.rate_set_at,
    )  # fmt: skip


def _try(site: Site, rate: float, moved: float) -> float:
    """One that would have moved the weights by their own length, and no more than Keras's default."""
    return min(default_rate(site), rate / moved if moved > 0 else math.inf)
