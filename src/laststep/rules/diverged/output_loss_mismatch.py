"""The last layer and the loss do not fit."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import Learning, learning_of
from laststep.analysis.learning.mismatches import Wrong, by_itself, by_numbers, where_it_fails
from laststep.analysis.learning.outputs import Output, outputs
from laststep.analysis.progress import fit_place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=("recorder",), outranks=("nan-loss", "loss-not-improving", "no-signal"))
def output_loss_mismatch(run: Run) -> Answer:
    """The activation of the last layer and the loss do not fit, so that the loss cannot say what to learn.

    What happened
        Each loss wants a certain kind of number. One unit with softmax is always 1. Probabilities given to a loss that
        was told from_logits=True are squeezed twice; raw numbers given to a loss that wants probabilities are cut off
        at 0 and 1, where nothing can be learned. A sigmoid, tanh or relu cannot reach targets outside of its range.

    How laststep knows
        From the operation that made the predictions, the loss with its from_logits, the number of units, and the
        smallest and largest target and prediction that were seen. Keras takes the numbers before a softmax or sigmoid
        of its own where it still has them: then from_logits=True does no harm, and is not reported.

    What to do
        Two classes: Dense(1, activation="sigmoid") and binary_crossentropy. One of several classes: Dense(n,
        activation="softmax") and (sparse_)categorical_crossentropy. Several at once: Dense(n, activation="sigmoid") and
        binary_crossentropy. Numbers: Dense(n) without activation and mse. Or no activation and from_logits=True.

    Not to be confused with
        bad-labels-for-loss (layer and loss fit, the labels do not), targets-broadcast, dead-activations.
    """
    seen = outputs(run)
    if not seen:
        return no("no loss of Keras was seen")
    learning = learning_of(run)
    for output in seen:
        wrong = by_itself(output) or by_numbers(output) or where_it_fails(output, learning)
        if wrong is not None:
            return _finding(run, output, wrong, learning)
    return measured("the last layer and the loss fit")


def _finding(run: Run, output: Output, wrong: Wrong, learning: Learning) -> Finding:
    sure = wrong.beyond_doubt or (learning.fails and learning.sure)
    return Finding(
        cause=wrong.cause,
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
        evidence=(Evidence(wrong.seen, output.events), *learning.evidence),
        remedies=(
            Remedy("Let the last layer and the loss fit", wrong.change, output.layer.get("where"), trial=wrong.trial),
        ),
        where=output.layer.get("where") or fit_place(run) or output.site.where,
    )
