"""What met in a loss: its targets, the predictions, the last layer that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from laststep.analysis.learning.site import UNSEEN, Site, latest_sites
from laststep.record.decode import Shape
from laststep.record.event import Event
from laststep.record.events.numbers import Layer, LossCall, TensorStatistics
from laststep.record.run import Run

SPARSE = {"sparsecategoricalcrossentropy", "sparsesoftmaxcrossentropywithlogits"}
CATEGORICAL = {"categoricalcrossentropy", "categoricalfocalcrossentropy", "softmaxcrossentropywithlogits"}
BINARY = {"binarycrossentropy", "binaryfocalcrossentropy", "sigmoidcrossentropywithlogits"}
SQUARED = {"meansquarederror", "mse"}
REGRESSION = SQUARED | {
    *("meanabsoluteerror", "mae", "huber", "logcosh", "meansquaredlogarithmicerror", "meanabsolutepercentageerror")
}
OPS = {
    **{"Softmax": "softmax", "Sigmoid": "sigmoid", "Relu": "relu", "Tanh": "tanh"},
    **dict.fromkeys(("BiasAdd", "MatMul", "AddV2", "Add", "Conv1D", "Conv2D", "Conv3D", "BatchMatMulV2"), "linear"),
}
HIDDEN = ("", "PartitionedCall", "StatefulPartitionedCall")  # what made the output is hidden: ask the layer
ACTIVATIONS = {"softmax", "sigmoid", "relu", "tanh", "linear"}


@dataclass(frozen=True)
class Output:
    """A loss that compared predictions with targets: its kind, the last layer, what was seen of both."""

    site: Site
    loss: str
    from_logits: bool
    activation: str  # softmax, sigmoid, relu, tanh, linear; "" where that is not known
    units: int | None
    layer: Layer  # without a name where it is not known
    y: TensorStatistics
    said: TensorStatistics
    y_shape: Shape = ()
    said_shape: Shape = ()
    said_dtype: str = ""

    @property
    def kind(self) -> str:
        plain = plain_name(self.loss)
        kinds = {"sparse": SPARSE, "categorical": CATEGORICAL, "binary": BINARY, "regression": REGRESSION}
        return next((kind for kind, names in kinds.items() if plain in names), "")

    @property
    def is_tensorflows(self) -> bool:
        """The operation itself, which takes what it is given: Keras's losses look behind a softmax."""
        return plain_name(self.loss).endswith("withlogits")

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.site.made, *self.site.batches[-1:])

    @property
    def named(self) -> str:
        """The last layer as the user knows it."""
        return f"the last layer ({self.layer.name})" if self.layer.name else "the last layer"


def plain_name(loss: str) -> str:
    return loss.lower().replace("_", "")


def outputs(run: Run) -> list[Output]:
    """Of each site that ran last under its name, each loss with what it compared."""
    return [output for site in latest_sites(run) for output in outputs_of(site)]


def outputs_of(site: Site) -> list[Output]:
    return [_output(site, at, call, *_compared(site, at)) for at, call in enumerate(site.losses)]


def _output(site: Site, at: int, call: LossCall, y: TensorStatistics, said: TensorStatistics) -> Output:
    units = call.y_pred_shape[-1] if call.y_pred_shape else None
    layer = _layer_of(site, at, units)
    return Output(
        site=site,
        loss=call.name,
        from_logits=bool(call.from_logits),
        activation=_activation(call.made_by, layer),
        units=units,
        layer=layer,
        y=y,
        said=said,
        y_shape=call.y_shape,
        said_shape=call.y_pred_shape,
        said_dtype=call.y_pred_dtype,
    )


def _compared(site: Site, at: int) -> tuple[TensorStatistics, TensorStatistics]:
    """The targets and predictions of this loss: its own where each has some, the only ones for the last of several."""
    targets, predictions = _numbered(site.tensors, "y"), _numbered(site.tensors, "y_pred")
    if len(targets) == len(site.losses):
        return targets[at], predictions[at] if len(predictions) == len(targets) else UNSEEN
    if len(targets) != 1 or at != len(site.losses) - 1:
        return UNSEEN, UNSEEN
    return targets[0], predictions[0] if len(predictions) == 1 else UNSEEN


def _numbered(tensors: Mapping[str, TensorStatistics], role: str) -> list[TensorStatistics]:
    if role in tensors:
        return [tensors[role]]
    names = sorted((name for name in tensors if name.startswith(role + "/") and name[len(role) + 1 :].isdecimal()),
                   key=lambda name: int(name.rpartition("/")[2]))  # fmt: skip
    return [tensors[name] for name in names]


def _activation(made_by: str, layer: Layer) -> str:
    if made_by not in HIDDEN:
        return OPS.get(made_by, "")
    return layer.activation if layer.activation in ACTIVATIONS else ""


def _layer_of(site: Site, at: int, units: int | None) -> Layer:
    """The layer that makes this output: by its name, or the last with as many units."""
    names = site.made.model.outputs
    named = names[at] if at < len(names) and len(names) == len(site.losses) else None
    layer = next((each for each in site.layers if each.name == named), None)
    if layer is not None and layer.activation:
        return layer
    fitting = [each for each in site.layers if units is not None and units in (each.units, each.filters)]
    return fitting[-1] if fitting else Layer()
