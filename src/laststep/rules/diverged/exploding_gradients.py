"""Gradients explode."""

from __future__ import annotations

import dataclasses
import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_site, bad_step_evidence
from laststep.analysis.learning.growth import blow_up, growth
from laststep.analysis.learning.site import Site, compact, gradient_norm, gradient_norms
from laststep.analysis.learning.weights import MAX_STARTING_SCALE, layer_place, starting_scales
from laststep.analysis.progress import progress
from laststep.record.events.numbers import Numbers
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_count

CLIP = Remedy("Clip the gradients, in the optimizer", "clipnorm=1.0", trial={"clipnorm": 1.0})
CLIP_BY_HAND = Remedy("Clip the gradients before they are applied: tf.clip_by_global_norm", trial={"clipnorm": 1.0})
DEFAULT_INITIALIZER = Remedy("Use Keras's default initializer, which scales the weights to the layer's size",
                             'kernel_initializer="glorot_uniform"',
                             trial={"hidden": {"initializer": "glorot_uniform"}})  # fmt: skip
NORMALIZE = Remedy("In deep models, add BatchNormalization or LayerNormalization between the layers")


@rule(sees=("inside",))
def exploding_gradients(run: Run) -> Answer:
    """The gradients exploded until a number overflowed, at an ordinary learning rate.

    What happened
        From layer to layer, or from one time step to the next, the gradient was multiplied by more than 1. It became so
        large that one update moved the weights far away, and the next loss was Inf or NaN.

    How laststep knows
        From the gradient norm and weight norm of each layer, and the loss, in the steps before the first NaN or Inf.
        The learning rate is at most ten times Keras's default, and inputs and targets are of ordinary scale.

    What to do
        Clip the gradients (clipnorm), initialize the weights smaller, normalize between the layers. A lower learning
        rate helps where the gradients are large only now and then.

    Not to be confused with
        learning-rate-too-high (the learning rate is what is large), unscaled-inputs, unscaled-targets (the data is),
        invalid-loss-math (nothing grew before).
    """
    found = blow_up(run, "exploding-gradients")
    if found is None:
        finite, last = bad_site(run) is None, run.last(Numbers)
        if finite and last is not None:
            return measured(f"loss and gradients were finite in {format_count(last.step, 'step')}")
        return no("nothing grew before the first NaN or Inf") if run.has(Numbers) else no("no gradients were recorded")
    site, grew = found
    scales = starting_scales(site)
    layer = max(scales, key=lambda layer: scales[layer], default="")
    evidence = [bad_step_evidence(site), *_gradients(site)]
    starts_large = site.readings[0].step <= 2 and scales.get(layer, 0.0) > MAX_STARTING_SCALE
    if starts_large:
        says = f"the norm of the first weights of {layer} is {compact(scales[layer])} times Keras's default"
        evidence.append(Evidence(says, (site.gradients,)))
    return Finding(
        cause=f"The gradients exploded: {grew}.",
        confidence=Confidence.LIKELY if growth(site) else Confidence.POSSIBLE,
        evidence=(*evidence, progress(run)),
        remedies=(*((DEFAULT_INITIALIZER,) if starts_large else ()), _clip(site), NORMALIZE),
        where=(layer_place(site, layer) if starts_large else None) or site.where,
    )


def _clip(site: Site) -> Remedy:
    """In the optimizer where there is one; its own line is where it goes."""
    made = site.gradients.optimizer.where
    if not site.optimizer_class:
        return CLIP_BY_HAND
    return dataclasses.replace(CLIP, where=made)


def _gradients(site: Site) -> list[Evidence]:
    if not site.good:
        return []
    norms = [gradient_norm(reading) for reading in site.good]
    largest = site.good[norms.index(max(norms))]
    finite = {layer: value for layer, value in gradient_norms(largest).items() if math.isfinite(value)}
    layer = max(finite, key=lambda layer: finite[layer], default="")
    says = f"the gradient norm was {compact(max(norms))} in step {largest.step}, most of it in {layer}"
    return [Evidence(says, (largest,), tuple(norms))]
