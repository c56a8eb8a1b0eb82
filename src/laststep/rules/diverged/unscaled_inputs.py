"""Inputs that are not scaled."""

from __future__ import annotations

import dataclasses

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.learning.answers import although, no_finite_site
from laststep.analysis.learning.bad_step import bad_step_evidence
from laststep.analysis.learning.growth import blow_up
from laststep.analysis.learning.learning import confidence_of, finite_site, learning_of
from laststep.analysis.learning.scale import (
    MIN_LARGE,
    LargeTensor,
    data_place,
    implied_input_scale,
    large_inputs,
    large_targets,
    max_abs,
)
from laststep.analysis.learning.site import UNSEEN, Site, compact, or_nan
from laststep.analysis.program import names_of_arrays
from laststep.analysis.progress import progress
from laststep.record.events.numbers import TensorStatistics
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

STANDARDIZE = Remedy("Scale each feature to mean 0 and standard deviation 1 (images: divide by 255)",
                     trial={"inputs": "scaled"})  # fmt: skip
PIXELS = Remedy("Scale the pixels to 0 … 1, as the model's first layer", "keras.layers.Rescaling(1 / 255)",
                trial={"inputs": "scaled"})  # fmt: skip
MAX_PIXEL = 255


@rule(tier=Tier.ROOT, sees=("inside",))
def unscaled_inputs(run: Run) -> Answer:
    """The inputs are so large, or differ so much in scale, that the model cannot learn from them.

    What happened
        Keras initializes weights for inputs around 1. Inputs of hundreds or millions saturate sigmoids and recurrent
        layers, whose gradient is then almost 0, or make the loss and its gradients so large that the first updates
        destroy the weights. A feature in the millions also dominates a feature around 1.

    How laststep knows
        From the scale of each feature over the sampled batches, a model without a normalization layer in front, and
        training that fails: the loss is no better than a constant prediction, or grew and became Inf or NaN.

    What to do
        Normalize the inputs with the statistics of the training set, before the model or in its first layer.

    Not to be confused with
        unscaled-targets, learning-rate-too-high. Raw pixels often train well with relu and Adam: then nothing is
        reported.
    """
    diverged = blow_up(run, "unscaled-inputs")
    site = diverged[0] if diverged else finite_site(run)
    if site is None:
        return no_finite_site(run)
    inputs = large_inputs(site)
    if inputs is None and diverged:
        return _implied(run, site, diverged[1])
    if inputs is None:
        return measured("the inputs are of ordinary scale") if site.inputs else cannot("the inputs were not recorded")
    if diverged:
        return _finding(run, site, inputs, diverged[1], bad_step_evidence(site))
    no_progress = learning_of(run).no_progress
    if no_progress is None:
        return although(learning_of(run), f"{inputs.name} is large")
    if large_targets(site):
        return no("the targets are large, too")
    return _finding(run, site, inputs, no_progress.says, no_progress)


def _finding(run: Run, site: Site, inputs: LargeTensor, sign: str, symptom: Evidence) -> Finding:
    seen = site.tensors.get(inputs.name, UNSEEN)
    is_clear = site.bad_step is not None or inputs.scale >= MIN_LARGE or max_abs(seen) > 2 * MIN_LARGE
    return Finding(
        cause=f"The inputs are not scaled ({_range(seen, inputs)}): {sign}.",
        confidence=confidence_of(site) if is_clear else Confidence.POSSIBLE,
        evidence=(symptom, Evidence(_means(seen), site.batches[-1:]), progress(run)),
        remedies=(_scale(run, seen),),
        where=data_place(site, inputs.name),
    )


def _implied(run: Run, site: Site, sign: str) -> Finding:
    """The data was not recorded; the first gradient shows its scale."""
    says = f"the first gradient implies inputs around {compact(implied_input_scale(site))} (the data was not recorded)"
    return Finding(
        cause=f"The inputs of this one-layer model seem not to be scaled: {sign}.",
        confidence=Confidence.LIKELY,
        evidence=(Evidence(says, site.readings[:1]), bad_step_evidence(site), progress(run)),
        remedies=(STANDARDIZE,),
        where=data_place(site, "x"),
    )


def _scale(run: Run, seen: TensorStatistics) -> Remedy:
    """Pixels have a scale that is known; any other features that of the data."""
    low, high = or_nan(seen.low), or_nan(seen.high)
    if low >= 0 and high == MAX_PIXEL:
        return PIXELS
    names = names_of_arrays(run)
    if names is None:
        return STANDARDIZE
    change = "normalization = keras.layers.Normalization()\nnormalization.adapt({})  # the model's first layer"
    return dataclasses.replace(STANDARDIZE, change=change.format(names[0]))


def _range(seen: TensorStatistics, inputs: LargeTensor) -> str:
    span = f"from {compact(or_nan(seen.low))} to {compact(or_nan(seen.high))}"
    return span if inputs.column is None else f"{span}, feature {inputs.column} around {compact(inputs.scale)}"


def _means(seen: TensorStatistics) -> str:
    means = [compact(value) for value in seen.column_means]
    if len(means) > 1:
        return f"means of the features: {', '.join(means[:8])}{' …' if len(means) > 8 else ''}"
    return f"the inputs have mean {compact(or_nan(seen.mean))} and standard deviation {compact(or_nan(seen.std))}"
