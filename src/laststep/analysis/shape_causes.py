"""What the recorded layers add to an error about shapes: which layer is wrong, and the edit that corrects it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from laststep.analysis.argument_causes import groups, initial_weights, ragged_lists, saved_weights
from laststep.analysis.edits import (
    argument,
    before_call,
    given_to_fit,
    passed_on,
    remedy,
    with_input_through,
    with_layer_before,
    with_setting,
)
from laststep.analysis.finding import Confidence, Remedy
from laststep.analysis.messages import Message
from laststep.analysis.passed_layers import (
    KEEPS_AXES,
    OF_SEQUENCES,
    RECURRENT,
    failed_layer,
    input_shape,
    is_shared_line,
    kind_of,
    last_step_only,
    named,
)
from laststep.analysis.shape_errors import FEWER_LAYERS, ShapeError
from laststep.analysis.shapes import Shape, format_shape, is_channels_first, parse_shape
from laststep.record.events.network import Network, PassedLayer
from laststep.record.events.process import Raised
from laststep.record.run import Run
from laststep.text import format_count

Explain = Callable[[Message, Network, ShapeError], ShapeError | None]
LIKELY = Confidence.LIKELY
REMOVES_AXES = ("Flatten", "GlobalMax", "GlobalAverage")


def explain(message: Message, network: Network | None, error: ShapeError) -> ShapeError:
    """The error as it is, or what the layers around it say."""
    if network is None:
        return error
    return next((found for each in EXPLANATIONS if (found := each(message, network, error)) is not None), error)


def explain_later(run: Run, message: Message, error: ShapeError) -> ShapeError | None:
    """Batches before this one fitted: it is the data that differs, and the model is right."""
    fit, event = run.fit, message.event
    if run.is_log or fit is None or event is None or not message.get("wanted"):
        return None
    same = [each for each in run.all(Raised) if each.message == event.message]  # on its way out of fit
    done = sum(step.fit == fit.id for step in run.steps)
    if not done or not any(each.fit == fit.id for each in same):
        return None
    if any(each.function == "evaluate" for each in same):
        does = "Prepare the validation data as the training data: that fitted"
    else:
        does = f"Find the batch that differs, and correct or leave out its data: {format_count(done, 'step')} fitted"
    return ShapeError(error.cause, (Remedy(does),))


def _channels_first(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    layer, got = failed_layer(network), parse_shape(message.get("got")) if message.get("axis") else input_shape(network)
    images = [each for each in network.layers if each.settings.get("rank") == 2 or "2D" in each.class_name]
    if not is_channels_first(got) or not images or images[0].settings.get("data_format") == "channels_first":
        return None
    first, last = images[0], (*got[2:], got[1])
    cause = f"The images have their channels first, {format_shape(got)}; {named(first)} expects them last."
    if (message.get("axis") and layer is first and first.name != network.layers[0].name) or _is_built_for_last(
        first, got
    ):
        name = given_to_fit(network, "x", 0)
        edit = before_call(network.call, f"{name} = {name}.transpose(0, 2, 3, 1)") if name else None
        data = remedy("Move the channels of the data to the last axis", edit, "x = x.transpose(0, 2, 3, 1)")
        return ShapeError(cause, (data, *_validation(network)), edit.where if edit else None, LIKELY)
    permute = with_layer_before(first, f"Permute((2, 3, 1){passed_on(first)})", network.reach)
    return ShapeError(
        cause,
        (
            remedy("Let a layer move the channels to the last axis", permute, "keras.layers.Permute((2, 3, 1))"),
            Remedy(
                f"Or move them in the data, and build the model for {format_shape(last)}", "x = np.moveaxis(x, 1, -1)"
            ),
        ),
        first.where,
        LIKELY,
    )


def _is_built_for_last(layer: PassedLayer, got: Shape) -> bool:
    """Its kernel takes the channels that these images have on axis 1."""
    kernel = layer.weights[0] if layer.weights else ()
    return len(kernel) == 4 and kernel[2] == got[1]


def _validation(network: Network) -> tuple[Remedy, ...]:
    has = network.call is not None and argument(network.call, "validation_data") is not None
    return (Remedy("The same for the validation data"),) if has else ()


def _missing_axis(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """A layer of sequences after one that returns only the last step, or on a table."""
    layer = failed_layer(network)
    if layer is None or message.get("wanted") != "3" or len(_got(message, layer)) != 2:
        return None
    before = last_step_only(network.layers[:-1])
    if before is not None:
        return _last_step_only(layer, before, network)
    removes = next((each for each in network.layers[-2:-1] if each.class_name.startswith(REMOVES_AXES)), None)
    return _removed(layer, removes) if removes is not None else _table(layer, network, message)


def _removed(layer: PassedLayer, removes: PassedLayer) -> ShapeError:
    cause = f"{named(layer)} needs a sequence, but {named(removes)} before it removes the axis of the steps."
    return ShapeError(cause, (Remedy(f"Remove {removes.name}, or move it after {layer.name}"),), removes.where)


def _got(message: Message, layer: PassedLayer) -> Shape:
    return parse_shape(message.get("got")) or layer.given


def _last_step_only(layer: PassedLayer, before: PassedLayer, network: Network) -> ShapeError:
    cause = f"{named(layer)} needs a sequence, but {named(before)} before it returns only its last output."
    if is_shared_line(before, network.layers):
        does = "Set return_sequences=True in all of the loop's layers but the last: take that one out of the loop"
        return ShapeError(cause, (Remedy(does, "return_sequences=True"),), before.where)
    edit = with_setting(before.made, "return_sequences", "True")
    whole = remedy("Let it return its output of each step", edit, f"{kind_of(before)}(…, return_sequences=True)")
    if layer.settings.get("return_sequences") is not True and layer.class_name != "TimeDistributed":
        return ShapeError(cause, (whole,), before.where)
    does = "Or, between an encoder and its decoder, repeat the last output: RepeatVector, with the steps to predict"
    return ShapeError(cause, (whole, Remedy(does)), before.where, LIKELY)


def _table(layer: PassedLayer, network: Network, message: Message) -> ShapeError | None:
    if kind_of(layer) not in OF_SEQUENCES:
        return None
    got = format_shape(_got(message, layer))
    cause = f"{named(layer)} expects samples, steps and features, but gets {got}: an axis is missing."
    edit = with_layer_before(layer, f"Reshape((-1, 1){passed_on(layer)})", network.reach)
    each = remedy("Make each value a step of one feature", edit, "keras.layers.Reshape((-1, 1))")
    other = Remedy("Or give the data that axis: x of shape (samples, steps, features)", "x = x[..., np.newaxis]")
    return ShapeError(cause, (each, other), layer.where, LIKELY)


def _extra_axes(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """A layer of sequences that gets feature maps; Flatten would remove the axis of time, too."""
    layer = failed_layer(network)
    if (
        layer is None
        or message.get("wanted") != "3"
        or len(_got(message, layer)) < 4
        or kind_of(layer) not in RECURRENT
    ):
        return None
    got = _got(message, layer)
    cause = f"{named(layer)} expects samples, steps and features, but gets {format_shape(got)}: too many axes."
    edit = with_layer_before(layer, f"Reshape((-1, {got[-1]}))", network.reach) if got[-1] else None
    whole = remedy("Make each position of the feature maps a step", edit, "keras.layers.Reshape((-1, channels))")
    other = Remedy("Or keep the first axis as the steps", "keras.layers.TimeDistributed(keras.layers.Flatten())")
    return ShapeError(cause, (whole, other), layer.where, LIKELY)


def _no_channels(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """Images without the axis of channels."""
    layer = failed_layer(network)
    got = _got(message, layer) if layer is not None else ()
    if layer is None or message.get("wanted") != "4" or len(got) != 3:
        return None
    if got[0] is not None and got[-1] in (1, 3, 4):
        one = Remedy("Add the batch axis: a model takes a batch, even of one image", "x = x[np.newaxis]")
        return replace(error, remedies=(one, *error.remedies), confidence=LIKELY)
    if None in got[1:]:
        return None
    edit = with_layer_before(layer, f"Reshape({format_shape((*got[1:], 1))}{passed_on(layer)})", network.reach)
    added = remedy("Add the axis of channels", edit, "x = x[..., np.newaxis]")
    return replace(error, remedies=(added,), where=layer.where)


def _merged(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """Add and its like: a shortcut with another number of channels."""
    layer = failed_layer(network)
    if layer is None or layer.class_name not in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
        return None
    shapes = [layer.given, *layer.others]
    if (
        len(shapes) != 2
        or len(shapes[0]) != len(shapes[1])
        or not all(shapes)
        or None in (shapes[0][-1], shapes[1][-1])
    ):
        return None
    shown = " and ".join(map(format_shape, shapes))
    if shapes[0][:-1] != shapes[1][:-1]:
        cause = f"{named(layer)} gets {shown}: the sides differ."
        return ShapeError(
            cause, (Remedy('Give both the same sides: the same strides and padding="same"'),), layer.where
        )
    small = 0 if (shapes[0][-1] or 0) < (shapes[1][-1] or 0) else 1
    channels = shapes[1 - small][-1]
    call = f"Conv{len(shapes[0]) - 2}D({channels}, 1)" if len(shapes[0]) > 2 else f"Dense({channels})"
    edit = with_input_through(layer, small, call, network.reach)
    project = remedy(f"Project the one with {shapes[small][-1]} to {channels}", edit, f"keras.layers.{call}(shortcut)")
    same = Remedy("Or give the layers before it the same number of filters or units")
    return ShapeError(f"{named(layer)} gets {shown}: the channels differ.", (project, same), layer.where, LIKELY)


def _too_small(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """The images are used up by convolutions and pooling."""
    layer = failed_layer(network)
    if layer is None or not re.search(r"negative|Negative|<= 0", message.quote):
        return None
    shrinking = [each for each in network.layers[:-1] if each.class_name not in (*KEEPS_AXES, "InputLayer")]
    passed = f" after {format_count(len(shrinking), 'layer')}" if shrinking else ""
    got = format_shape(parse_shape(message.get("got")) or layer.given)
    cause = f"{named(layer)} gets {got}{passed}: that is too small, its output would be empty."
    edit = with_setting(layer.made, "padding", '"same"')
    keep = remedy("Keep the size in this layer", edit, 'padding="same"')
    return ShapeError(cause, (keep, FEWER_LAYERS), layer.where, LIKELY)


def _features(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """A number of features or channels that the model was not built for."""
    got, wanted = parse_shape(message.get("got")), message.get("wanted")
    if message.get("axis") != "-1" or not got or not wanted.isdecimal():
        return None
    name = given_to_fit(network, "x", 0)
    if got[-1] == 1 and wanted == "3" and len(got) == 4:
        edit = before_call(network.call, f"{name} = {name}.repeat(3, axis=-1)") if name else None
        copy = remedy("Copy the gray channel three times", edit, "x = x.repeat(3, axis=-1)")
        return replace(error, remedies=(copy, *error.remedies[:1]), confidence=LIKELY)
    source = next((each for each in network.layers if each.class_name == "InputLayer"), None)
    shape = f"shape={format_shape(got[1:])}"
    edit = (
        with_setting(source.made if source else None, "shape", format_shape(got[1:]), 0)
        if None not in got[1:]
        else None
    )
    if edit is None:
        return replace(error, confidence=LIKELY)
    build = remedy("Build the model for this data", edit, f"keras.Input({shape})")
    other = Remedy(f"Or pass data with {wanted} features: check which columns are there")
    return replace(error, remedies=(build, other), where=edit.where, confidence=LIKELY)


EXPLANATIONS: Iterable[Explain] = (
    _channels_first,
    _missing_axis,
    _extra_axes,
    _no_channels,
    _merged,
    _too_small,
    _features,
    initial_weights,
    groups,
    ragged_lists,
    saved_weights,
)
