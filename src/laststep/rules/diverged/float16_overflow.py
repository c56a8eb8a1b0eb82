"""float16 overflows."""

from __future__ import annotations

import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_inputs, bad_predictions, bad_site, bad_step_evidence
from laststep.analysis.learning.site import HALF_PRECISION, Site, loss_of
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

USE_FLOAT32 = Remedy("Compute large values in float32: sums, exp, squares, the last layer, the loss",
                      'dtype="float32"', trial={"precision": "float32"})  # fmt: skip
SCALE_LOSS = Remedy("Scale the loss, with scale_loss in a loop of your own: small gradients do not underflow",
                    "keras.optimizers.LossScaleOptimizer(…)")  # fmt: skip
USE_BFLOAT16 = Remedy("Or use bfloat16, which has the range of float32",
                      'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
                      trial={"precision": "mixed_bfloat16"})  # fmt: skip


@rule(sees=("inside",))
def float16_overflow(run: Run) -> Answer:
    """Half precision (float16) overflowed: its largest number is 65,504.

    What happened
        The model computes in float16. A sum, a square, an exponential or a scaled loss exceeded 65,504 and became Inf,
        and Inf minus Inf is NaN. In float32 the same numbers do not overflow.

    How laststep knows
        The layers compute in float16, the data of the first bad step is finite, and the loss, the predictions or the
        gradients of that step are not. A step that a LossScaleOptimizer skipped does not count.

    What to do
        Give the layers and the loss that produce large numbers dtype="float32", scale inputs and targets, use the
        LossScaleOptimizer in custom loops, or use bfloat16.

    Not to be confused with
        bad-input-values (the data contains NaN or Inf), invalid-loss-math (NaN in float32, too).
    """
    site = bad_site(run)
    if site is None or site.bad_step is None:
        return no("no step had a NaN or Inf")
    if not site.is_half:
        return measured("no layer computes in float16")
    if bad_inputs(site):
        return no("the data itself contains NaN or Inf")
    layers = [layer for layer in site.layers if layer.dtype in HALF_PRECISION]
    scaled = "a LossScaleOptimizer scales the loss" if site.scales_loss else "no LossScaleOptimizer scales the loss"
    precision = Evidence(f"{len(layers)} layers compute in float16; {scaled}", (site.gradients,))
    return Finding(
        cause=f"float16 overflowed: {_what(site)}, although the data is finite.",
        confidence=Confidence.LIKELY,
        evidence=(bad_step_evidence(site), precision, progress(run)),
        remedies=(USE_FLOAT32, USE_BFLOAT16) if site.scales_loss else (USE_FLOAT32, SCALE_LOSS, USE_BFLOAT16),
        where=(run.fit.began.precision_set_at if run.fit else None) or site.where,
    )


def _what(site: Site) -> str:
    assert site.bad_step is not None
    what = "gradients" if math.isfinite(loss_of(site.bad_step)) else "the loss"
    what = what if bad_predictions(site) is None else "the predictions"
    return f"{what} of step {site.bad_step.step} {'is' if what == 'the loss' else 'are'} not finite"
