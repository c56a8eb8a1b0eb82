"""Two shapes do not match."""

from __future__ import annotations

from laststep.analysis.argument_causes import OBJECT_DTYPE, class_weight_error, ragged_error
from laststep.analysis.finding import no
from laststep.analysis.label_causes import explain_in_loss, explain_labels
from laststep.analysis.messages import Message, answer, failures, find_message, first_line
from laststep.analysis.passed_layers import network_of
from laststep.analysis.shape_causes import explain, explain_later
from laststep.analysis.shape_errors import OTHER_SHAPE_ERRORS, SHAPE_ERRORS, ShapeError, describe_labels
from laststep.analysis.shapes import fit_arguments, label_mismatch
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule()
def shape_mismatch(run: Run) -> Answer:
    """Two shapes do not match: the data and a layer, two tensors, or the labels and the output.

    What happened
        A layer, an operation or the loss got a tensor of a shape that it does not accept. The mistake is often
        made elsewhere: a missing Flatten surfaces in the loss, channels-first images as a negative output size,
        a fixed batch size in the last, smaller batch, class_weight for labels of each step in the loss's product.

    How laststep knows
        The message of Keras or TensorFlow contains both shapes; how they differ shows what kind of mistake it
        was. The layers that the data passed before are recorded with the error: an LSTM that returns only its
        last output, a convolution with no Flatten after it. The line is the one that makes that layer; where the
        layers do not tell, the innermost one of your own code.

    What to do
        Where a remedy shows a line, that line becomes what is printed below it. Else compare the two shapes, and
        change the side that is wrong: model.summary() prints the output of each layer,
        print(next(iter(dataset))) the data.

    Not to be confused with
        bad-labels-for-loss (class indices for one-hot rows), dtype-mismatch, label-out-of-range.
    """
    special = _of_an_argument(run)
    if special is not None:
        return special
    labels = label_mismatch(run)
    if labels is not None:
        if labels.is_index_for_one_hot or labels.is_one_hot_for_index:
            return no("the shapes differ because the labels are not in the format that the loss expects")
        return _answer(run, labels.message, explain_labels(labels, network_of(run), describe_labels(labels)))
    for pattern, describe in SHAPE_ERRORS:
        message = find_message(run, pattern)
        if message is not None:
            error = explain_in_loss(message, network_of(run), describe(message))
            later = explain_later(run, message, error)
            return _answer(run, message, later or explain(message, network_of(run), error))
    message = find_message(run, *OTHER_SHAPE_ERRORS, console=False) or _checked_by_keras(run)
    error = ShapeError("Two shapes do not match.")
    return _answer(run, message, explain(message, network_of(run), error) if message is not None else error)


def _answer(run: Run, message: Message | None, error: ShapeError) -> Answer:
    return answer(
        run,
        message,
        "no error reported shapes that differ",
        error.cause,
        error.remedies,
        fit_arguments(run),
        error.where,
        error.confidence,
    )


def _of_an_argument(run: Run) -> Answer | None:
    """Errors whose message does not speak of shapes: class_weight with sequences, an array of ragged lists."""
    weighted = class_weight_error(run, network_of(run))
    if weighted is not None:
        return _answer(run, Message(first_line(weighted[0]), weighted[0]), weighted[1])
    ragged, message = ragged_error(network_of(run)), find_message(run, OBJECT_DTYPE)
    return _answer(run, message, ragged) if ragged is not None and message is not None else None


def _checked_by_keras(run: Run) -> Message | None:
    """Keras's check of a layer's input raised; a log may be truncated before its message."""
    for error in failures(run):
        if any(frame.function == "assert_input_compatibility" for frame in error.frames):
            return Message(first_line(error), error)
    return None
