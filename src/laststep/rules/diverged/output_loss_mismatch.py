"""The last layer and the loss do not match."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.learning.learning import Learning, learning_of
from laststep.analysis.learning.mismatches import Mismatch, always_wrong, suspect_when_failing, wrong_for_values
from laststep.analysis.learning.outputs import Output, outputs
from laststep.analysis.progress import fit_place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

OR_LOGITS = Remedy("Or leave the layer, and tell the loss that it gets logits", "from_logits=True")


@rule(tier=Tier.ROOT, sees=("inside",))
def output_loss_mismatch(run: Run) -> Answer:
    """The activation of the last layer does not match the loss, so that minimizing the loss does not train the model.

    What happened
        Each loss expects a certain kind of output. A single unit with softmax always outputs 1. Probabilities given to
        a loss with from_logits=True are activated twice; logits given to a loss that expects probabilities are clipped
        to 0 and 1, where the gradient is 0. A sigmoid, tanh or relu cannot reach targets outside of its range.

    How laststep knows
        From the operation that computes the predictions, the loss and its from_logits, the number of units, and the
        range of targets and predictions. Keras uses the logits before its own softmax or sigmoid where it still has
        them: then from_logits=True does no harm and is not reported.

    What to do
        Two classes: Dense(1, activation="sigmoid") and binary_crossentropy. One of several classes: Dense(n,
        activation="softmax") and (sparse_)categorical_crossentropy. Multi-label: Dense(n, activation="sigmoid") and
        binary_crossentropy. Regression: Dense(n) without activation and mse. Or no activation and from_logits=True.

    Not to be confused with
        bad-labels-for-loss (layer and loss match, the labels do not), targets-broadcast, dead-activations.
    """
    found = outputs(run)
    if not found:
        return no("no loss of Keras was recorded")
    learning = learning_of(run)
    for output in found:
        mismatch = always_wrong(output) or wrong_for_values(output) or suspect_when_failing(output, learning)
        if mismatch is not None:
            return _finding(run, output, mismatch, learning)
    known = [output for output in found if output.kind and output.activation]
    if not known:
        return cannot(f"what {found[0].loss or 'its loss'} expects of the last layer is not known")
    return measured(f"{known[0].activation} at the end and {known[0].loss} match")


def _finding(run: Run, output: Output, mismatch: Mismatch, learning: Learning) -> Finding:
    is_certain = mismatch.is_certain or (learning.fails and learning.at_baseline)
    does = "Match the loss and the last layer" if mismatch.in_loss else "Match the last layer and the loss"
    where = None if mismatch.in_loss else output.layer.where
    remedy = Remedy(does, mismatch.change, where, trial=mismatch.trial)
    or_logits = () if mismatch.in_loss or output.activation != "linear" else (OR_LOGITS,)
    return Finding(
        cause=mismatch.cause,
        confidence=Confidence.CERTAIN if is_certain else Confidence.LIKELY,
        evidence=(Evidence(mismatch.seen, output.events), *learning.evidence),
        remedies=(remedy, *or_logits),
        where=output.layer.where or fit_place(run) or output.site.where,
    )
