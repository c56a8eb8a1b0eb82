"""The loss does not improve, and no other rule explains it."""

from __future__ import annotations

import math

from laststep.analysis.batches import training_data
from laststep.analysis.finding import Confidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.learning.learning import FAILS, LEARNS, learning_of
from laststep.analysis.learning.site import sites, trains_in_turns
from laststep.analysis.program import is_dataset, name_of_inputs, name_of_model, names_of_arrays, trains_by_hand
from laststep.analysis.progress import fit_place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count

MIN_SHARE_LIKELY = 1.0  # of the baseline's loss: a model that has learned a weak signal is a little below it
MIN_STEPS = 150  # more than for a specific cause


@rule(tier=Tier.CONSEQUENCE, sees=("inside",), follows=("diverged", "bad-labels-for-loss"))
def loss_not_improving(run: Run) -> Answer:
    """The loss does not improve, and nothing in the record explains it.

    What happened
        Training ran for many steps, the weights changed, and the loss is where it started, or no better than that of a
        constant prediction. All causes that laststep knows were checked and not found.

    How laststep knows
        From the losses of the last fit, by epoch or by step, compared with the loss of the best constant prediction
        where targets and loss give one. Targets that are probabilities have an entropy, and no cross-entropy gets below
        it: what counts is the part above. While training goes on, the rule waits for three epochs or 1,000 steps, and
        for a loss that does not fall by more than its noise. Models that are trained against each other (GANs) are left
        out: their losses need not fall.

    What to do
        Check whether the model can overfit ten samples. If not, the fault is in the model or the loop (weights reset or
        re-created, layers without activation, all weights initialized alike); if it can, it is in the data.

    Not to be confused with
        all other causes of this kind, each of which is more specific.
    """
    if not sites(run):
        return no("no gradients were recorded")
    if trains_in_turns(run):
        return no("several models are trained in turns; their losses need not fall")
    learning = learning_of(run)
    if not all(map(math.isfinite, learning.losses.points)):
        return no("the loss became NaN or Inf, which has rules of its own")
    if learning.verdict == LEARNS:
        return measured(learning.summary)
    if learning.verdict != FAILS:
        return cannot(learning.open_because)
    if learning.steps < MIN_STEPS:
        return cannot(f"too short to tell: {format_count(learning.steps, 'step')}")
    nothing_learned = learning.at_baseline and learning.share - learning.baseline.error >= MIN_SHARE_LIKELY
    return Finding(
        cause="The loss does not improve, and the record does not explain why.",
        confidence=Confidence.LIKELY if nothing_learned and learning.losses.is_over else Confidence.POSSIBLE,
        evidence=learning.evidence,
        remedies=(_overfit(run),),
        where=fit_place(run),
    )


def _overfit(run: Run) -> Remedy:
    """A model that cannot learn ten samples by heart has a fault of its own."""
    if trains_by_hand(run):
        return Remedy("Check whether it can overfit one batch: take the same one in every step")
    names = names_of_arrays(run)
    change = f"{name_of_model(run)}.fit({names[0]}[:10], {names[1]}[:10], epochs=200)" if names else None
    data = name_of_inputs(run)
    if change is None and data and is_dataset(training_data(run)):
        change = f"{name_of_model(run)}.fit({data}.take(1).repeat(200))"
    return Remedy("Check whether the model can overfit ten samples, or one batch", change)
