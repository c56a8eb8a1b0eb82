"""What a loss compares: its targets, the predictions, the last layer that makes them."""

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
UNKNOWN_OPS = ("", "PartitionedCall", "StatefulPartitionedCall")  # then the activation is taken from the layer
ACTIVATIONS = {"softmax", "sigmoid", "relu", "tanh", "linear"}


@dataclass(frozen=True)
class Output:
    """A loss that compares predictions with targets: its kind, the last layer, statistics of both."""

    site: Site
    loss: str
    from_logits: bool
    label_smoothing: float
    activation: str  # softmax, sigmoid, relu, tanh, linear; "" where that is not known
    units: int | None
    layer: Layer  # without a name where it is not known
    y: TensorStatistics
    y_pred: TensorStatistics
    y_shape: Shape = ()
    y_pred_shape: Shape = ()
    y_pred_dtype: str = ""

    @property
    def kind(self) -> str:
        plain = plain_name(self.loss)
        kinds = {"sparse": SPARSE, "categorical": CATEGORICAL, "binary": BINARY, "regression": REGRESSION}
        return next((kind for kind, names in kinds.items() if plain in names), "")

    @property
    def is_tensorflow_op(self) -> bool:
        """An operation of TensorFlow, unlike Keras's losses, does not recover the logits before a softmax."""
        return plain_name(self.loss).endswith("withlogits")

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.site.gradients, *self.site.batches[-1:])

    @property
    def layer_name(self) -> str:
        """The last layer, by its name where that is known."""
        return f"the last layer ({self.layer.name})" if self.layer.name else "the last layer"


def plain_name(loss: str) -> str:
    return loss.lower().replace("_", "")


def outputs(run: Run) -> list[Output]:
    """Each loss of the latest sites, with what it compares."""
    return [output for site in latest_sites(run) for output in outputs_of(site)]


def outputs_of(site: Site) -> list[Output]:
    return [_output(site, at, call, *_compared(site, at)) for at, call in enumerate(site.losses)]


def _output(site: Site, at: int, call: LossCall, y: TensorStatistics, y_pred: TensorStatistics) -> Output:
    units = call.y_pred_shape[-1] if call.y_pred_shape else None
    layer = _layer_of(site, at, units)
    return Output(
        site=site,
        loss=call.name,
        from_logits=bool(call.from_logits),
        label_smoothing=call.label_smoothing if 0 < call.label_smoothing < 1 else 0.0,
        activation=_activation(call.made_by, layer),
        units=units,
        layer=layer,
        y=y,
        y_pred=y_pred,
        y_shape=call.y_shape,
        y_pred_shape=call.y_pred_shape,
        y_pred_dtype=call.y_pred_dtype,
    )


def _compared(site: Site, at: int) -> tuple[TensorStatistics, TensorStatistics]:
    """The targets and predictions of this loss; a single pair for several losses belongs to the last one."""
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
    if made_by not in UNKNOWN_OPS:
        return OPS.get(made_by, "")
    return layer.activation if layer.activation in ACTIVATIONS else ""


def _layer_of(site: Site, at: int, units: int | None) -> Layer:
    """The layer that makes this output: by its name, or the last with that many units."""
    names = site.gradients.model.outputs
    name = names[at] if at < len(names) and len(names) == len(site.losses) else None
    layer = next((each for each in site.layers if each.name == name), None)
    if layer is not None and layer.activation:
        return layer
    matching = [each for each in site.layers if units is not None and units in (each.units, each.filters)]
    return matching[-1] if matching else Layer()
