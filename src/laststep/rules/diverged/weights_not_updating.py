"""Weights stay as they are."""

from __future__ import annotations

import math

from laststep.event import Event
from laststep.finding import Confidence, Evidence, Finding, Place, Remedy
from laststep.reports import words
from laststep.rule import Answer, rule
from laststep.rules._shared import fit_place, measured, no
from laststep.rules.diverged._learning import LEARNS, Learning, learning_of
from laststep.rules.diverged._outputs import Site, last_site, sites
from laststep.run import Fit, Run

NOTHING = "does not have any trainable weights"
ENOUGH_STEPS = 20
LARGE_PART = 0.2  # of the weights: less may be a head that this loss does not use
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
    found = _none_to_train(run, learning) or _cut_off(run, learning) or _never_applied(run, learning)
    if found is not None:
        return found
    return measured("the weights move") if sites(run) else no("no gradients were seen")


def _none_to_train(run: Run, learning: Learning) -> Finding | None:
    """Not one weight can be trained, in what Keras says or by what was traced."""
    warned = next((event for event in run.all("warning") if NOTHING in str(event.get("message"))), None)
    fit = next((fit for fit in reversed(run.fits) if fit.epochs), None)
    if warned is None and not (fit is not None and _is_frozen(run, fit)):
        return None
    model = (fit.began.get("model") or {}) if fit is not None else {}
    unknown = warned is not None and model.get("parameters") == 0
    thawed = warned is None and bool(model.get("trainable"))
    cause = "No weight of the model can be trained: all its layers are frozen."
    remedy = Remedy("Freeze only what shall stay as it is", "base.trainable = False  # not the whole model")
    if unknown:
        cause = "Keras knows of no weights in this model: those of its layers were made behind its back."
        remedy = Remedy("Make a layer's weights with", "self.w = self.add_weight(shape=…)")
    elif thawed:
        cause = "No gradient is taken: the training step was compiled while all layers were frozen."
        remedy = Remedy("Compile again after trainable was changed", "model.compile(…)")
    says = f"Keras warned: “The model {NOTHING}”" if warned is not None else "no gradient was taken in any step of fit"
    events = tuple(each for each in (warned, fit.began if fit else None) if each is not None)
    return Finding(
        cause=cause,
        confidence=Confidence.LIKELY if thawed else Confidence.CERTAIN,
        evidence=(Evidence(says, events), *learning.evidence),
        remedies=(remedy,),
        where=fit_place(run),
    )


def _is_frozen(run: Run, fit: Fit) -> bool:
    """A fit of many steps without any gradient, whose loss stays where it is."""
    model, told = fit.began.get("model") or {}, fit.began.get("strategy")
    losses = [(epoch.get("metrics") or {}).get("loss") for epoch in fit.epochs]
    steady = [loss for loss in losses if isinstance(loss, float) and math.isfinite(loss)]
    unseen = run.has("gradients") or told not in (None, "_DefaultDistributionStrategy") or fit.began.get("run_eagerly")
    if unseen or not model.get("parameters") or len(steady) < 3 or not _probe_is_there(run):
        return False
    return model.get("trainable") == 0 or max(steady) - min(steady) < 0.01 * abs(steady[0])


def _probe_is_there(run: Run) -> bool:
    """TensorFlow's own: with another backend gradients are taken where nobody looks."""
    return any("tensorflow" in str(event.data) for event in run.all("versions"))


def _cut_off(run: Run, learning: Learning) -> Finding | None:
    """Variables whose gradient was asked for, and of which the loss does not depend."""
    latest = {site.variables: site for site in sites(run)}
    reached = {name for site in latest.values() for name in site.variables if name not in site.missing}
    for site in latest.values():
        lost = [name for name in site.missing if name not in reached]
        share = _share(site, lost)
        if not lost or share < LARGE_PART or (learning.verdict == LEARNS and share < 1):
            continue
        whole = share >= 1
        which = "any weight" if whole else f"{words.count(len(lost), 'variable')}, {share:.0%} of the weights"
        layer = _layer_with(site, lost[0])
        where = (layer if not whole else None) or site.place or fit_place(run)
        return Finding(
            cause=f"The loss does not depend on {which}: something between has no gradient.",
            confidence=Confidence.CERTAIN if whole else Confidence.LIKELY,
            evidence=(Evidence(f"no gradient for {', '.join(lost[:4])}{' …' if len(lost) > 4 else ''}", (site.told,)),
                      *learning.evidence),
            remedies=(Remedy("Between weights and loss use differentiable TensorFlow only: no .numpy(), no rounding, "
                             "no argmax, no stop_gradient", None, site.place),),
            where=where,
        )  # fmt: skip
    return None


def _share(site: Site, names: list[str]) -> float:
    sizes = {str(each.get("name")): math.prod(size or 1 for size in each.get("shape") or [1])
             for each in site.told.get("variables") or [] if isinstance(each, dict)}  # fmt: skip
    total = sum(sizes.values())
    return sum(sizes.get(name, 0) for name in names) / total if total else 0.0


def _layer_with(site: Site, variable: str) -> Place | None:
    return next((layer.get("where") for layer in site.layers if variable in (layer.get("weights") or [])), None)


def _never_applied(run: Run, learning: Learning) -> Finding | None:
    """Gradients that are not 0, and weights that are what they were."""
    site = last_site(run)
    if site is None:
        return None
    moved = [look for look in site.looks if isinstance(look.get("moved"), dict)]
    steps = sum(int(look.get("step") or 0) - int(look.get("since") or 0) for look in moved)
    if steps < ENOUGH_STEPS or any(value for look in moved for value in look.get("moved").values()):
        return None
    if not all(_would_show(look) for look in moved):
        return None
    applied = run.last("applied")
    others = [str(name) for name in (applied.get("variables") or []) if name not in site.variables] if applied else []
    says = f"after {steps:,} steps all weights are the same as before, to the bit; their gradients are not 0"
    told = Evidence(says, (site.looks[0], site.looks[-1]))
    other = f"the optimizer changes other variables: {', '.join(others[:3])}"
    more = (Evidence(other, (applied,)),) if others and applied is not None else ()
    return Finding(
        cause="Gradients are taken, and no weight is ever changed by them.",
        confidence=Confidence.CERTAIN,
        evidence=(told, *more, *learning.evidence),
        remedies=(Remedy("Apply the gradients to the variables they were taken of",
                         "optimizer.apply_gradients(zip(grads, model.trainable_variables))", site.place),),
        where=site.place or fit_place(run),
    )  # fmt: skip


def _would_show(look: Event) -> bool:
    """The gradient and the learning rate are large enough to move a weight."""
    grads = [norm for norm in (look.get("grads") or {}).values() if isinstance(norm, (int, float))]
    weights = [norm for norm in (look.get("weights") or {}).values() if isinstance(norm, (int, float))]
    if not grads or not max(grads) > 0:
        return False
    rate = look.get("rate")
    return not isinstance(rate, (int, float)) or rate * max(grads) > ROUNDED_AWAY * max(weights, default=0.0)
