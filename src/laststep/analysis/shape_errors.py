"""The shape errors of Keras and TensorFlow by their messages, and what each usually means."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from laststep.analysis.finding import Confidence, Remedy
from laststep.analysis.messages import Message, compiled
from laststep.analysis.shapes import LabelMismatch, Shape, format_shape, is_channels_first, parse_shape
from laststep.record.place import Place

# Keras's own names of layers of sequences after the first: lstm_1, bidirectional_2.
_SECOND_RECURRENT = re.compile(r"(?:(?:lstm|gru|simple_rnn|bidirectional)_\d+|time_distributed|TimeDistributed)$")
FEWER_LAYERS = Remedy("Or use larger images, or fewer pooling and strided layers")


@dataclass(frozen=True)
class ShapeError:
    """What does not match, and what to change."""

    cause: str
    remedies: tuple[Remedy, ...] = ()
    where: Place | None = None  # the line to change, where it is not the one that raised
    confidence: Confidence = Confidence.CERTAIN


def describe_labels(found: LabelMismatch) -> ShapeError:
    """Labels and output that differ, and not because one is one-hot."""
    shapes = f"labels {format_shape(found.target)}, output {format_shape(found.output)}"
    if found.lacks_flatten:
        return _too_many_axes(found, shapes)
    if found.output and found.target and found.output[-1] != found.target[-1]:
        columns = found.target[-1] if len(found.target) == len(found.output) else None
        change = f"keras.layers.Dense({columns}, …)" if columns else None
        return ShapeError(
            f"The last axes of the output and the labels differ ({shapes}).",
            (Remedy("Give the last layer one unit per label column", change),),
            confidence=Confidence.LIKELY,
        )
    return ShapeError(f"The numbers of labels and predictions differ ({shapes}).")


def _too_many_axes(found: LabelMismatch, shapes: str) -> ShapeError:
    flatten = Remedy("Flatten before the last Dense layer, or pool over the extra axes", "keras.layers.Flatten(),")
    last = Remedy("Or let the recurrent layer return only its last output, if there is one", "return_sequences=False")
    return ShapeError(
        f"The model's output has more axes than the labels ({shapes}): a Flatten or pooling layer is missing"
        f"{', or a recurrent layer returns all its steps' if len(found.output) == 3 else ''}.",
        (flatten, last) if len(found.output) == 3 else (flatten,),
        confidence=Confidence.LIKELY,
    )


def _features(message: Message) -> ShapeError:
    got = parse_shape(message.get("got"))
    layer, wanted = message.get("layer"), message.get("wanted")
    axis = "features" if message.get("axis") == "-1" else f"entries on axis {message.get('axis')}"
    change = f"keras.Input(shape={format_shape(got[1:])})" if got and None not in got[1:] else None
    return ShapeError(
        f"The layer {layer} was built for {wanted} {axis} but got a tensor of shape {format_shape(got)}.",
        (Remedy("Build the model for this data, or pass data of the shape it was built for", change),),
        confidence=Confidence.LIKELY,
    )


def _axes(message: Message) -> ShapeError:
    got, wanted = parse_shape(message.get("got")), int(message.get("wanted"))
    lacking = wanted - int(message.get("found") or len(got))
    cause = f"The layer {message.get('layer')} expects ndim={wanted} but got a tensor of shape {format_shape(got)}."
    if lacking == 1 and wanted == 4:
        return ShapeError(cause, (Remedy("Add a channel axis to the images", "x = x[..., np.newaxis]"),))
    if lacking == 1 and wanted == 3:
        axis = Remedy("Add an axis for the time steps or the features of the sequences", "x = x[..., np.newaxis]")
        whole = Remedy("Let the recurrent layer before it return its output of each step", "return_sequences=True")
        is_second = _SECOND_RECURRENT.match(message.get("layer")) is not None
        return ShapeError(cause, (whole, axis) if is_second else (axis, whole), confidence=Confidence.LIKELY)
    if lacking < 0:
        return ShapeError(cause, (Remedy("Remove the extra axes before this layer", "keras.layers.Flatten(),"),))
    return ShapeError(cause, (Remedy("Reshape the data as the layer expects it: x.reshape or keras.layers.Reshape"),))


def _expected(message: Message) -> ShapeError:
    got, wanted = parse_shape(message.get("got")), parse_shape(message.get("wanted"))
    name = message.get("layer") or "The model"
    cause = f"{name} was built for tensors of shape {format_shape(wanted)} but got {format_shape(got)}."
    if len(wanted) == 2 and len(got) > 2:
        return ShapeError(cause, (Remedy("Flatten the data first", "keras.layers.Flatten(),  # as the first layer"),))
    is_keras_2 = "Error when checking" in message.found[0]  # Keras 2 leaves out the batch axis
    sample, needed = (got, wanted) if is_keras_2 else (got[1:], wanted[1:])
    return ShapeError(cause, (_fit_each_other(sample, needed),), confidence=Confidence.LIKELY)


def _fit_each_other(sample: Shape, needed: Shape) -> Remedy:
    """The model to the data; where these have other axes, the data to the model."""
    if len(sample) == len(needed):
        return Remedy("Build the model for this data", f"keras.Input(shape={format_shape(sample)})")
    known = None not in sample + needed
    if known and math.prod(size or 0 for size in sample) == math.prod(size or 0 for size in needed):
        return Remedy("Give the data the axes of the model", f"x = x.reshape({format_shape((-1, *needed))})")
    return Remedy(f"Make data of shape {format_shape(needed)} for each sample, or build the model for this data")


def _negative(message: Message) -> ShapeError:
    got = parse_shape(message.get("got"))
    if is_channels_first(got):
        return ShapeError(
            f"The layer got shape {format_shape(got)}: most likely the images are channels-first.",
            (
                Remedy("Move the channels to the last axis", "x = np.moveaxis(x, 1, -1)"),
                Remedy("Or configure Keras", 'keras.config.set_image_data_format("channels_first")  # needs a GPU'),
            ),
            confidence=Confidence.LIKELY,
        )
    return ShapeError(
        f"A tensor of shape {format_shape(got)} is too small for this layer: its output would be empty.",
        (
            Remedy("Keep the size in the layers before it", 'padding="same"'),
            FEWER_LAYERS,
        ),
        confidence=Confidence.LIKELY,
    )


def _two(message: Message) -> ShapeError:
    """Two tensors of an element-wise operation."""
    a, b = parse_shape(message.get("a")), parse_shape(message.get("b"))
    if not a or not b:
        return ShapeError("An operation got two tensors of incompatible shapes.")
    cause = f"An operation got two tensors of incompatible shapes, {format_shape(a)} and {format_shape(b)}."
    are_tensors = "Incompatible shapes" in message.found[0]  # NumPy's arrays have no batch axis
    if are_tensors and len(a) == len(b) >= 2 and a[1:] == b[1:] and a[0] and b[0]:
        small, large = sorted((a[0], b[0]))
        return ShapeError(
            f"A batch of {small} met a fixed batch size of {large}: most likely the last, smaller batch.",
            (
                Remedy("Give all batches the same size", f"dataset.batch({large}, drop_remainder=True)"),
                Remedy("Or read the size from each batch instead of hard-coding it", "batch_size = tf.shape(x)[0]"),
            ),
        )
    if len(a) != len(b) and a[:1] == b[:1]:
        remedy = Remedy("One has an extra axis: compare prediction and target", "y = y[:, np.newaxis]")
        return ShapeError(cause, (remedy,))
    return ShapeError(cause)


def _inner(message: Message) -> ShapeError:
    a, b = message.get("a"), message.get("b")
    sizes = f"{a} and {b}" if "plain" in message.found.groupdict() else f"[{a}] times [{b}]"
    return ShapeError(f"The inner dimensions of a matrix product differ: {sizes}.")


def _cardinality(message: Message) -> ShapeError:
    return ShapeError(
        f"x and y have different numbers of samples: {message.get('x')} and {message.get('y')}.",
        (Remedy("Split, filter and shuffle x and y together"),),
    )


def _reshape(message: Message) -> ShapeError:
    have, want = message.get("have"), message.get("want").strip("() ")
    tensor = f"A tensor with {have} values" if have else "A tensor"
    target = f"shape ({want})" if "," in want else f"{want} values" if want else "a shape of another size"
    return ShapeError(
        f"{tensor} cannot be reshaped to {target}.",
        (Remedy("Use -1 for the batch axis and compute the rest from the previous layer", "keras.layers.Flatten()"),),
    )


def _feed(message: Message) -> ShapeError:
    name = message.get("tensor").strip("'\"")
    got, wanted = (format_shape(parse_shape(message.get(group))) for group in ("got", "wanted"))
    return ShapeError(f"The placeholder {name} expects shape {wanted} but was fed {got}.")


def _ragged(message: Message) -> ShapeError:
    a, b = message.get("a"), message.get("b")
    return ShapeError(
        f"Elements of different shapes cannot form a batch{f': [{a}] and [{b}]' if a or b else ''}.",
        (
            Remedy("Resize them to one shape first", "dataset.map(lambda x, y: (tf.image.resize(x, (224, 224)), y))"),
            Remedy("Or pad them", "dataset.padded_batch(32)"),
        ),
    )


def _inputs(message: Message) -> ShapeError:
    return ShapeError(
        f"The model expects {message.get('wanted')} inputs but got {message.get('got') or 'another number'}.",
        (Remedy("Pass them as one tuple or dict: ((x1, x2), y)"),),
    )


def _weights(message: Message) -> ShapeError:
    return ShapeError(
        f"Saved weights of shape [{message.get('b')}] do not match a layer of shape [{message.get('a')}].",
        (Remedy("Load them into the model they were saved from: same layers, same number of classes"),),
    )


def _depth(message: Message) -> ShapeError:
    has, wants = message.get("a"), message.get("b")
    channels = "input channel" if wants == "1" else "input channels"
    return ShapeError(
        f"The filter is made for {wants} {channels}, but its input has {has}.",
        (
            Remedy(f"Give the third axis of the filter the channels of its input: (height, width, {has}, filters)"),
            Remedy(f"Or give the layer before {wants} filters"),
        ),
        confidence=Confidence.LIKELY,
    )


def _concat(message: Message) -> ShapeError:
    return ShapeError(
        f"The tensors to concatenate also differ in another axis: {message.get('a')[:150]}.",
        (Remedy('Give them the same size first: padding="same", cropping, or resizing'),),
    )


Describe = Callable[[Message], ShapeError]
_TABLE: list[tuple[str, Describe]] = [
    (
        r"Input \d+ (?:with name '[^'\n]*' )?(?:of layer |is incompatible with (?:the )?layer "
        r")[\"'`]?(?P<layer>[\w/.-]+)[\"'`]?[^\n]*expected axis (?P<axis>-?\d+) of input shape to have value "
        r"(?P<wanted>\S+?),? but (?:received input with|got) shape \(?(?P<got>[^)\n]*)\)?",
        _features,
    ),
    (
        r"Input \d+ (?:with name '[^'\n]*' )?(?:of layer |is incompatible with (?:the )?layer "
        r")[\"'`]?(?P<layer>[\w/.-]+)[\"'`]?[^\n]*expected (?:min_|max_)?ndim=(?P<wanted>\d+), found "
        r"ndim=(?P<found>\d+)(?:[^\n]*?(?:shape received: |shape received: )?[\[(](?P<got>[^)\]\n]*)[)\]])?",
        _axes,
    ),
    (
        r"`(?P<layer>TimeDistributed)` Layer should be passed an `input_shape` with at least (?P<wanted>3) dimensions, "
        r"received: \((?P<got>[^)]*)\)",
        _axes,
    ),
    (
        r"Error when checking input: expected (?P<layer>\w+) to have (?P<wanted>\d+) dimensions, but got array "
        r"with shape \((?P<got>[^)]*)\)",
        _axes,
    ),
    (
        r"Input \d+ (?:with name '[^'\n]*' )?of layer [\"'`]?(?P<layer>[\w/.-]+)[\"'`]? is incompatible with the "
        r"layer: expected shape=\((?P<wanted>[^)]*)\), found shape=\((?P<got>[^)]*)\)",
        _expected,
    ),
    (
        r"Error when checking input: expected (?P<layer>\w+) to have shape \((?P<wanted>[^)]*)\) but got array "
        r"with shape \((?P<got>[^)]*)\)",
        _expected,
    ),
    (
        r"Invalid input shape for input Tensor\([^\n]*\)\. Expected shape \((?P<wanted>[^)]*)\), but input has "
        r"incompatible shape \((?P<got>[^)]*)\)",
        _expected,
    ),
    (r"output size would be (?:zero or )?negative[^\n]*?inputs?[ .]shape=[(\[](?P<got>[^)\]]*)[)\]]", _negative),
    (
        r"Negative dimension size caused by subtracting \d+ from \d+[\s\S]{0,300}?input shapes: \[(?P<got>[^\]]*)\]",
        _negative,
    ),
    (
        r"One of the dimensions in the output is <= 0[^\n]*?[(\[](?P<got>[\dNone, ]+)[)\]]",
        _negative,
    ),
    (r"Incompatible shapes: \[(?P<a>[^\]]*)\] vs\.? \[(?P<b>[^\]]*)\]", _two),
    (r"operands could not be broadcast together with (?:remapped )?shapes[^(]*\((?P<a>[^)]*)\) \((?P<b>[^)]*)\)", _two),
    (
        r"(?:required broadcastable shapes|Inputs to operation \S+ of type \w+ must have the same size and "
        r"shape\.\s+Input 0: \[(?P<a>[^\]]*)\] != input \d+: \[(?P<b>[^\]]*)\])",
        _two,
    ),
    (r"Matrix size-incompatible: In\[0\]: \[(?P<a>[^\]]*)\], In\[1\]: \[(?P<b>[^\]]*)\]", _inner),
    (r"Dimensions must be equal, but are (?P<a>\d+) and (?P<b>\d+)(?P<plain>) for[^\n]*MatMul", _inner),
    (r"Dimensions must be equal, but are [^\n]{0,600}?with input shapes: \[(?P<a>[^\]]*)\], \[(?P<b>[^\]]*)\]\.", _two),
    (r"Data cardinality is ambiguous[\s\S]*?'?x'? sizes: (?P<x>[^\n]*)\s+'?y'? sizes: (?P<y>[^\n]*)", _cardinality),
    (
        r"Input arrays should have the same number of samples as target arrays\. Found (?P<x>\d+) input samples "
        r"and (?P<y>\d+) target",
        _cardinality,
    ),
    (
        r"Input to reshape is a tensor with (?P<have>\d+) values, but the requested shape (?:has|requires) "
        r"(?P<want>(?:a multiple of )?\d+)",
        _reshape,
    ),
    (
        r"cannot reshape (?:array of size|a tensor with) (?P<have>\d+)(?: elements)? (?:into shape|to "
        r"shape)\s*(?P<want>[^\n]*)",
        _reshape,
    ),
    (
        r"total size of (?:the tensor|new array) must be unchanged(?:[^\n]*?(?:target|output)_shape ?= ?"
        r"[\[(](?P<want>[^)\]\n]*)[)\]])?",
        _reshape,
    ),
    (
        r"Cannot feed value of shape \((?P<got>[^)]*)\) for Tensor (?P<tensor>\S+?),? which has shape "
        r"['\"]?\((?P<wanted>[^)]*)\)",
        _feed,
    ),
    (
        r"Cannot batch tensors with different shapes in component \d+\. First element had shape \[(?P<a>[^\]]*)\] "
        r"and element \d+ had shape \[(?P<b>[^\]]*)\]",
        _ragged,
    ),
    (
        r"Cannot add tensor to the batch: number of elements does not match\. Shapes are: \[tensor\]: "
        r"\[(?P<a>[^\]]*)\], \[batch\]: \[(?P<b>[^\]]*)\]",
        _ragged,
    ),
    (
        r"(?:inhomogeneous shape|All elements in a batch must have the same|Can't convert non-rectangular Python "
        r"sequence)(?P<a>)(?P<b>)",
        _ragged,
    ),
    (
        r"Layer [\"']?[\w/.-]+[\"']? expects (?P<wanted>\d+) (?:named )?input\(s\)[^\n]{0,600}?, but it received "
        r"(?P<got>\d+) input",
        _inputs,
    ),
    (
        r"(?:expects|expected to see|Expected) (?P<wanted>\d+) (?:input\(s\)|array\(s\)|inputs?)[^\n]*?(?:got|"
        r"received|instead got)[^\n\d]*(?P<got>\d+)?",
        _inputs,
    ),
    (
        r"(?:Layer \S+ )?[Ww]eight shape \(?\[?(?P<a>[\d, ]+)\]?\)? (?:is )?not compatible with provided weight shape "
        r"\(?\[?(?P<b>[\d, ]+)",
        _weights,
    ),
    (
        r"Assign requires shapes of both tensors to match\. lhs shape= ?\[(?P<a>[^\]]*)\] rhs shape= "
        r"?\[(?P<b>[^\]]*)\]",
        _weights,
    ),
    (
        r"The shape of the target variable[^\n]*?variable\.shape=\((?P<a>[\d, ]*)\)[^\n]*?value\.shape=\((?P<b>[\d, "
        r"]*)\)",
        _weights,
    ),
    (
        r"(?:The shape of the target variable|Shape mismatch in layer|The target "
        r"variable)[^\n]*\((?P<a>[\d, ]*)\)[^\n]*\((?P<b>[\d, ]*)\)",
        _weights,
    ),
    (
        r"`?Concatenate`? layer requires inputs with matching shapes except for the concat\w* axis\. (?:Received|"
        r"Got inputs shapes): (?P<a>[^\n]*)",
        _concat,
    ),
    (
        r"Dimension \d+ in both shapes must be equal[^\n]{0,60}?Shapes are (?P<a>\[[\d,? ]*\] and \[[\d,? ]*\])"
        r"[^\n]{0,300}?Concat",
        _concat,
    ),
    (r"input depth must be evenly divisible by filter depth: (?P<a>\d+) vs (?P<b>\d+)", _depth),
    (
        r"[Dd]epth of (?:the )?input \((?P<a>\d+)\) is not a multiple of (?:the )?input depth of (?:the )?filter "
        r"\((?P<b>\d+)\)",
        _depth,
    ),
    (r"(?:ConcatOp|Concat) ?: Dimensions of inputs should match[^\n]*?(?P<a>shape\[[^\n]*)", _concat),
]
SHAPE_ERRORS: list[tuple[re.Pattern[str], Describe]] = [(re.compile(pattern), describe) for pattern, describe in _TABLE]
# Messages that say it plainly enough, with no description of their own.
OTHER_SHAPE_ERRORS = compiled(
    r"Dimensions? (?:\d+ in both shapes )?must be equal|[Ss]hapes? (?:must be (?:equal|rank|at (?:least|most))|"
    r"of all inputs must match|mismatch|do(?:es)? not match|are incompatible|\S+ and \S+ (?:are|not) )",
    r"must (?:have|be) (?:the same )?(?:rank|shape|first dimension)|must be rank \d|but is rank \d|In\[\d\] "
    r"(?:ndims|is not a matrix|mismatch)|ndims must be",
    r"(?i)incompatible shapes?|inconsistent shapes?|shape (?:mismatch|error)|not compatible with (?:supplied|"
    r"provided|expected) shape|is (?:not compatible|incompatible) with (?:the )?(?:layer|shape)",
    r"(?:input )?depth (?:of (?:the )?input )?must be (?:evenly )?divisible by|[Nn]umber of (?:input "
    r")?channels[^\n]*(?:match|kernel|divisible)|corresponding dimension of kernel",
    r"Invalid reduction dimension|dimension should be|must (?:all )?be the same (?:size|shape|length)|could not "
    r"broadcast input array|shapes \([^)]*\) and \([^)]*\) not aligned",
    r"mismatch in its core dimension|dimensions except for the concatenation axis must match|last dimension of "
    r"the inputs to a Dense layer should be defined|has shape[^\n]*but expected|as_list\(\) is not defined on an "
    r"unknown",
    r"expected (?:shape|axis|min_ndim|ndim)|unexpected shape|wrong shape|bad shape|TensorShape \(?[^)\n]*\)? "
    r"(?:must|to a Tensor)|Tensor's shape [^\n]* is not compatible",
    r"Expected (?:begin|multiples|size)[^\n]*(?:size|rank|length)|slice index \d+ of dimension \d+ out of bounds",
    r"`?generator`? yielded an element of shape",
)
