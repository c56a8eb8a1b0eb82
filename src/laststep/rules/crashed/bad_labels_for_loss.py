"""Labels and loss do not fit."""

from __future__ import annotations

from laststep.finding import Evidence, Remedy
from laststep.rule import Answer, rule
from laststep.rules._said import ECHOES, answer
from laststep.rules._shared import fit_place, no
from laststep.rules._tensors import labels, spoken, what_fit_was_given
from laststep.run import Run


@rule(outranks=(*ECHOES, "shape-mismatch", "dtype-mismatch"))
def bad_labels_for_loss(run: Run) -> Answer:
    """The labels have another form than the loss wants: numbers against one-hot rows, or the other way round.

    What happened
        categorical_crossentropy wants a row of the classes for each sample (one-hot), its sparse sister wants one
        number. Given the other kind, the loss compares tensors of different rank, and Keras says so in terms of
        "target and output must have the same rank", far from the place where the labels were made.

    How laststep knows
        From the two shapes in the loss's own message: one number per sample against a row of the classes.

    What to do
        Numbers 0, 1, 2 …: loss="sparse_categorical_crossentropy". One-hot rows: loss="categorical_crossentropy".
        Change one word, and leave the data as it is.

    Not to be confused with
        shape-mismatch (the number of classes differs, or a Flatten is missing), label-out-of-range (the form is
        right, a value is not).
    """
    found = labels(run)
    if found is None or not (found.are_numbers_for_one_hot or found.are_one_hot_for_numbers):
        return no("no loss complained of the labels' form")
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
            Remedy("Use the loss for labels of this kind", f'model.compile(…, loss="{right}")', fit_place(run)),
            *((Remedy("Or turn the labels into rows", "y = keras.utils.to_categorical(y)"),) if numbers else ()),
        ),
        more=(*((Evidence(shapes),) if shapes else ()), *what_fit_was_given(run)),
    )
