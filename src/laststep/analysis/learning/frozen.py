"""Weights that nobody trains: all frozen, unknown to Keras, or compiled while all was frozen."""

from __future__ import annotations

import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.learning.learning import LEARNS, Learning
from laststep.analysis.learning.site import last_site, latest_sites
from laststep.analysis.progress import fit_place
from laststep.record.events.numbers import Gradients
from laststep.record.events.process import Versions, WarningShown
from laststep.record.events.shared import ModelFacts
from laststep.record.run import Fit, Run

MOST = 0.5  # of the weights
NOTHING = "does not have any trainable weights"


ADD_WEIGHT = Remedy("Make a layer's weights with", "self.w = self.add_weight(shape=…)")


def none_to_train(run: Run, learning: Learning) -> Finding | None:
    """Not one weight can be trained, in what Keras says or by what was traced."""
    warned = next((event for event in run.all(WarningShown) if NOTHING in event.message), None)
    fit = next((fit for fit in reversed(run.fits) if fit.epochs), None)
    if warned is None and not (fit is not None and _is_frozen(run, fit)):
        return None
    model = fit.began.model if fit is not None else ModelFacts()
    unknown = warned is not None and model.parameters == 0
    thawed = warned is None and bool(model.trainable)
    cause = "No weight of the model can be trained: all its layers are frozen."
    remedy = Remedy("Freeze only what shall stay as it is", "base.trainable = False  # not the whole model",
                    trial={"trainable": True})  # fmt: skip
    if unknown:
        cause = "Keras knows of no weights in this model: those of its layers were made behind its back."
        remedy = ADD_WEIGHT
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
        where=(None if unknown or fit is None else fit.began.trainable_set_at) or fit_place(run),
    )


def untracked(run: Run, learning: Learning) -> Finding | None:
    """Layers that hold weights of which Keras does not know, in a training that learns little."""
    site = last_site(run)
    layer = next((each for each in site.layers if each.untracked), None) if site is not None else None
    if site is None or layer is None or learning.verdict == LEARNS:
        return None
    named = f"{', '.join(layer.untracked[:4])} of {layer.name}"
    return Finding(
        cause=f"Keras does not know of the weights {named}, and never trains them: they were made with tf.Variable.",
        confidence=Confidence.LIKELY if learning.fails else Confidence.POSSIBLE,
        evidence=(Evidence(f"{named} ({layer.class_name}) are not among the layer's weights", (site.made,)),
                  *learning.evidence),
        remedies=(ADD_WEIGHT,),
        where=layer.where or site.where,
    )  # fmt: skip


def left_out(run: Run, learning: Learning) -> Finding | None:
    """Most of the weights that the loss depends on are in no list of variables that gradients are taken of."""
    latest = latest_sites(run)
    asked = {name for site in latest for name in site.variables}
    for site in latest if learning.fails else []:
        lost = [each for each in site.made.unasked if each.name not in asked]
        sizes = [sum(math.prod(each.shape or ()) for each in held) for held in (lost, site.made.variables)]
        if not lost or not sum(sizes) or sizes[0] / sum(sizes) <= MOST:
            continue
        part, names = f"{sizes[0] / sum(sizes):.0%} of the weights", [each.name for each in lost[:4]]
        return Finding(
            cause=f"{part} that the loss depends on are not among the variables that are trained.",
            confidence=Confidence.LIKELY if learning.sure else Confidence.POSSIBLE,
            evidence=(Evidence(f"no gradient was asked for {', '.join(names)}{' …' if len(lost) > 4 else ''}",
                               (site.made,)), *learning.evidence),
            remedies=(Remedy("Take the list of variables when all layers are built, and make layers once, in __init__",
                             "tape.gradient(loss, model.trainable_variables)", site.where),),
            where=site.where,
        )  # fmt: skip
    return None


def mostly_frozen(run: Run, learning: Learning) -> Finding | None:
    """Nothing is learnt, and most weights are frozen: it may be meant so, and then this is not enough."""
    fit = next((fit for fit in reversed(run.fits) if fit.epochs), None)
    model = fit.began.model if fit is not None else ModelFacts()
    whole, free = model.parameters or 0, model.trainable or 0
    if fit is None or not learning.fails or not 0 < free < (1 - MOST) * whole:
        return None
    return Finding(
        cause=f"{1 - free / whole:.0%} of the weights are frozen, and the others alone learn nothing.",
        confidence=Confidence.POSSIBLE,
        evidence=(Evidence(f"{free:,.0f} of {whole:,.0f} weights can be trained", (fit.began,)), *learning.evidence),
        remedies=(Remedy("Let more layers be trained, and compile after that", "base.trainable = True"),),
        where=fit.began.trainable_set_at or fit_place(run),
    )


def _is_frozen(run: Run, fit: Fit) -> bool:
    """A fit of many steps without any gradient, whose loss stays where it is."""
    model, strategy = fit.began.model, fit.began.strategy
    losses = [epoch.metrics.get("loss", math.nan) for epoch in fit.epochs]
    steady = [loss for loss in losses if math.isfinite(loss)]
    plain = strategy in (None, "_DefaultDistributionStrategy") and not fit.began.run_eagerly
    if run.has(Gradients) or not plain or not model.parameters or len(steady) < 3 or not _probe_is_there(run):
        return False
    return model.trainable == 0 or max(steady) - min(steady) < 0.01 * abs(steady[0])


def _probe_is_there(run: Run) -> bool:
    """TensorFlow's own: with another backend gradients are taken where nobody looks."""
    return any(versions.tensorflow for versions in run.all(Versions))
