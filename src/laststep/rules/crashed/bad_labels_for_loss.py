"""The labels do not match the loss."""

from __future__ import annotations

from laststep.analysis.finding import Evidence, Remedy, no
from laststep.analysis.learning.labels import silent_labels
from laststep.analysis.messages import answer
from laststep.analysis.program import name_of_targets, trains_by_hand
from laststep.analysis.progress import fit_place
from laststep.analysis.shapes import fit_arguments, format_shape, label_mismatch
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

LOSS_CLASSES = {
    "categorical_crossentropy": "CategoricalCrossentropy",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
}


@rule(tier=Tier.ROOT)
def bad_labels_for_loss(run: Run) -> Answer:
    """The labels do not match the loss: class indices instead of one-hot rows, the reverse, or invalid values.

    What happened
        categorical_crossentropy expects a one-hot row per sample, sparse_categorical_crossentropy one class
        index. Given the other kind, the loss compares tensors of different rank. Keras then reports "target and
        output must have the same rank", far from the line that made the labels. Wrong values raise no error:
        class indices divided by 255, -1 and 1 for binary_crossentropy, rows that do not sum to 1 for
        categorical_crossentropy. The loss then falls below zero or rises, and the model learns nothing.

    How laststep knows
        From the two shapes in the loss's error message: one number per sample and one row of classes. Without
        an error: from the values of the targets in the steps that were sampled, compared with what the loss
        accepts.

    What to do
        Class indices 0, 1, 2 …: loss="sparse_categorical_crossentropy". One-hot rows:
        loss="categorical_crossentropy". Change only the loss, and leave the data as it is. Wrong values: scale
        the inputs only; labels must be whole numbers from 0, 0 and 1, or rows that sum to 1.

    Not to be confused with
        shape-mismatch (the number of classes differs, or a Flatten layer is missing), label-out-of-range (the
        format is right, a value is not).
    """
    found = label_mismatch(run)
    if found is None or not (found.is_index_for_one_hot or found.is_one_hot_for_index):
        return silent_labels(run) or no("no loss reported labels in a wrong format")
    indices, rows = "one number per sample", "one-hot rows"
    if found.is_index_for_one_hot:
        have, expected, right = indices, rows, "sparse_categorical_crossentropy"
        if run.fit is not None and "binary" in str(run.fit.began.loss):
            expected = "as many values as the output has"
    else:
        have, expected, right = rows, indices, "categorical_crossentropy"
    shapes = f"labels {format_shape(found.target)}, output {format_shape(found.output)}"
    return answer(
        run,
        found.message,
        "",
        cause=f"The labels are {have}, but the loss expects {expected}.",
        remedies=(
            _other_loss(run, right),
            *((_convert(run),) if found.is_index_for_one_hot else ()),
        ),
        more=(*((Evidence(shapes),) if found.output else ()), *fit_arguments(run)),
    )


def _other_loss(run: Run, right: str) -> Remedy:
    """In compile by its name; a loss that the program calls itself, or with logits, as an object."""
    logits = run.fit is not None and run.fit.began.from_logits
    made = f"keras.losses.{LOSS_CLASSES[right]}({'from_logits=True' if logits else ''})"
    change = made if trains_by_hand(run) else f"loss={made}" if logits else f'loss="{right}"'
    where = "" if trains_by_hand(run) else ", in compile"
    return Remedy(f"Use the loss for this kind of labels{where}", change, trial={"loss": right})


def _convert(run: Run) -> Remedy:
    name = name_of_targets(run)
    change = f"{name} = keras.utils.to_categorical({name})" if name else None
    return Remedy("Or convert the labels to one-hot rows", change, fit_place(run) if name else None)
