"""log(0), 0/0 or the square root of a negative number in a loss or a layer."""

from __future__ import annotations

import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import (
    bad_inputs,
    bad_predictions,
    bad_site,
    bad_step_evidence,
    weights_were_bad,
)
from laststep.analysis.learning.growth import growth, unseen_growth
from laststep.analysis.learning.site import UNSEEN, Site, loss_of, or_nan
from laststep.analysis.progress import progress
from laststep.record.events.numbers import Layer, LossCall
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_count

GUARD_ARGUMENTS = Remedy("Keep the arguments of log, sqrt and divisions away from 0",
                         "tf.math.log(… + 1e-7), tf.sqrt(tf.maximum(…, 1e-12)), tf.math.divide_no_nan(…, …)",
                         trial={"guard": True})  # fmt: skip
USE_LOGITS = Remedy("Use Keras's cross-entropy with from_logits=True: it does not compute log(0)")
GUARD_BEFORE_WHERE = Remedy("tf.where does not protect a gradient: make the value safe before the operation, not after")
REPLAY = Remedy("Replay that step to find the operation, the line and the sample", "laststep replay", safe=True)
FOR_PART = {"gradient": (GUARD_BEFORE_WHERE,), "loss": (USE_LOGITS,)}
CROSS_ENTROPIES = ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")
KERAS_CLASSES = ("Input", "Dense", "Flatten", "Dropout", "Activation", "ReLU", "Reshape", "Add", "Concatenate", "Conv",
                 "MaxPool", "Average", "Global", "Batch", "Layer", "Normal", "Rescal", "Permute", "Repeat", "Masking",
                 "Zero", "Up", "Multiply", "Dot", "Random", "Gaussian", "Softmax", "Leaky", "ELU")  # fmt: skip


@rule(sees=("inside",))
def invalid_loss_math(run: Run) -> Answer:
    """The loss or a layer computed log(0), 0/0 or the square root of a negative number.

    What happened
        The data was finite, the weights were ordinary, and yet a step produced NaN or Inf: from the logarithm of 0, a
        division by 0, the square root of a negative number. Or the loss was finite and its gradient was not: the square
        root has an infinite derivative at 0, and tf.where lets a NaN gradient of the other branch through.

    How laststep knows
        In the first bad step: finite data, float32, and no growth of loss, gradients or weights before it. It reports
        whether the predictions were not finite (a layer), only the loss, or only the gradients.

    What to do
        Add a small number inside the logarithm and the square root, use tf.math.divide_no_nan, or use a loss of Keras.

    Not to be confused with
        bad-input-values, float16-overflow, exploding-gradients (the numbers grew before they overflowed).
    """
    site = bad_site(run)
    if site is None or site.bad_step is None:
        return no("no step had a NaN or Inf")
    if bad_inputs(site) or site.is_half or (site.bad_step.data and (weights_were_bad(site) or not site.tensors)):
        return no("the data contains NaN or Inf, or float16 is used")
    if _labels_out_of_range(site):
        return no("labels are out of range")
    grew = growth(site)
    if grew:
        return measured(grew)
    part, description = _first_bad_part(site)
    data = "finite data and ordinary weights" if site.tensors else "ordinary weights; its data was not recorded"
    return Finding(
        cause=f"In step {site.bad_step.step} {description}, with {data}.",
        confidence=Confidence.LIKELY if _is_likely(site) else Confidence.POSSIBLE,
        evidence=(bad_step_evidence(site), Evidence(_before(site), site.readings[:1]), progress(run)),
        remedies=(GUARD_ARGUMENTS, *FOR_PART.get(part, ()), REPLAY),
        where=_place(site, part),
    )


def _labels_out_of_range(site: Site) -> bool:
    """A label without an output unit gives NaN where the loss is compiled by XLA."""
    sparse = any("sparse" in loss.name.lower() for loss in site.losses)
    shape = site.tensors.get("y_pred", UNSEEN).shape or (0,)
    y = site.tensors.get("y", UNSEEN)
    return sparse and (or_nan(y.high) >= shape[-1] > 0 or or_nan(y.low) < 0)


def _first_bad_part(site: Site) -> tuple[str, str]:
    """The part of the step that is the first with NaN or Inf, and the sentence about it."""
    assert site.bad_step is not None
    if weights_were_bad(site):
        return "weights", "the weights were NaN already (log(0), 0/0, or a bad value in an earlier batch)"
    if bad_predictions(site) is not None:
        return "layer", "a layer computed NaN or Inf (0/0, the square root of a negative number, log(0))"
    if math.isfinite(loss_of(site.bad_step)):
        return "gradient", "the loss was finite but its gradient was not (sqrt at 0, a division hidden by tf.where)"
    if "y_pred" in site.tensors:
        return "loss", "the predictions were finite but the loss was not (log(0), 0/0)"
    return "step", "the loss was not finite (log(0), 0/0, the square root of a negative number)"


def _is_likely(site: Site) -> bool:
    """Steps close to the bad one were recorded and did not grow, and no cross-entropy of Keras was misused."""
    assert site.bad_step is not None
    misused = any(_is_misused(loss) for loss in site.losses)
    if not site.tensors or unseen_growth(site) or weights_were_bad(site) or misused:
        return False
    bad, predictions = site.bad_step.step, bad_predictions(site)
    if bad <= 2 or (predictions is not None and predictions.inf == 0) or math.isfinite(loss_of(site.bad_step)):
        return True
    finite = [step.number for step in site.run.steps if step.number < bad and math.isfinite(step.loss)]
    sampled = [reading.step for reading in site.good]
    return bad - max([*finite, *sampled], default=0) <= 3 or len(site.good) >= 4


def _is_misused(loss: LossCall) -> bool:
    """A cross-entropy of Keras on values that are no probabilities: the last layer is at fault."""
    takes_any = loss.from_logits or loss.made_by in ("Softmax", "Sigmoid", "")
    return loss.name in CROSS_ENTROPIES and not takes_any


def _before(site: Site) -> str:
    if site.good:
        steps = format_count(len(site.good), "sampled step")
        return f"in {steps} before it, loss, gradients and weights were of ordinary size"
    first = site.bad_step is not None and site.bad_step.step == 1
    return "it was the first step: the weights were the initial ones" if first else "no step before it was sampled"


def _place(site: Site, part: str) -> Place | None:
    """The user's own logarithm, root or division, where there is one; else the user's own layer, or the step."""
    risky = _risky_places(site)
    if len({(place.file, place.line) for place in risky}) == 1 or (part != "layer" and risky):
        return risky[0]
    if part != "layer":
        return site.where
    custom = [layer.where for layer in site.layers if not layer.weights and layer.where and _is_custom(layer)]
    return custom[0] if custom else site.where


def _risky_places(site: Site) -> list[Place]:
    """The user's own lines with logarithms, roots and divisions before the loss, the last first."""
    places = [operation.where for operation in site.gradients.risky or () if operation.where is not None]
    return [place for place in places if site.where is None or place.line != site.where.line]


def _is_custom(layer: Layer) -> bool:
    return not layer.class_name.startswith(KERAS_CLASSES)
