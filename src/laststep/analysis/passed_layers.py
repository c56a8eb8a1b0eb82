"""The layers on the way to an error: what each is, and the one that explains it."""

from __future__ import annotations

from collections.abc import Iterator

from laststep.analysis.messages import failures
from laststep.analysis.shapes import Shape
from laststep.record.events.network import Network, PassedLayer
from laststep.record.run import Run

RECURRENT = ("LSTM", "GRU", "SimpleRNN", "RNN", "CuDNNLSTM", "CuDNNGRU", "ConvLSTM1D", "ConvLSTM2D")
# Layers that need the axis of time.
OF_SEQUENCES = (
    *RECURRENT[:6],
    *("Conv1D", "SeparableConv1D", "MaxPooling1D", "AveragePooling1D", "GlobalMaxPooling1D", "GlobalAveragePooling1D"),
    *("TimeDistributed", "Bidirectional", "Attention", "AdditiveAttention", "MultiHeadAttention", "SpatialDropout1D"),
)
# Layers that keep the number of axes and follow others freely.
KEEPS_AXES = (
    *(
        "Dense",
        "Dropout",
        "BatchNormalization",
        "LayerNormalization",
        "Activation",
        "ReLU",
        "LeakyReLU",
        "PReLU",
        "ELU",
    ),
    *("Softmax", "GaussianNoise", "GaussianDropout", "AlphaDropout", "UnitNormalization", "ActivityRegularization"),
)


def network_of(run: Run) -> Network | None:
    """The layers around the error that ended the training: of the error in its wrappings, the one at the layer."""
    ended = next(iter(failures(run)), None)
    if run.is_log or ended is None:
        return None
    named_in = [each for each in run.all(Network) if each.failed and each.failed in ended.message]
    return named_in[-1] if named_in else run.last(Network)


def kind_of(layer: PassedLayer) -> str:
    """The class that does the work: of Bidirectional(LSTM) the LSTM."""
    return layer.inner or layer.class_name


def named(layer: PassedLayer) -> str:
    kind = f"{layer.class_name} of {layer.inner}" if layer.inner else layer.class_name
    return f"{layer.name} ({kind})"


def failed_layer(network: Network | None) -> PassedLayer | None:
    layer = network.layers[-1] if network is not None and network.layers else None
    return layer if layer is not None and network is not None and layer.name == network.failed else None


def last_step_only(layers: tuple[PassedLayer, ...]) -> PassedLayer | None:
    """The recurrent layer that these end with, but for layers that keep the axes; it returns only its last output."""
    for layer in reversed(layers):
        if kind_of(layer) in RECURRENT:
            return layer if layer.settings.get("return_sequences") is False else None
        if layer.class_name not in KEEPS_AXES:
            return None
    return None


def all_steps(layers: tuple[PassedLayer, ...]) -> PassedLayer | None:
    """The same, where it returns all its outputs."""
    for layer in reversed(layers):
        if kind_of(layer) in RECURRENT:
            return layer if layer.settings.get("return_sequences") is True else None
        if layer.class_name not in (*KEEPS_AXES, "TimeDistributed"):
            return None
    return None


def first_of_head(layers: tuple[PassedLayer, ...]) -> PassedLayer | None:
    """The first Dense of those at the end: Flatten belongs before it."""
    head: PassedLayer | None = None
    for layer in reversed(layers):
        if layer.class_name not in (*KEEPS_AXES, "TimeDistributed"):
            break
        head = layer if layer.class_name in ("Dense", "TimeDistributed") else head
    return head


def output_layer(layers: tuple[PassedLayer, ...]) -> PassedLayer | None:
    """The last one that has units or filters."""
    sized = [layer for layer in layers if {"units", "filters"} & layer.settings.keys()]
    return sized[-1] if sized else None


def input_shape(network: Network) -> Shape:
    """The first shape that is known on the way."""
    known: Iterator[Shape] = (shape for layer in network.layers for shape in (layer.given, layer.gives) if shape)
    return next(known, ())


def is_shared_line(layer: PassedLayer, layers: tuple[PassedLayer, ...]) -> bool:
    """Several layers are made on the line of this one: in a loop."""
    made = layer.made
    if made is None or not made.in_loop:
        return False
    lines = [(each.made.file, each.made.line) for each in layers if each.made is not None]
    return lines.count((made.file, made.line)) > 1
