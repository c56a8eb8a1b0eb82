"""log(0), 0/0 or the root of a negative number in a loss or a layer."""

from __future__ import annotations

import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Place, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_inputs, bad_predictions, bad_site, first_bad, is_late
from laststep.analysis.learning.growth import grew, hurried
from laststep.analysis.learning.site import SYMPTOMS, Site, Told, loss_of
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.record.torn import number
from laststep.rules.rule import Answer, rule

GUARD = Remedy("Keep what goes into log, sqrt and a division away from 0",
               "tf.math.log(x + 1e-7), tf.sqrt(tf.maximum(x, 1e-12)), tf.math.divide_no_nan(a, b)",
               trial={"guard": True})  # fmt: skip
LOGITS = Remedy("Use Keras's own cross-entropy with from_logits=True: it never takes the logarithm of 0")
WHERE = Remedy("tf.where does not help a gradient: make the value safe before the operation, not after it")
CROSS_ENTROPIES = ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")
KERAS_OWN = ("Input", "Dense", "Flatten", "Dropout", "Activation", "ReLU", "Reshape", "Add", "Concatenate", "Conv",
             "MaxPool", "Average", "Global", "Batch", "Layer", "Normal", "Rescal", "Permute", "Repeat", "Masking",
             "Zero", "Up", "Multiply", "Dot", "Random", "Gaussian", "Softmax", "Leaky", "ELU")  # fmt: skip
FIND = Remedy("Run that one step again: it names the operation, the line and the sample", "laststep replay", safe=True)


@rule(needs=("recorder",), outranks=SYMPTOMS)
def invalid_loss_math(run: Run) -> Answer:
    """The loss or a layer computed log(0), 0/0 or the root of a negative number.

    What happened
        The data was finite, the weights were ordinary, and yet the result of a step was not a number: the logarithm of
        0, a division by 0, the root of a negative number. Or the loss was fine and its gradient was not: the root has
        an infinite slope at 0, and tf.where lets a NaN of the other branch through.

    How laststep knows
        In the first bad step: finite data, no growth of loss, gradients or weights before, float32. Whether the
        predictions were bad (a layer), only the loss (the loss), or only the gradients (a slope) is told.

    What to do
        Add a small number inside the logarithm and the root, use tf.math.divide_no_nan, or a loss of Keras's own.

    Not to be confused with
        bad-input-values, float16-overflow, exploding-gradients (the numbers grew before they broke).
    """
    site = bad_site(run)
    if site is None or site.bad is None:
        return no("no step with a bad number was seen")
    if bad_inputs(site) or site.is_half or (site.bad.get("data") and (is_late(site) or not site.tensors)):
        return no("the data is bad, or the precision")
    if _labels_too_high(site):
        return no("labels are out of range")
    sign = grew(site)
    if sign:
        return measured(sign)
    part, told = _where(site)
    return Finding(
        cause=f"{told} in step {site.bad.get('step')}, {_with_what(site)}.",
        confidence=Confidence.LIKELY if _is_sure(site) else Confidence.POSSIBLE,
        evidence=(first_bad(site), Evidence(_before(site), site.looks[:1]), progress(run)),
        remedies=(GUARD, *((WHERE,) if part == "slope" else (LOGITS,) if part == "loss" else ()), FIND),
        where=_place(site, part),
    )


def _with_what(site: Site) -> str:
    return "with finite data and ordinary weights" if site.tensors else "with ordinary weights; its data was not seen"


def _labels_too_high(site: Site) -> bool:
    """A label that is no class of the model gives NaN where the loss is compiled by XLA."""
    sparse = any("sparse" in str(loss.get("name")).lower() for loss in site.losses)
    shape = site.tensors.get("y_pred", {}).get("shape") or [0]
    y = site.tensors.get("y", {})
    return sparse and (number(y.get("high")) >= shape[-1] > 0 or number(y.get("low")) < 0)


def _where(site: Site) -> tuple[str, str]:
    """Which part of the step is the first that is bad."""
    assert site.bad is not None
    if is_late(site):
        return "before", "The weights were no numbers any more (log of 0, 0/0, or a bad value in a batch before)"
    if bad_predictions(site):
        return "layer", "A layer computed something that is not a number (0/0, a root of a negative, log of 0)"
    if math.isfinite(loss_of(site.bad)):
        return "slope", "The loss is finite and its gradient is not (a root at 0, a division hidden by tf.where)"
    if "y_pred" in site.tensors:
        return "loss", "The predictions are finite and the loss is not (log of 0, 0/0)"
    return "step", "The loss is not finite (log of 0, 0/0, a root of a negative number)"


def _is_sure(site: Site) -> bool:
    """Seen close enough to the bad step to know that nothing grew, and no loss of Keras's own that was misused."""
    assert site.bad is not None
    if not site.tensors or hurried(site) or is_late(site) or any(_is_misfit(loss) for loss in site.losses):
        return False
    step = site.bad.raw["step"]
    if step <= 2 or bad_predictions(site).get("inf") == 0 or math.isfinite(loss_of(site.bad)):
        return True
    known = [seen.number for seen in site.run.steps if seen.number < step and math.isfinite(seen.loss)]
    looked = [look.raw["step"] for look in site.good]
    return step - max([*known, *looked], default=0) <= 3 or len(site.good) >= 4


def _is_misfit(loss: Told) -> bool:
    """Keras's own cross-entropy of something that is no probability: the last layer is what is wrong."""
    probable = loss.get("from_logits") or loss.get("made_by") in ("Softmax", "Sigmoid", "", None)
    return loss.get("name") in CROSS_ENTROPIES and not probable


def _before(site: Site) -> str:
    good = site.good
    if not good and site.bad is not None and site.bad.raw["step"] == 1:
        return "it was the first step: the weights were as they had been drawn"
    if not good:
        return "no step before was looked at"
    return f"in {len(good)} looks before, loss, gradients and weights were of an ordinary size"


def _place(site: Site, part: str) -> Place | None:
    """The program's own logarithm, root or division, where there is one; else the layer of its own, or the step."""
    risky = _risky(site)
    if len({(place.get("file"), place.get("line")) for place in risky}) == 1 or (part != "layer" and risky):
        return risky[0]
    if part != "layer":
        return site.where
    own = [layer for layer in site.layers if not layer.get("weights") and layer.get("where") and _is_own(layer)]
    return own[0]["where"] if own else site.where


def _risky(site: Site) -> list[Place]:
    """The program's own lines with logarithms, roots and divisions on the way to the loss, the last first."""
    places = [told["where"] for told in site.made.raw["risky"] if "where" in told]
    return [place for place in places if place.get("line") != (site.where or {}).get("line")]


def _is_own(layer: Told) -> bool:
    return not str(layer.get("class")).startswith(KERAS_OWN)
