"""Half precision overflowed."""

from __future__ import annotations

import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_inputs, bad_predictions, bad_site, first_bad
from laststep.analysis.learning.site import HALF, SYMPTOMS, Site, loss_of
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

FLOAT32 = Remedy("Compute what becomes large (sums, exp, squares, the last layer, the loss) in float32",
                 'Dense(…, dtype="float32"), tf.cast(…, "float32")', trial={"precision": "float32"})  # fmt: skip
SCALE = Remedy("Scale the loss: small gradients stay, and a step that overflows is skipped",
               "keras.optimizers.LossScaleOptimizer(optimizer), with optimizer.scale_loss(loss)")  # fmt: skip
BFLOAT = Remedy("Or take bfloat16, which reaches as far as float32",
                'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
                trial={"precision": "mixed_bfloat16"})  # fmt: skip


@rule(needs=("recorder",), outranks=SYMPTOMS)
def float16_overflow(run: Run) -> Answer:
    """Half precision (float16) overflowed: its numbers end at 65,504.

    What happened
        The model computes in float16. A sum, a square, an exponential or a scaled loss went past 65,504 and became
        Inf, and Inf minus Inf is NaN. In float32 the same numbers would have been fine.

    How laststep knows
        The layers compute in float16, the data of the first bad step is finite, and the loss, the predictions or the
        gradients of that step are not. A step that a LossScaleOptimizer tried and skipped does not count.

    What to do
        Give the layers and the loss that make large numbers dtype="float32", scale inputs and targets, use the
        LossScaleOptimizer in loops of your own, or bfloat16.

    Not to be confused with
        bad-input-values (the data is bad), invalid-loss-math (bad in float32 too).
    """
    site = bad_site(run)
    if site is None or site.bad is None:
        return no("no step with a bad number was seen")
    if not site.is_half:
        return measured("no layer computes in float16")
    if bad_inputs(site):
        return no("the data itself is bad")
    layers = [layer for layer in site.layers if layer.get("dtype") in HALF]
    scaled = "a LossScaleOptimizer scales the loss" if site.scales_loss else "nothing scales the loss but the program"
    evidence = [first_bad(site), Evidence(f"{len(layers)} layers compute in float16; {scaled}", (site.made,))]
    return Finding(
        cause=f"Half precision overflowed: {_what(site)}, with finite data.",
        confidence=Confidence.LIKELY,
        evidence=(*evidence, progress(run)),
        remedies=(FLOAT32, BFLOAT) if site.scales_loss else (FLOAT32, SCALE, BFLOAT),
        where=(run.fit.began.get("precision_set_at") if run.fit else None) or site.where,
    )


def _what(site: Site) -> str:
    assert site.bad is not None
    part = "gradients" if math.isfinite(loss_of(site.bad)) else "the loss"
    what = "the predictions" if bad_predictions(site) else part
    return f"{what} of step {site.bad.raw['step']} {'is' if what == 'the loss' else 'are'} not finite"
