"""Weights that nobody trains: all frozen, unknown to Keras, or compiled while all was frozen."""

from __future__ import annotations

import math

from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.rules._shared import fit_place
from laststep.rules.diverged._learning import LEARNS, Learning
from laststep.rules.diverged._record import metrics_of
from laststep.rules.diverged._site import last_site
from laststep.run import Fit, Run
from laststep.torn import table

NOTHING = "does not have any trainable weights"


ADD_WEIGHT = Remedy("Make a layer's weights with", "self.w = self.add_weight(shape=…)")


def none_to_train(run: Run, learning: Learning) -> Finding | None:
    """Not one weight can be trained, in what Keras says or by what was traced."""
    warned = next((event for event in run.all("warning") if NOTHING in str(event.get("message"))), None)
    fit = next((fit for fit in reversed(run.fits) if fit.epochs), None)
    if warned is None and not (fit is not None and _is_frozen(run, fit)):
        return None
    model = table(fit.began.get("model")) if fit is not None else {}
    unknown = warned is not None and model.get("parameters") == 0
    thawed = warned is None and bool(model.get("trainable"))
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
        where=(None if unknown or fit is None else fit.began.get("trainable_set_at")) or fit_place(run),
    )


def untracked(run: Run, learning: Learning) -> Finding | None:
    """Layers that hold weights of which Keras does not know, in a training that learns little."""
    site = last_site(run)
    layer = next((each for each in site.layers if each.get("untracked")), None) if site is not None else None
    if site is None or layer is None or learning.verdict == LEARNS:
        return None
    named = f"{', '.join(layer['untracked'][:4])} of {layer.get('name')}"
    return Finding(
        cause=f"Keras does not know of the weights {named}, and never trains them: they were made with tf.Variable.",
        confidence=Confidence.LIKELY if learning.fails else Confidence.POSSIBLE,
        evidence=(Evidence(f"{named} ({layer.get('class')}) are not among the layer's weights", (site.made,)),
                  *learning.evidence),
        remedies=(ADD_WEIGHT,),
        where=layer.get("where") or site.where,
    )  # fmt: skip


def _is_frozen(run: Run, fit: Fit) -> bool:
    """A fit of many steps without any gradient, whose loss stays where it is."""
    model, told = table(fit.began.get("model")), fit.began.get("strategy")
    losses = [metrics_of(epoch).get("loss", math.nan) for epoch in fit.epochs]
    steady = [loss for loss in losses if math.isfinite(loss)]
    unseen = run.has("gradients") or told not in (None, "_DefaultDistributionStrategy") or fit.began.get("run_eagerly")
    if unseen or not model.get("parameters") or len(steady) < 3 or not _probe_is_there(run):
        return False
    return model.get("trainable") == 0 or max(steady) - min(steady) < 0.01 * abs(steady[0])


def _probe_is_there(run: Run) -> bool:
    """TensorFlow's own: with another backend gradients are taken where nobody looks."""
    return any("tensorflow" in str(event.data) for event in run.all("versions"))
