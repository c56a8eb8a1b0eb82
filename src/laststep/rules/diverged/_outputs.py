"""Where gradients are taken, and what met there: each loss with its targets, its predictions and their last layer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laststep.event import Event
from laststep.finding import Place
from laststep.run import Run

Told = Mapping[str, Any]

SPARSE = {"sparsecategoricalcrossentropy", "sparsesoftmaxcrossentropywithlogits"}
CATEGORICAL = {"categoricalcrossentropy", "categoricalfocalcrossentropy", "softmaxcrossentropywithlogits"}
BINARY = {"binarycrossentropy", "binaryfocalcrossentropy"}
SQUARED = {"meansquarederror", "mse"}
REGRESSION = SQUARED | {
    *("meanabsoluteerror", "mae", "huber", "logcosh", "meansquaredlogarithmicerror", "meanabsolutepercentageerror")
}
OPS = {
    **{"Softmax": "softmax", "Sigmoid": "sigmoid", "Relu": "relu", "Tanh": "tanh"},
    **dict.fromkeys(("BiasAdd", "MatMul", "AddV2", "Add", "Conv1D", "Conv2D", "Conv3D", "BatchMatMulV2"), "linear"),
}
UNSEEN = ("", "PartitionedCall", "StatefulPartitionedCall")  # what made the output is hidden: ask the layer
ACTIVATIONS = {"softmax", "sigmoid", "relu", "tanh", "linear"}


@dataclass(frozen=True)
class Site:
    """One place where gradients are taken, and that really ran."""

    told: Event
    looks: tuple[Event, ...]
    batch: Event | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(str(each.get("name")) for each in _dicts(self.told.get("variables")))

    @property
    def missing(self) -> list[str]:
        return [str(name) for name in entries(self.told.get("missing"))]

    @property
    def losses(self) -> list[Told]:
        return _dicts(self.told.get("losses"))

    @property
    def layers(self) -> list[Told]:
        return _dicts(table(self.told.get("model")).get("layers"))

    @property
    def tensors(self) -> dict[str, Told]:
        told = table(self.batch.get("tensors")) if self.batch is not None else {}
        return {str(name): values for name, values in told.items() if isinstance(values, dict)}

    @property
    def scales_loss(self) -> bool:
        return bool(table(self.told.get("optimizer")).get("scales_loss"))

    @property
    def place(self) -> Place | None:
        return table(self.told.get("where")) or None


@dataclass(frozen=True)
class Output:
    """A loss that compared predictions with targets: its kind, the last layer, what was seen of both."""

    site: Site
    loss: str
    from_logits: bool
    activation: str  # softmax, sigmoid, relu, tanh, linear; "" where that is not known
    units: int | None
    made_by: str
    layer: Told = field(default_factory=dict)
    y: Told = field(default_factory=dict)
    said: Told = field(default_factory=dict)
    y_shape: tuple[int | None, ...] = ()
    said_shape: tuple[int | None, ...] = ()
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
        return (self.site.told, *((self.site.batch,) if self.site.batch is not None else ()))

    @property
    def named(self) -> str:
        """The last layer as the user knows it."""
        return f"the last layer ({self.layer['name']})" if self.layer.get("name") else "the last layer"


def plain_name(loss: str) -> str:
    return loss.lower().replace("_", "")


def sites(run: Run) -> list[Site]:
    """Those that ran: a function is traced once for its shapes, and that trace is never run."""
    looks: dict[str, list[Event]] = {}
    batches: dict[str, Event] = {}
    for event in run.events:
        if event.kind == "numbers":
            looks.setdefault(str(event.get("site")), []).append(event)
        elif event.kind == "batch":
            batches[str(event.get("site"))] = event
    told = {str(event.get("site")): event for event in run.all("gradients")}
    return [Site(each, tuple(looks[name]), batches.get(name)) for name, each in told.items() if name in looks]


def last_site(run: Run) -> Site | None:
    """The one that was looked at last: the training that matters."""
    return max(sites(run), key=lambda site: site.looks[-1].time, default=None)


def are_rivals(run: Run) -> bool:
    """Several sets of weights are trained in turns: a GAN, two optimizers. Their losses need not fall."""
    known: dict[tuple[str, ...], list[float]] = {}
    for site in sites(run):
        known.setdefault(site.variables, []).extend((site.looks[0].time, site.looks[-1].time))
    spans = sorted((min(times), max(times)) for times in known.values())
    return any(after[0] < before[1] for before, after in itertools.pairwise(spans))


def outputs(run: Run) -> list[Output]:
    """Of each site that ran last under its name, each loss with what it compared."""
    latest = {site.variables: site for site in sites(run)}
    return [output for site in latest.values() for output in _outputs_of(site)]


def _outputs_of(site: Site) -> list[Output]:
    targets, predictions = _numbered(site.tensors, "y"), _numbered(site.tensors, "y_pred")
    found = []
    for at, told in enumerate(site.losses):
        apart = len(site.losses) == len(targets)
        y = targets[at] if apart else (targets[-1] if told is site.losses[-1] and len(targets) == 1 else {})
        said = predictions[at] if apart and len(predictions) == len(targets) else {}
        if not apart and y and len(predictions) == 1:
            said = predictions[0]
        shape = _shape(told.get("y_pred_shape"))
        layer = _layer_of(site, at, shape[-1] if shape else None)
        found.append(
            Output(
                site=site,
                loss=str(told.get("name") or ""),
                from_logits=bool(told.get("from_logits")),
                activation=_activation(str(told.get("made_by") or ""), layer),
                units=shape[-1] if shape else None,
                made_by=str(told.get("made_by") or ""),
                layer=layer,
                y=y,
                said=said,
                y_shape=_shape(told.get("y_shape")),
                said_shape=shape,
                said_dtype=str(told.get("y_pred_dtype") or ""),
            )
        )
    return found


def _numbered(tensors: dict[str, Told], role: str) -> list[Told]:
    if role in tensors:
        return [tensors[role]]
    names = sorted((name for name in tensors if name.startswith(role + "/") and name[len(role) + 1 :].isdigit()),
                   key=lambda name: int(name.rpartition("/")[2]))  # fmt: skip
    return [tensors[name] for name in names]


def _activation(made_by: str, layer: Told) -> str:
    if made_by not in UNSEEN:
        return OPS.get(made_by, "")
    named = str(layer.get("activation") or "")
    return named if named in ACTIVATIONS else ""


def _layer_of(site: Site, at: int, units: Any) -> Told:
    """The layer that makes this output: by its name, or the last with as many units."""
    names = entries(table(site.told.get("model")).get("outputs"))
    named = names[at] if at < len(names) and len(names) == len(site.losses) else None
    layer = next((each for each in site.layers if each.get("name") == named), None)
    if layer is not None and layer.get("activation"):
        return layer
    fitting = [each for each in site.layers if units is not None and units in (each.get("units"), each.get("filters"))]
    return fitting[-1] if fitting else {}


def _shape(sizes: Any) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in entries(sizes))


def _dicts(values: Any) -> list[Told]:
    return [each for each in entries(values) if isinstance(each, dict)]


def entries(value: Any) -> list[Any]:
    """A list, whatever a torn record holds in its place."""
    return list(value) if isinstance(value, (list, tuple)) else []


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def numbers(values: Any) -> list[float]:
    return [float(value) for value in entries(values) if isinstance(value, (int, float))]


def number(told: Told, name: str) -> float | None:
    value = told.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
