"""Errors about shapes that an argument explains: initial weights, groups, class_weight, arrays of ragged lists."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from laststep.analysis.edits import Edit, argument, before_call, given_to_fit, remedy, replace_keyword, with_setting
from laststep.analysis.finding import Confidence, Remedy
from laststep.analysis.messages import Message, failures
from laststep.analysis.passed_layers import failed_layer, named
from laststep.analysis.shape_errors import ShapeError
from laststep.analysis.shapes import Shape, format_shape, parse_shape
from laststep.record.events.network import Network, PassedLayer
from laststep.record.events.process import Raised
from laststep.record.run import Run

LIKELY = Confidence.LIKELY
OBJECT_DTYPE = re.compile(
    r"(?i)invalid dtype: object|unsupported object type|inhomogeneous|dtype object|convert a NumPy"
)
WEIGHT_ARGUMENTS = {"Embedding": ("input_dim", "output_dim"), "Dense": ("", "units")}


def initial_weights(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """A matrix given to a layer of another shape."""
    layer = failed_layer(network)
    if layer is None or layer.class_name not in WEIGHT_ARGUMENTS:
        return None
    has, given = _layer_and_matrix(message, layer)
    if len(has) != 2 or len(given) != 2 or has == given:
        return None
    cause = f"{named(layer)} has weights of shape {format_shape(has)} but is given {format_shape(given)}."
    own = Remedy(f"Or make the matrix for this layer: shape {format_shape(has)}")
    differ = [axis for axis in (0, 1) if has[axis] != given[axis]]
    setting = WEIGHT_ARGUMENTS[layer.class_name][differ[0]]
    if not setting or len(differ) != 1:
        return ShapeError(cause, (own,), layer.where, LIKELY)
    size = _size_of_matrix(layer, differ[0]) or str(given[differ[0]])
    edit = with_setting(layer.made, setting, size, differ[0] if layer.class_name == "Embedding" else 0)
    fit = remedy("Give the layer the size of the matrix", edit, f"{layer.class_name}(…, {setting}={given[differ[0]]})")
    return ShapeError(cause, (fit, own), layer.where, LIKELY)


def saved_weights(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """A checkpoint of a model with other sizes."""
    call = network.call
    if call is None or not call.name.endswith("load_weights"):
        return None
    edit = with_setting(call, "skip_mismatch", "True")
    same = Remedy("Build the model with the sizes it was saved with: the same layers, the same number of classes")
    skip = remedy("Or leave out the layers that differ: they are trained from scratch", edit, "skip_mismatch=True")
    return replace(error, remedies=(same, skip), confidence=LIKELY)


def _layer_and_matrix(message: Message, layer: PassedLayer) -> tuple[Shape, Shape]:
    """The shape of the layer's weights, and the one that they were given."""
    a, b = parse_shape(message.get("a")), parse_shape(message.get("b"))
    text = message.found.string
    if "provided weight shape" in text:
        return a, b
    own = (layer.settings.get("input_dim"), layer.settings.get("output_dim"))
    if "nitializer" not in text or own not in (a, b):
        return (), ()
    return (a, b) if a == own else (b, a)


def _size_of_matrix(layer: PassedLayer, axis: int) -> str:
    """`matrix.shape[0]` of weights=[matrix]."""
    given = argument(layer.made, "weights") if layer.made is not None else None
    name = given.text.strip("[]() ,") if given is not None else ""
    return f"{name}.shape[{axis}]" if name.isidentifier() else ""


def groups(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """A convolution in groups that do not divide the channels."""
    layer = failed_layer(network)
    number = layer.settings.get("groups") if layer is not None else None
    if layer is None or not isinstance(number, int) or number < 2 or not layer.given or "groups" not in message.quote:
        return None
    channels, filters = layer.given[-1] or 1, layer.settings.get("filters")
    common = math.gcd(channels, filters if isinstance(filters, int) else channels, number)
    cause = f"{named(layer)} divides {channels} input channels into {number} groups."
    edit = with_setting(layer.made, "groups", str(common))
    fewer = remedy("Use a number of groups that divides the channels and the filters", edit, f"groups={common}")
    return ShapeError(cause, (fewer, Remedy("Or give it an input whose channels it divides")), layer.where, LIKELY)


def class_weight_error(run: Run, network: Network | None) -> tuple[Raised, ShapeError] | None:
    """class_weight, which Keras applies to one class for each sample, with labels for each step or pixel."""
    call, raised = network.call if network is not None else None, next(iter(failures(run)), None)
    given = argument(call, "class_weight") if call is not None else None
    if network is None or call is None or raised is None or given is None or given.text == "None":
        return None
    labels = network.y_shape
    is_in_loss = "_loss/" in raised.message and "/mul" in raised.message
    is_in_weights = any(frame.function == "class_weight_to_sample_weights" for frame in raised.frames)
    if not (is_in_weights or "class_weight" in raised.message or is_in_loss) or len(labels) < 2:
        return None
    y = given_to_fit(network, "y", 1)
    classes = f"{y}.argmax(-1)" if _is_one_hot(run, labels) else y
    new = f"sample_weight=np.vectorize({_as_value(given.text)}.get, otypes=[float])({classes})"
    edit: Edit | None = replace_keyword(call, given, new) if y else None
    does = "Give each position its own weight"
    sketch = "sample_weight=np.vectorize(class_weight.get, otypes=[float])(y)"
    cause = f"class_weight needs one class for each sample, but the labels have shape {format_shape(labels)}."
    return raised, ShapeError(cause, (remedy(does, edit, sketch),), edit.where if edit else None)


def _as_value(text: str) -> str:
    return text if text.isidentifier() or text.startswith("{") else f"({text})"


def _is_one_hot(run: Run, labels: Shape) -> bool:
    loss = run.fit.began.loss if run.fit is not None else None
    return len(labels) > 2 and labels[-1] != 1 and "sparse" not in str(loss)


def ragged_error(network: Network | None) -> ShapeError | None:
    """An object array of lists that differ in length."""
    objects = network.objects if network is not None else None
    if network is None or objects is None or objects.longest is None or objects.shortest == objects.longest:
        return None
    lengths = f"{objects.shortest} to {objects.longest}"
    cause = f"The array holds {' and '.join(objects.kinds)} objects of different lengths, {lengths}: no tensor."
    name = given_to_fit(network, "x", 0)
    if (objects.axes or 1) > 1:
        does = "Resize them to one shape, then stack them"
        return ShapeError(cause, (Remedy(does, "x = np.stack([tf.image.resize(image, (64, 64)) for image in x])"),))
    edit = before_call(network.call, *_padding(network, name)) if name else None
    pad = remedy("Pad them to one length", edit, "x = keras.utils.pad_sequences(x)")
    return ShapeError(cause, (pad,), edit.where if edit else None)


def ragged_lists(message: Message, network: Network, error: ShapeError) -> ShapeError | None:
    """Lists of different lengths given to NumPy or to from_tensor_slices."""
    if "inhomogeneous" not in message.quote and "non-rectangular" not in message.quote:
        return None
    call = network.call
    first = call.arguments[0].text if call is not None and call.arguments else ""
    name = first.strip("() ").partition(",")[0]
    edit = before_call(call, *_padding(network, name)) if name.isidentifier() else None
    pad = remedy("Pad sequences to one length", edit, "x = keras.utils.pad_sequences(x)")
    resize = Remedy("Or resize images to one shape", "x = np.stack([tf.image.resize(image, (64, 64)) for image in x])")
    return ShapeError(error.cause, (pad, resize), edit.where if edit else None, LIKELY)


def _padding(network: Network, name: str) -> tuple[str, ...]:
    """The statements that pad the lists of this name."""
    if network.keras:
        return (f"{name} = {network.keras}utils.pad_sequences({name})",)
    return ("from keras.utils import pad_sequences", f"{name} = pad_sequences({name})")
