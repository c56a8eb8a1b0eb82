"""Two shapes do not match."""

from __future__ import annotations

import re

from laststep.analysis.finding import no
from laststep.analysis.messages import Message, answer, failures, find_message
from laststep.analysis.shape_errors import OTHER_SHAPE_ERRORS, SHAPE_ERRORS, ShapeError, describe_labels
from laststep.analysis.shapes import fit_arguments, label_mismatch
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_ANYTHING = re.compile(r".*")


@rule()
def shape_mismatch(run: Run) -> Answer:
    """Two shapes do not match: the data and a layer, two tensors, or the labels and the output.

    What happened
        A layer, an operation or the loss got a tensor of a shape that it does not accept. The mistake is often
        made elsewhere: a missing Flatten surfaces in the loss, channels-first images as a negative output size,
        a fixed batch size in the last, smaller batch.

    How laststep knows
        The message of Keras or TensorFlow contains both shapes; how they differ shows what kind of mistake it
        was. The line is the innermost one of your own code.

    What to do
        Compare the two shapes that are shown, and change the side that is wrong: model.summary() prints the
        output of each layer, print(next(iter(dataset))) the data.

    Not to be confused with
        bad-labels-for-loss (class indices for one-hot rows), dtype-mismatch, label-out-of-range.
    """
    labels = label_mismatch(run)
    if labels is not None:
        if labels.is_index_for_one_hot or labels.is_one_hot_for_index:
            return no("the shapes differ because the labels are not in the format that the loss expects")
        return _answer(run, labels.message, describe_labels(labels))
    for pattern, describe in SHAPE_ERRORS:
        message = find_message(run, pattern)
        if message is not None:
            return _answer(run, message, describe(message))
    message = find_message(run, *OTHER_SHAPE_ERRORS, console=False) or _checked_by_keras(run)
    return _answer(run, message, ShapeError("Two shapes do not match."))


def _answer(run: Run, message: Message | None, error: ShapeError) -> Answer:
    return answer(run, message, "no error reported shapes that differ", error.cause, error.remedies, fit_arguments(run))


def _checked_by_keras(run: Run) -> Message | None:
    """Keras's check of a layer's input raised; a log may be truncated before its message."""
    for error in failures(run):
        found = _ANYTHING.match(error.message)
        if found and any(frame.function == "assert_input_compatibility" for frame in error.frames):
            return Message(found, error)
    return None
