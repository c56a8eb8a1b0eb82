"""Labels and loss do not fit."""

from __future__ import annotations

from laststep.analysis.finding import Evidence, Remedy, no
from laststep.analysis.learning.labels import silent_labels
from laststep.analysis.messages import ECHOES, answer
from laststep.analysis.progress import fit_place
from laststep.analysis.shapes import labels, spoken, what_fit_was_given
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(
    outranks=(
        *(*ECHOES, "shape-mismatch", "dtype-mismatch"),
        *("nan-loss", "loss-not-improving", "no-signal", "unscaled-targets", "exploding-gradients"),
        *("learning-rate-too-high", "learning-rate-too-low"),
    )
)
def bad_labels_for_loss(run: Run) -> Answer:
    """The labels are not what the loss wants: numbers against one-hot rows, or values that mean nothing to it.

    What happened
        categorical_crossentropy wants a row of the classes for each sample (one-hot), its sparse sister wants one
        number. Given the other kind, the loss compares tensors of different rank, and Keras says so in terms of
        "target and output must have the same rank", far from the place where the labels were made. Values that do not
        fit are no error at all: class numbers divided by 255, -1 and 1 for binary_crossentropy, rows that do not sum
        to 1 for categorical_crossentropy. Then the loss sinks below zero or climbs, and nothing is learned.

    How laststep knows
        From the two shapes in the loss's own message: one number per sample against a row of the classes. Where nothing
        is said: from the values of the targets in the steps that were looked at, against what the loss can take.

    What to do
        Numbers 0, 1, 2 …: loss="sparse_categorical_crossentropy". One-hot rows: loss="categorical_crossentropy".
        Change one word, and leave the data as it is. Wrong values: scale the inputs only, and let labels be whole
        numbers from 0, 0 and 1, or rows that sum to 1.

    Not to be confused with
        shape-mismatch (the number of classes differs, or a Flatten is missing), label-out-of-range (the form is
        right, a value is not).
    """
    found = labels(run)
    if found is None or not (found.are_numbers_for_one_hot or found.are_one_hot_for_numbers):
        return silent_labels(run) or no("no loss complained of the labels' form")
    numbers = found.are_numbers_for_one_hot
    wants, right = (
        ("one-hot rows", "sparse_categorical_crossentropy") if numbers else ("numbers", "categorical_crossentropy")
    )
    have = "one number for each sample" if numbers else "one-hot rows"
    shapes = f"labels {spoken(found.target)}, output {spoken(found.output)}" if found.output else ""
    binary = numbers and "binary" in str(run.fit.began.get("loss") if run.fit else "")
    return answer(
        run,
        found.message,
        "",
        cause=f"The labels are {have}, and the loss wants {'as many values as the output has' if binary else wants}.",
        remedies=(
            Remedy(
                "Use the loss for labels of this kind",
                f'model.compile(…, loss="{right}")',
                fit_place(run),
                trial={"loss": right},
            ),
            *((Remedy("Or turn the labels into rows", "y = keras.utils.to_categorical(y)"),) if numbers else ()),
        ),
        more=(*((Evidence(shapes),) if shapes else ()), *what_fit_was_given(run)),
    )
