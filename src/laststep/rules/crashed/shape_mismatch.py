"""Shapes that do not fit."""

from __future__ import annotations

import re

from laststep.analysis.finding import no
from laststep.analysis.messages import ECHOES_OF_OPS, Message, answer, failures, find_message
from laststep.analysis.misfits import GENERAL, MISFITS, Told, of_labels
from laststep.analysis.shapes import labels, what_fit_was_given
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_ANYTHING = re.compile(r".*")


@rule(outranks=ECHOES_OF_OPS)
def shape_mismatch(run: Run) -> Answer:
    """Two shapes that must fit do not: the data and a layer, two tensors, or the labels and the output.

    What happened
        A layer, an operation or the loss got a tensor of another shape than it can take. The place where it breaks
        is often not the place where it went wrong: a missing Flatten surfaces in the loss, channels-first images
        as a negative output size, a fixed batch size in the last, smaller batch.

    How laststep knows
        Both shapes are in the message of Keras or TensorFlow; how they differ says what kind of slip it was. The
        line is your own, the deepest that the error passed.

    What to do
        Compare the two shapes that are shown, and change the side that is wrong: model.summary() prints what each
        layer gives, print(next(iter(dataset))) what the data is.

    Not to be confused with
        bad-labels-for-loss (one-hot against numbers), dtype-mismatch, label-out-of-range.
    """
    against = labels(run)
    if against is not None:
        if against.are_numbers_for_one_hot or against.are_one_hot_for_numbers:
            return no("the shapes differ because the labels are of another kind than the loss wants")
        told = of_labels(against)
        return answer(run, against.message, "", told.cause, told.remedies, what_fit_was_given(run))
    for pattern, read in MISFITS:
        message = find_message(run, pattern)
        if message is not None:
            told = read(message)
            return answer(run, message, "", told.cause, told.remedies, what_fit_was_given(run))
    message = find_message(run, *GENERAL, console=False) or _checked_by_keras(run)
    general = Told("Two shapes do not fit.")
    return answer(
        run, message, "no shapes were said not to fit", general.cause, general.remedies, what_fit_was_given(run)
    )


def _checked_by_keras(run: Run) -> Message | None:
    """Keras's own check of a layer's input raised; a log may be cut before its words."""
    for error in failures(run):
        found = _ANYTHING.match(str(error.get("message")))
        if found and any(frame.get("function") == "assert_input_compatibility" for frame in error.get("frames") or []):
            return Message(found, error)
    return None
