"""Half precision overflowed."""

from __future__ import annotations

from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.rule import Answer, rule
from laststep.rules._shared import measured, no, progress
from laststep.rules.diverged._growth import bad_inputs, first_bad
from laststep.rules.diverged._numbers import HALF, SYMPTOMS, Site, bad_site
from laststep.run import Run

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
    layers = [layer for layer in site.described if layer.get("dtype") in HALF]
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
    held = (site.bad.get("inputs") or {}).get("y_pred")
    step = site.bad.get("step")
    if held:
        return f"the predictions of step {step} are not finite"
    loss = site.bad.get("loss")
    if not isinstance(loss, (int, float)) or loss != loss or abs(loss) == float("inf"):
        return f"the loss of step {step} is not finite"
    return f"gradients of step {step} are not finite"
