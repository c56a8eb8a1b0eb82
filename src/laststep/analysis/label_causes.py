"""Labels and output whose shapes differ: which layer gives the output a shape that the labels do not have."""

from __future__ import annotations

import re

from laststep.analysis.edits import passed_on, remedy, with_layer_before, with_setting
from laststep.analysis.finding import Confidence, Remedy
from laststep.analysis.messages import Message
from laststep.analysis.passed_layers import all_steps, first_of_head, last_step_only, named, output_layer
from laststep.analysis.shape_errors import ShapeError
from laststep.analysis.shapes import LabelMismatch, format_shape, parse_shape
from laststep.record.events.network import Network, PassedLayer
from laststep.text import format_count

LIKELY = Confidence.LIKELY
_IN_LOSS = re.compile(r"\{\{node (?:[\w/]*_)?loss/|\{\{node [\w/]*(?:mean_|categorical_|crossentropy)")


def explain_labels(found: LabelMismatch, network: Network | None, error: ShapeError) -> ShapeError:
    """The error as it is, or what the layers say."""
    if network is None or not network.layers:
        return error
    shapes = f"labels {format_shape(found.target)}, output {format_shape(found.output)}"
    explained = (
        _too_many_axes(found, network, shapes)
        or _too_few_axes(found, network, shapes)
        or _smaller(found, network, shapes)
        or _columns(found, network, shapes)
    )
    return explained or error


def explain_in_loss(message: Message, network: Network | None, error: ShapeError) -> ShapeError:
    """Two tensors of a loss's own operation: the one with as many columns as the last layer has units is the output."""
    a, b = parse_shape(message.get("a")), parse_shape(message.get("b"))
    last = output_layer(network.layers) if network is not None else None
    if not a or not b or last is None or not _IN_LOSS.search(message.found.string):
        return error
    units = last.settings.get("units", last.settings.get("filters"))
    if units not in (a[-1], b[-1]) or a[-1] == b[-1]:
        return error
    target, output = (a, b) if b[-1] == units else (b, a)
    return explain_labels(LabelMismatch(message, target, output), network, error)


def _too_many_axes(found: LabelMismatch, network: Network, shapes: str) -> ShapeError | None:
    if not found.lacks_flatten:
        return None
    steps = all_steps(network.layers)
    if steps is not None:
        return _all_steps(steps, network, shapes)
    head = first_of_head(network.layers)
    if head is None:
        return None
    flatten = with_layer_before(head, f"Flatten({passed_on(head).removeprefix(', ')})", network.reach)
    axes = len(head.given or found.output) - 2
    pooling = f"GlobalAveragePooling{axes}D" if axes in (1, 2, 3) else "Flatten"
    pooled = (
        with_layer_before(head, f"{pooling}()", network.reach) if not passed_on(head) and axes in (1, 2, 3) else None
    )
    others = (remedy("Or average over the extra axes", pooled),) if pooled is not None else ()
    return ShapeError(
        f"The labels are one for each sample, the output is one for each position ({shapes}): Flatten or pooling is "
        f"missing before {named(head)}.",
        (remedy("Flatten before this layer", flatten, "keras.layers.Flatten()"), *others),
        head.where,
        LIKELY,
    )


def _all_steps(steps: PassedLayer, network: Network, shapes: str) -> ShapeError:
    edit = with_setting(steps.made, "return_sequences", "False")
    head = first_of_head(network.layers)
    pooled = with_layer_before(head, "GlobalAveragePooling1D()", network.reach) if head is not None else None
    return ShapeError(
        f"The labels are one for each sample, but {named(steps)} returns an output for each step ({shapes}).",
        (
            remedy("Let it return only its last output", edit, "return_sequences=False"),
            remedy("Or average over the steps", pooled, "keras.layers.GlobalAveragePooling1D()"),
        ),
        steps.where,
        LIKELY,
    )


def _too_few_axes(found: LabelMismatch, network: Network, shapes: str) -> ShapeError | None:
    """One label for each step, and a recurrent layer that returns only its last output."""
    last = last_step_only(network.layers)
    if last is None or len(found.target) < 2 or found.target[1] is None:
        return None
    steps = last.given[1] if len(last.given) == 3 else None
    axes = len(found.output) if not found.is_loss_sparse else len(found.output) - 1
    if len(found.target) <= axes or steps not in (None, found.target[1]):
        return None
    edit = with_setting(last.made, "return_sequences", "True")
    return ShapeError(
        f"The labels are one for each step, but {named(last)} returns only its last output ({shapes}).",
        (remedy("Let it return its output of each step", edit, "return_sequences=True"),),
        last.where,
        LIKELY,
    )


def _smaller(found: LabelMismatch, network: Network, shapes: str) -> ShapeError | None:
    """Masks and feature maps of different sides."""
    target, output = found.target, found.output
    if len(target) != len(output) or len(output) != 4 or target[1:3] == output[1:3]:
        return None
    last, sides = output_layer(network.layers), list(zip(target[1:3], output[1:3], strict=True))
    factors = {t // o for t, o in sides if t and o and t % o == 0}
    whole = len(factors) == 1 and all(t and o and t % o == 0 for t, o in sides)
    edit = (
        with_layer_before(last, f"UpSampling2D({min(factors)})", network.reach) if whole and last is not None else None
    )
    resize = Remedy("Or resize the labels to the output", f"y = tf.image.resize(y, {format_shape(output[1:3])})")
    enlarge = remedy("Enlarge the feature maps to the size of the labels", edit, "keras.layers.UpSampling2D()")
    reason = "pooling, strides or padding='valid' change the size"
    where = last.where if last is not None else None
    return ShapeError(f"The sides of labels and output differ ({shapes}): {reason}.", (enlarge, resize), where, LIKELY)


def _columns(found: LabelMismatch, network: Network, shapes: str) -> ShapeError | None:
    """Another number of classes or columns than the last layer has units."""
    target, output, last = found.target, found.output, output_layer(network.layers)
    if (
        last is None
        or len(target) != len(output)
        or target[:-1] != output[:-1]
        or not target
        or target[-1] == output[-1]
    ):
        return None
    setting = "units" if "units" in last.settings else "filters"
    if target[-1] is None or last.settings.get(setting) != output[-1]:
        return None
    edit = with_setting(last.made, setting, str(target[-1]), 0)
    sketch = f"keras.layers.{last.class_name}({target[-1]}, …)"
    columns = format_count(target[-1], "column")
    return ShapeError(
        f"The labels have {columns}, but {named(last)} has {output[-1]} {setting} ({shapes}).",
        (
            remedy("Give it one for each column of the labels", edit, sketch),
            Remedy("Or correct the labels, if their number of columns is wrong"),
        ),
        last.where,
        LIKELY,
    )
