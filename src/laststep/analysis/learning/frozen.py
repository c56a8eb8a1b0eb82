"""Weights that are never trained: frozen, not tracked by Keras, or left out of the list of variables."""

from __future__ import annotations

import dataclasses
import math
import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.learning.learning import LEARNS, Learning
from laststep.analysis.learning.site import Site, gradient_norms, last_site, latest_sites, or_nan, sites
from laststep.analysis.progress import fit_place
from laststep.record.events.numbers import Gradients, Numbers
from laststep.record.events.process import Versions, WarningShown
from laststep.record.events.shared import ModelFacts
from laststep.record.place import Place
from laststep.record.run import Fit, Run

MIN_UNTRAINED_SHARE = 0.5  # of the weights
FLOAT32_RESOLUTION = 1e-7  # a smaller relative change is lost in float32
NO_TRAINABLE_WEIGHTS = "does not have any trainable weights"
NO_GRADIENT = "no gradient was computed in any step of fit"

ADD_WEIGHT = Remedy("Create a layer's weights with add_weight", "self.add_weight(shape=…)")
UNFREEZE = Remedy("Unfreeze what is to be trained: freeze only the layers that should stay fixed",
                  trial={"trainable": True})  # fmt: skip
COMPILE_AGAIN = Remedy("Compile again after this line: the step was made for the frozen model")


def nothing_trainable(run: Run, learning: Learning) -> Finding | None:
    """Keras warned that no weight is trainable, or no gradient was ever computed."""
    warned = next((event for event in run.all(WarningShown) if NO_TRAINABLE_WEIGHTS in event.message), None)
    fit = next((fit for fit in reversed(run.fits) if fit.epochs), None)
    if warned is None and not (fit is not None and _is_frozen(run, fit)):
        return None
    model = fit.began.model if fit is not None else ModelFacts()
    no_weights = warned is not None and model.parameters == 0
    unfrozen_later = bool(model.trainable)
    cause, remedy = "The model has no trainable weights: all its layers are frozen.", UNFREEZE
    if no_weights:
        cause, remedy = "Keras tracks no weights in this model: its layers create them without add_weight.", ADD_WEIGHT
    elif unfrozen_later:
        cause = "No gradients are computed: the training step was compiled while all layers were frozen."
        remedy = COMPILE_AGAIN
    set_at = None if no_weights or fit is None else fit.began.trainable_set_at
    says = f"Keras warned: “The model {NO_TRAINABLE_WEIGHTS}”" if warned is not None else NO_GRADIENT
    events = tuple(each for each in (warned, fit.began if fit else None) if each is not None)
    return Finding(
        cause=cause,
        confidence=Confidence.LIKELY if unfrozen_later else Confidence.CERTAIN,
        evidence=(Evidence(says, events), *learning.evidence),
        remedies=(_unfrozen(remedy, set_at) if remedy is UNFREEZE else remedy,),
        where=set_at or fit_place(run),
    )


def _unfrozen(remedy: Remedy, set_at: Place | None) -> Remedy:
    """The line that freezes, the other way round."""
    text = set_at.text.partition("#")[0].strip() if set_at is not None else ""
    if not re.fullmatch(r"[\w.\[\]-]+\.trainable = False", text):
        return remedy
    return dataclasses.replace(remedy, change=text.replace("False", "True"), where=set_at)


def untracked_weights(run: Run, learning: Learning) -> Finding | None:
    """A layer holds variables that Keras does not track, and the model does not learn well."""
    site = last_site(run)
    layer = next((each for each in site.layers if each.untracked), None) if site is not None else None
    if site is None or layer is None or learning.verdict == LEARNS:
        return None
    named = f"{', '.join(layer.untracked[:4])} of {layer.name}"
    return Finding(
        cause=f"Keras does not track {named}, so they are never trained: they were created with tf.Variable.",
        confidence=Confidence.LIKELY if learning.fails else Confidence.POSSIBLE,
        evidence=(Evidence(f"{named} ({layer.class_name}) are not among the layer's weights", (site.gradients,)),
                  *learning.evidence),
        remedies=(ADD_WEIGHT,),
        where=layer.where or site.where,
    )  # fmt: skip


def not_optimized(run: Run, learning: Learning) -> Finding | None:
    """Most of the weights that the loss depends on are not among the variables that gradients are taken of."""
    latest = latest_sites(run)
    asked = {name for site in latest for name in site.variables}
    for site in latest if learning.fails else []:
        missing = [each for each in site.gradients.unasked if each.name not in asked]
        untrained, trained = (sum(math.prod(each.shape or ()) for each in variables)
                              for variables in (missing, site.gradients.variables))  # fmt: skip
        if not untrained or untrained / (untrained + trained) <= MIN_UNTRAINED_SHARE:
            continue
        share, names = untrained / (untrained + trained), [each.name for each in missing[:4]]
        return Finding(
            cause=f"{share:.0%} of the weights that the loss depends on are not among the variables that are trained.",
            confidence=Confidence.LIKELY if learning.at_baseline else Confidence.POSSIBLE,
            evidence=(Evidence(f"no gradient is requested for {', '.join(names)}{' …' if len(missing) > 4 else ''}",
                               (site.gradients,)), *learning.evidence),
            remedies=(Remedy("Read the list of variables after all layers are built; create layers once, in __init__",
                             None, site.where),),
            where=site.where,
        )  # fmt: skip
    return None


def mostly_frozen(run: Run, learning: Learning) -> Finding | None:
    """Nothing is learned and most weights are frozen, perhaps on purpose: then the rest does not suffice."""
    fit = next((fit for fit in reversed(run.fits) if fit.epochs), None)
    model = fit.began.model if fit is not None else ModelFacts()
    total, trainable = model.parameters or 0, model.trainable or 0
    if fit is None or not learning.fails or not 0 < trainable < (1 - MIN_UNTRAINED_SHARE) * total:
        return None
    return Finding(
        cause=f"{1 - trainable / total:.0%} of the weights are frozen, and training the rest does not reduce the loss.",
        confidence=Confidence.POSSIBLE,
        evidence=(Evidence(f"{trainable:,} of {total:,} weights are trainable", (fit.began,)), *learning.evidence),
        remedies=(Remedy("Unfreeze more layers, then compile again"),),
        where=fit.began.trainable_set_at or fit_place(run),
    )


def _is_frozen(run: Run, fit: Fit) -> bool:
    """A fit without any gradient, whose loss does not change."""
    model, strategy = fit.began.model, fit.began.strategy
    losses = [epoch.metrics.get("loss", math.nan) for epoch in fit.epochs]
    finite = [loss for loss in losses if math.isfinite(loss)]
    plain = strategy in (None, "_DefaultDistributionStrategy") and not fit.began.run_eagerly
    if run.has(Gradients) or not plain or not model.parameters or len(finite) < 3 or not _has_tensorflow(run):
        return False
    return model.trainable == 0 or max(finite) - min(finite) < 0.01 * abs(finite[0])


def _has_tensorflow(run: Run) -> bool:
    """With another backend of Keras, gradients are computed where they are not recorded."""
    return any(versions.tensorflow for versions in run.all(Versions))


def changes_somewhere(run: Run, site: Site) -> bool:
    """The weights, at this site or at another that trains the same ones."""
    same = [each for each in sites(run) if set(each.variables) & set(site.variables)]
    return any(any(reading.moved.values()) for each in same for reading in each.readings)


def knows_rate(reading: Numbers) -> bool:
    """Otherwise it may be 0 at first, as in a warm-up of the program's own."""
    return reading.rate is not None


def would_change(reading: Numbers) -> bool:
    """The gradient and the learning rate are large enough to change a weight."""
    grad = max(gradient_norms(reading).values(), default=0.0)
    weight = max(reading.weights.values(), default=0.0)
    rate = or_nan(reading.rate)
    return grad > 0 and not rate * grad <= FLOAT32_RESOLUTION * weight
