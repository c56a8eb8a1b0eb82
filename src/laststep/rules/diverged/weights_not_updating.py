"""Weights stay as they are."""

from __future__ import annotations

import math

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Place, Remedy, measured, no
from laststep.analysis.learning.frozen import MOST, left_out, mostly_frozen, none_to_train, untracked
from laststep.analysis.learning.learning import LEARNS, Learning, learning_of
from laststep.analysis.learning.site import Site, last_site, latest_sites, sites
from laststep.analysis.learning.weights import shapes
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.torn import entries, number, place
from laststep.rules.rule import Answer, rule

ENOUGH_STEPS = 20
LARGE_PART = 0.2  # of the weights: less may be a head that this loss does not use
LEFT = 0.5  # of the loss of a constant answer
ROUNDED_AWAY = 1e-7  # a change this small, beside the weight, is lost in float32


@rule(needs=("recorder",), outranks=("loss-not-improving", "no-signal", "vanishing-gradients"))
def weights_not_updating(run: Run) -> Answer:
    """Weights that should learn are never changed: frozen, cut off from the loss, or their update is never applied.

    What happened
        The loss is computed and training goes on, but some or all weights stay as they are: trainable is False for the
        whole model, Keras does not know the weights of a layer, something between the weights and the loss has no
        gradient (numpy, rounding, argmax, stop_gradient), or the gradients never reach the variables.

    How laststep knows
        Keras says that there are no trainable weights; or the gradient of variables is missing where it was asked for;
        or the weights after many steps are the same, to the bit, as before, while their gradients are not 0.

    What to do
        Freeze the base only, and compile after it. Make weights with self.add_weight. Stay in TensorFlow between the
        weights and the loss. Call optimizer.apply_gradients with the variables of which the gradients were taken.

    Not to be confused with
        learning-rate-too-low (they move, but hardly), dead-activations and vanishing-gradients (the gradient is there
        and is 0), a base that is frozen on purpose while the head learns.
    """
    learning = learning_of(run)
    found = none_to_train(run, learning) or _cut_off(run, learning) or _never_applied(run, learning)
    found = found or untracked(run, learning) or mostly_frozen(run, learning) or left_out(run, learning)
    if found is not None:
        return found
    return measured("the weights move") if sites(run) else no("no gradients were seen")


def _cut_off(run: Run, learning: Learning) -> Finding | None:
    """Variables whose gradient was asked for, and of which the loss does not depend."""
    latest = latest_sites(run)
    reached = {name for site in latest for name in site.variables if name not in site.made.raw["missing"]}
    for site in latest:
        missing = site.made.raw["missing"]
        # An output that the loss leaves out is a matter of taste; what lies before an output is not.
        ends = set(site.made.raw["model"]["outputs"]) if reached else set()
        unused = [name for name in missing if set(name.split("/")[:-1]) & ends]
        lost = [name for name in missing if name not in reached and name not in unused]
        share = _share(site, lost)
        if not lost or share < LARGE_PART or (share < 1 and _does_well(learning, share)):
            continue
        whole = share >= 1
        part = f"{share:.0%} of the" if share < 0.99 else "nearly all"
        which = "any weight" if whole else f"{words.count(len(lost), 'variable')}, {part} weights"
        layer = _layer_with(site, lost[0])
        where = site.made.get("cut_at") or (layer if not whole else None) or site.where
        return Finding(
            cause=f"The loss does not depend on {which}: something between has no gradient.",
            confidence=_sure(whole, learning),
            evidence=(Evidence(f"no gradient for {', '.join(lost[:4])}{' …' if len(lost) > 4 else ''}", (site.made,)),
                      *learning.evidence),
            remedies=(Remedy("Between weights and loss use differentiable TensorFlow only: no .numpy(), no rounding, "
                             "no argmax, no stop_gradient", None, site.where),),
            where=where,
        )  # fmt: skip
    return None


def _does_well(learning: Learning, share: float) -> bool:
    """It learns without these weights; not where they are most of them, and most is left to learn."""
    return learning.verdict == LEARNS and not (share > MOST and learning.share > LEFT)


def _sure(whole: bool, learning: Learning) -> Confidence:
    return Confidence.CERTAIN if whole else Confidence.LIKELY if learning.fails else Confidence.POSSIBLE


def _share(site: Site, names: list[str]) -> float:
    sizes = {name: math.prod(shape) for name, shape in shapes(site).items()}
    total = sum(sizes.values())
    return sum(sizes.get(name, 0) for name in names) / total if total else 0.0


def _layer_with(site: Site, variable: str) -> Place | None:
    return next((layer.get("where") for layer in site.layers if variable in layer.get("weights", ())), None)


def _never_applied(run: Run, learning: Learning) -> Finding | None:
    """Gradients that are not 0, and weights that are what they were."""
    site = last_site(run)
    if site is None:
        return None
    moved = [look for look in site.looks if look.raw["moved"]]
    steps = sum(look.raw["step"] - look.raw["since"] for look in moved)
    if steps < ENOUGH_STEPS or not all(_would_show(look) for look in moved) or _move_elsewhere(run, site):
        return None
    applied = run.last("applied")
    changed = entries(applied.get("variables")) if applied is not None else []
    others = [str(name) for name in changed if name not in site.variables]
    says = f"after {steps:,} steps all weights are the same as before, to the bit; their gradients are not 0"
    told = Evidence(says, (site.looks[0], site.looks[-1]))
    other = f"the optimizer changes other variables: {', '.join(others[:3])}"
    more = (Evidence(other, (applied,)),) if others and applied is not None else ()
    where = (place(applied.get("where")) if others and applied is not None else None) or site.where
    return Finding(
        cause="Gradients are taken, and no weight is ever changed by them.",
        confidence=Confidence.CERTAIN,
        evidence=(told, *more, *learning.evidence),
        remedies=(Remedy("Apply the gradients to the variables they were taken of",
                         "optimizer.apply_gradients(zip(grads, model.trainable_variables))", where),),
        where=where,
    )  # fmt: skip


def _move_elsewhere(run: Run, site: Site) -> bool:
    """Here, or in another place where gradients of the same weights are taken."""
    mine = [each for each in sites(run) if set(each.variables) & set(site.variables)]
    return any(any(look.raw["moved"].values()) for each in mine for look in each.looks)


def _would_show(look: Event) -> bool:
    """The gradient and the learning rate are large enough to move a weight."""
    grad, weight = (max(look.raw[name].values(), default=0.0) for name in ("grads", "weights"))
    rate = number(look.get("rate"))
    return grad > 0 and not rate * grad <= ROUNDED_AWAY * weight
