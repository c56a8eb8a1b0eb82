"""Targets that are not scaled."""

from __future__ import annotations

import dataclasses
import math

from laststep.analysis.finding import Evidence, Finding, Remedy, cannot, measured
from laststep.analysis.learning.answers import although, no_finite_site
from laststep.analysis.learning.bad_step import bad_step_evidence
from laststep.analysis.learning.growth import blow_up
from laststep.analysis.learning.learning import confidence_of, finite_site, learning_of
from laststep.analysis.learning.scale import MIN_LARGE, data_place, large_targets
from laststep.analysis.learning.site import UNSEEN, Site, compact, or_nan
from laststep.analysis.program import name_of_targets
from laststep.analysis.progress import progress
from laststep.record.events.numbers import TensorStatistics
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

STANDARDIZE = Remedy("Train on standardized targets, and transform the predictions back",
                     trial={"targets": "scaled"})  # fmt: skip
USE_LOG = Remedy("For targets that span orders of magnitude, train on their logarithm")


@rule(tier=Tier.ROOT, sees=("inside",))
def unscaled_targets(run: Run) -> Answer:
    """The targets are so large, or so small, that the predictions do not reach them.

    What happened
        A new model predicts values around 0, and one update of Adam moves a prediction by about the learning rate.
        Targets of hundreds of thousands are out of reach in thousands of steps; with plain SGD their squared error
        gives gradients that destroy the weights. Targets in the millionths disappear in the noise of the initial
        weights.

    How laststep knows
        From the scale of the targets over the sampled batches, compared with the predictions, and training that fails:
        the loss is no better than a constant prediction, or grew and became Inf or NaN.

    What to do
        Subtract the mean and divide by the standard deviation before training, and transform predictions back. Or let
        the last layer do it: keras.layers.Rescaling(std, offset=mean).

    Not to be confused with
        unscaled-inputs (the inputs are large), learning-rate-too-low, learning-rate-too-high (ordinary targets).
    """
    diverged = blow_up(run, "unscaled-targets")
    site = diverged[0] if diverged else finite_site(run)
    if site is None:
        return no_finite_site(run)
    targets = large_targets(site)
    name = targets.name if targets else "y"
    y = site.tensors.get(name)
    if y is None:
        return cannot("the targets were not recorded")
    if diverged:
        return _finding(run, site, y, diverged[1], bad_step_evidence(site))
    if targets is None and not _are_small(site, y):
        return measured("the targets are of ordinary scale")
    no_progress = learning_of(run).no_progress
    if no_progress is None:
        return although(learning_of(run), "the targets are not of ordinary scale")
    if not (_are_far(site, name) or _are_small(site, y)):
        return measured("the predictions reach the scale of the targets")
    return _finding(run, site, y, no_progress.says, no_progress)


def _are_small(site: Site, y: TensorStatistics) -> bool:
    """Their standard deviation is below 0.01, and that of the predictions a hundred times as large."""
    spread, predicted = or_nan(y.std), or_nan(site.tensors.get("y_pred", UNSEEN).std)
    return 0 < spread < 1 / MIN_LARGE and predicted > MIN_LARGE * spread and math.isfinite(predicted)


def _are_far(site: Site, name: str) -> bool:
    """The predictions are far from the targets, relative to their standard deviation; or were not recorded."""
    y, y_pred = site.tensors[name], site.tensors.get("y_pred")
    if y_pred is None or name != "y":
        return True
    half = 0.5 * or_nan(y.std)
    return abs(or_nan(y.mean) - or_nan(y_pred.mean)) > half or or_nan(y_pred.std) < half


def _finding(run: Run, site: Site, y: TensorStatistics, sign: str, symptom: Evidence) -> Finding:
    mean, low, high = (compact(or_nan(value)) for value in (y.mean, y.low, y.high))
    evidence = [symptom, Evidence(f"the targets have mean {mean} and range from {low} to {high}", site.batches[-1:])]
    predicted = or_nan(site.tensors.get("y_pred", UNSEEN).mean)
    if math.isfinite(predicted):
        evidence.append(Evidence(f"the predictions have mean {compact(predicted)}", site.batches[-1:]))
    return Finding(
        cause=f"The targets are not scaled (mean {mean}, from {low} to {high}): {sign}.",
        confidence=confidence_of(site),
        evidence=(*evidence, progress(run)),
        remedies=_remedies(run, y),
        where=data_place(site, "y"),
    )


def _remedies(run: Run, y: TensorStatistics) -> tuple[Remedy, ...]:
    """With the program's own name for the targets, where it gives fit an array."""
    name = name_of_targets(run)
    change = f"{name} = ({name} - {name}.mean()) / {name}.std()" if name else None
    scaled = dataclasses.replace(STANDARDIZE, change=change)
    wide = or_nan(y.low) > 0 and or_nan(y.high) > MIN_LARGE * or_nan(y.low)
    return (
        (scaled, dataclasses.replace(USE_LOG, change=f"{name} = np.log({name})" if name else None))
        if wide
        else (scaled,)
    )
