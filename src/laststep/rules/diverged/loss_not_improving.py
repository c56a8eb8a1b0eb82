"""The loss does not improve, and no other rule says why."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.learning.learning import FAILS, LEARNS, learning_of
from laststep.analysis.learning.site import are_rivals, sites
from laststep.analysis.progress import fit_place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

NOTHING_AT_ALL = 1.0  # of a constant answer's loss: who learned a weak signal is a little below it
LONG_ENOUGH = 150  # steps: the last resort waits longer than the others


@rule(needs=("recorder",))
def loss_not_improving(run: Run) -> Answer:
    """The loss does not improve, and nothing that was recorded says why.

    What happened
        Training ran for many steps, weights moved, and the loss is where it was, or no better than if the model always
        gave the same answer. All the causes that laststep knows were looked for and not found.

    How laststep knows
        From the losses of the epochs or steps, held against the loss of the best constant answer where targets and loss
        tell it. Models that are trained against each other (GANs) are left out: their losses need not fall.

    What to do
        See whether the model can learn ten samples by heart: if not, the fault is in the model or the loop (weights put
        back or made anew, layers without activation, all weights alike at the start); if it can, it is in the data.

    Not to be confused with
        all other causes of this kind, each of which says more.
    """
    if not sites(run):
        return no("no gradients were seen")
    if are_rivals(run):
        return no("several models are trained in turns, whose losses need not fall")
    learning = learning_of(run)
    if learning.verdict == LEARNS:
        return measured(learning.says)
    if learning.verdict != FAILS or learning.steps < LONG_ENOUGH:
        return cannot("whether it learns can't be told from its losses")
    nothing = learning.sure and learning.share - learning.constant.doubt >= NOTHING_AT_ALL
    return Finding(
        cause="The loss does not improve, and what was recorded does not say why.",
        confidence=Confidence.LIKELY if nothing else Confidence.POSSIBLE,
        evidence=learning.evidence,
        remedies=(Remedy("See whether ten samples can be learned by heart", "model.fit(x[:10], y[:10], epochs=200)"),),
        where=fit_place(run),
    )
