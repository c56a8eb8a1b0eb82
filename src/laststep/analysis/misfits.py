"""The ways in which shapes do not fit, by the messages of Keras and TensorFlow, and what each usually means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import Message, compiled
from laststep.analysis.shapes import Labels, Shape, shape, spoken


@dataclass(frozen=True)
class Told:
    """The cause in the user's words, with what to change."""

    cause: str
    remedies: tuple[Remedy, ...] = ()


def of_labels(found: Labels) -> Told:
    """Labels and output that differ, and not because one is one-hot."""
    shapes = f"labels {spoken(found.target)}, output {spoken(found.output)}"
    if found.lack_a_flatten:
        return Told(
            f"The model's output has more axes than the labels ({shapes}): a Flatten or a pooling layer is missing.",
            (Remedy("Flatten before the last Dense layer, or pool over the extra axes", "keras.layers.Flatten(),"),),
        )
    if found.output and found.target and found.output[-1] != found.target[-1]:
        want = found.target[-1] if len(found.target) == len(found.output) else None
        change = f"keras.layers.Dense({want}, …)" if want else None
        return Told(
            f"The output and the labels do not have the same width ({shapes}).",
            (Remedy("Let the last layer have a unit for each column of the labels", change),),
        )
    return Told(f"The labels do not fit the output ({shapes}): they come in different numbers.")


def _features(message: Message) -> Told:
    got = shape(message.get("got"))
    layer, wanted = message.get("layer"), message.get("wanted")
    axis = "features" if message.get("axis") == "-1" else f"entries on axis {message.get('axis')}"
    change = f"keras.Input(shape={got[1:] if len(got) != 2 else (got[-1],)})" if None not in got[1:] else None
    return Told(
        f"The layer {layer} was built for {wanted} {axis} and got a tensor of shape {spoken(got)}.",
        (Remedy("Build the model for the data as it is, or give it the data it was built for", change),),
    )


def _axes(message: Message) -> Told:
    got, wanted = shape(message.get("got")), int(message.get("wanted"))
    lacking = wanted - int(message.get("found") or len(got))
    cause = f"The layer {message.get('layer')} takes tensors of {wanted} axes and got {spoken(got)}."
    if lacking == 1 and wanted == 4:
        return Told(cause, (Remedy("Images need an axis for their channels", "x = x[..., np.newaxis]"),))
    if lacking == 1 and wanted == 3:
        return Told(
            cause, (Remedy("Sequences need an axis for their steps or their features", "x = x[..., np.newaxis]"),)
        )
    if lacking < 0:
        return Told(cause, (Remedy("Bring the extra axes away before this layer", "keras.layers.Flatten(),"),))
    return Told(cause, (Remedy("Give the data the axes that the layer takes: x.reshape or keras.layers.Reshape"),))


def _expected(message: Message) -> Told:
    got, wanted = shape(message.get("got")), shape(message.get("wanted"))
    name = message.get("layer") or "The model"
    cause = f"{name} was built for tensors of shape {spoken(wanted)} and got {spoken(got)}."
    if len(wanted) == 2 and len(got) > 2:
        return Told(cause, (Remedy("Flatten the data first", "keras.layers.Flatten(),  # as the first layer"),))
    own = got if "Error when checking" in message.found[0] else got[1:]  # Keras 2 leaves the batch's axis out
    return Told(cause, (Remedy("Build the model for the data as it is", f"keras.Input(shape={_python(own)})"),))


def _python(sizes: Shape) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def _negative(message: Message) -> Told:
    got = shape(message.get("got"))
    first_are_channels = len(got) == 4 and got[1] in (1, 3, 4) and all(size and size > 4 for size in got[2:])
    if first_are_channels:
        return Told(
            f"The layer got {spoken(got)}, next to nothing in its first axis: most likely the channels come first.",
            (
                Remedy("Move the channels to the end", "x = np.moveaxis(x, 1, -1)"),
                Remedy("Or tell the layers", 'keras.config.set_image_data_format("channels_first")  # needs a GPU'),
            ),
        )
    return Told(
        f"The tensor is too small for this layer: from {spoken(got)} nothing is left.",
        (
            Remedy("Keep the size in the layers before", 'padding="same"'),
            Remedy("Or take larger images, or fewer pooling and strided layers"),
        ),
    )


def _two(message: Message) -> Told:
    """Two tensors of an element-wise operation."""
    a, b = shape(message.get("a")), shape(message.get("b"))
    cause = f"Two tensors of shapes {spoken(a)} and {spoken(b)} were to be combined."
    if not a or not b:
        return Told("Two tensors whose shapes do not fit were to be combined.")
    tensors = "Incompatible shapes" in message.found[0]  # arrays of NumPy's have no batches
    if tensors and len(a) == len(b) >= 2 and a[1:] == b[1:] and a[0] and b[0]:
        small, large = sorted((a[0], b[0]))
        return Told(
            f"A batch of {small} met a size of {large} that is fixed somewhere: most likely the last, smaller batch.",
            (
                Remedy("Let all batches have the same size", f"dataset.batch({large}, drop_remainder=True)"),
                Remedy("Or ask each batch for its size instead of writing it down", "batch_size = tf.shape(x)[0]"),
            ),
        )
    if len(a) != len(b) and a[:1] == b[:1]:
        return Told(cause, (Remedy("One has an axis more: compare prediction and target", "y = y[:, np.newaxis]"),))
    return Told(cause)


def _inner(message: Message) -> Told:
    a, b = message.get("a"), message.get("b")
    told = "A matrix product needs the inner sizes to be the same"
    return Told(f"{told}; they are {a} and {b}." if message.get("plain") is not None else f"{told}: [{a}] times [{b}].")


def _cardinality(message: Message) -> Told:
    return Told(
        f"x and y have different numbers of samples: {message.get('x').strip()} and {message.get('y').strip()}.",
        (Remedy("Cut both in the same way: from one split, one filter, one shuffle"),),
    )


def _reshape(message: Message) -> Told:
    have, want = message.get("have"), message.get("want").strip("() ")
    return Told(
        f"A tensor of {have or 'its'} values was to be reshaped to {want or 'another size'}, which does not go.",
        (Remedy("Use -1 for the batch and compute the rest from the layer before", "keras.layers.Flatten()"),),
    )


def _feed(message: Message) -> Told:
    name = message.get("tensor").strip("'\"")
    got, wanted = spoken(shape(message.get("got"))), spoken(shape(message.get("wanted")))
    return Told(f"The placeholder {name} takes {wanted} and was fed {got}.")


def _ragged(message: Message) -> Told:
    return Told(
        f"Elements of different shapes cannot become one batch: [{message.get('a')}] and [{message.get('b')}].",
        (
            Remedy("Bring them to one size before", "dataset.map(lambda x, y: (tf.image.resize(x, (224, 224)), y))"),
            Remedy("Or pad them", "dataset.padded_batch(32)"),
        ),
    )


def _inputs(message: Message) -> Told:
    return Told(
        f"The model takes {message.get('wanted')} inputs and got {message.get('got') or 'another number'}.",
        (Remedy("Give them as one tuple or dict: ((x1, x2), y)"),),
    )


def _weights(message: Message) -> Told:
    return Told(
        f"Saved weights of shape [{message.get('b')}] do not fit a layer of shape [{message.get('a')}].",
        (Remedy("Load them into the model they were saved from: same layers, same number of classes"),),
    )


def _concat(message: Message) -> Told:
    return Told(
        f"Tensors that are to be joined differ in another axis: {message.get('a')[:150]}.",
        (Remedy('Bring them to the same size before: padding="same", cropping, or resizing'),),
    )


Read = Callable[[Message], Told]
_TABLE: list[tuple[str, Read]] = [
    (
        r"Input \d+ (?:of layer |is incompatible with (?:the )?layer "
        r")[\"'`]?(?P<layer>[\w/.-]+)[\"'`]?[^\n]*expected axis (?P<axis>-?\d+) of input shape to have value "
        r"(?P<wanted>\S+?),? but (?:received input with|got) shape \(?(?P<got>[^)\n]*)\)?",
        _features,
    ),
    (
        r"Input \d+ (?:of layer |is incompatible with (?:the )?layer "
        r")[\"'`]?(?P<layer>[\w/.-]+)[\"'`]?[^\n]*expected (?:min_|max_)?ndim=(?P<wanted>\d+), found "
        r"ndim=(?P<found>\d+)(?:[^\n]*?(?:shape received: |shape received: )?[\[(](?P<got>[^)\]\n]*)[)\]])?",
        _axes,
    ),
    (
        r"Error when checking input: expected (?P<layer>\w+) to have (?P<wanted>\d+) dimensions, but got array "
        r"with shape \((?P<got>[^)]*)\)",
        _axes,
    ),
    (
        r"Input \d+ of layer [\"'`]?(?P<layer>[\w/.-]+)[\"'`]? is incompatible with the layer: expected "
        r"shape=\((?P<wanted>[^)]*)\), found shape=\((?P<got>[^)]*)\)",
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
    (r"output size would be (?:zero or )?negative[^\n]*?inputs? shape=\((?P<got>[^)]*)\)", _negative),
    (
        r"Negative dimension size caused by subtracting \d+ from \d+[\s\S]{0,300}?input shapes: \[(?P<got>[^\]]*)\]",
        _negative,
    ),
    (
        r"One of the dimensions in the output is <= 0[^\n]*?\((?P<got>[\dNone, ]+)\)",
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
    (r"Data cardinality is ambiguous[\s\S]*?'?x'? sizes: (?P<x>[^\n]*)\s+'?y'? sizes: (?P<y>[^\n]*)", _cardinality),
    (
        r"Input arrays should have the same number of samples as target arrays\. Found (?P<x>\d+) input samples "
        r"and (?P<y>\d+) target",
        _cardinality,
    ),
    (
        r"Input to reshape is a tensor with (?P<have>\d+) values, but the requested shape (?:has|requires a "
        r"multiple of) (?P<want>\d+)",
        _reshape,
    ),
    (
        r"cannot reshape (?:array of size|a tensor with) (?P<have>\d+)(?: elements)? (?:into shape|to "
        r"shape)\s*(?P<want>[^\n]*)",
        _reshape,
    ),
    (
        r"total size of (?:the tensor|new array) must be unchanged[^\n]*?(?P<have>)(?P<want>(?:target_shape|"
        r"output_shape)=?\s*\([^)]*\))?",
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
    (r"Layer [\"']?[\w/.-]+[\"']? expects (?P<wanted>\d+) input\(s\), but it received (?P<got>\d+) input", _inputs),
    (
        r"(?:expects|expected to see|Expected) (?P<wanted>\d+) (?:input\(s\)|array\(s\)|inputs?)[^\n]*?(?:got|"
        r"received|instead got)[^\n\d]*(?P<got>\d+)?",
        _inputs,
    ),
    (
        r"(?:Layer \S+ )?[Ww]eight shape \(?\[?(?P<a>[\d, ]+)\]?\)? not compatible with provided weight shape "
        r"\(?\[?(?P<b>[\d, ]+)",
        _weights,
    ),
    (
        r"Assign requires shapes of both tensors to match\. lhs shape= ?\[(?P<a>[^\]]*)\] rhs shape= "
        r"?\[(?P<b>[^\]]*)\]",
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
    (r"(?:ConcatOp|Concat) ?: Dimensions of inputs should match[^\n]*?(?P<a>shape\[[^\n]*)", _concat),
]
MISFITS: list[tuple[re.Pattern[str], Read]] = [(re.compile(pattern), read) for pattern, read in _TABLE]
# Said plainly enough, without a story of their own.
GENERAL = compiled(
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
