"""The weights of a site by layer: their number, their usual initial norm, how far an update moves them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from laststep.analysis.learning.site import Site, gradient_norm, gradient_norms, norm
from laststep.record.events.numbers import Layer, Numbers, Sizes
from laststep.record.place import Place

ACTIVATION_LAYERS = ("ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax")
# Keras's defaults; for Adagrad and Adadelta, those of their papers.
DEFAULT_RATES = {"SGD": 0.01, "Adagrad": 0.01, "Adadelta": 1.0}
DEFAULT_RATE = 0.001
HIGH_RATE_FACTOR = 10.0  # times the default
ADAPTIVE = ("Adam", "AdamW", "Nadam", "Adamax", "RMSprop", "Lion")
# As a share of the largest layer's. In a network that learns, a layer has at least a tenth of its neighbour's.
MIN_RELATIVE_GRADIENT = 1e-3
MIN_LARGE_UPDATE = 0.03  # of one update, as a share of the weights' norm; about 0.001 trains well
MAX_STARTING_SCALE = 3.0  # times the norm of Keras's default initialization


def layer_of(name: str) -> str:
    """sequential/dense/kernel → sequential/dense; a variable outside of layers counts as a layer."""
    return name.rpartition("/")[0] or name


def shapes(site: Site) -> dict[str, Sizes]:
    return {each.name: each.shape for each in site.gradients.variables if each.shape is not None}


def _of_layer(site: Site, layer: str) -> dict[str, Sizes]:
    return {name: shape for name, shape in shapes(site).items() if layer_of(name) == layer}


def parameters(site: Site, layer: str) -> int:
    """The number of trained parameters in a layer."""
    return sum(math.prod(shape) for shape in _of_layer(site, layer).values())


def glorot_norm(site: Site, layer: str) -> float:
    """The norm of a layer's weights after Keras's default (Glorot) initialization."""
    return math.sqrt(sum(_glorot_square(name, shape) for name, shape in _of_layer(site, layer).items()))


def _glorot_square(name: str, shape: Sizes) -> float:
    if len(shape) < 2:
        return float(math.prod(shape)) if name.rpartition("/")[2] == "gamma" else 0.0
    receptive_field = math.prod(shape[:-2])
    return math.prod(shape) * 2 / (receptive_field * (shape[-2] + shape[-1]) or 1)


def starting_scales(site: Site) -> dict[str, float]:
    """By layer, the norm of the first weights read, after the first update, as a multiple of the usual initial norm."""
    weights = site.readings[0].weights
    if site.bad_step is not None and not all(map(math.isfinite, weights.values())):
        weights = site.bad_step.weights
    usual = {layer: glorot_norm(site, layer) for layer in weights}
    return {layer: value / usual[layer] for layer, value in weights.items() if usual[layer] > 0 and value < math.inf}


def share_of_weights(site: Site, names: Sequence[str]) -> float:
    """How much of all weights these variables are."""
    sizes = {name: math.prod(shape) for name, shape in shapes(site).items()}
    total = sum(sizes.values())
    return sum(sizes.get(name, 0) for name in names) / total if total else 0.0


def kernels(site: Site) -> list[str]:
    """The names of the variables with two axes or more."""
    return [name for name, shape in shapes(site).items() if len(shape) > 1]


def weight_norm(site: Site, reading: Numbers) -> float:
    """The norm of all weights; the usual initial norm for a layer whose weights are not finite."""
    weights = reading.weights.items()
    return norm(value if math.isfinite(value) else glorot_norm(site, layer) for layer, value in weights)


def _holds(layer: Layer, name: str) -> bool:
    """Whether the variables under this name belong to the layer."""
    return any(layer_of(variable) == name for variable in layer.weights)


def layer_place(site: Site, name: str) -> Place | None:
    return next((layer.where for layer in site.layers if _holds(layer, name)), None) or site.where


def place_of_variable(site: Site, variable: str) -> Place | None:
    """Where the layer was made that it belongs to."""
    return next((layer.where for layer in site.layers if variable in layer.weights), None)


def activation_after(site: Site, name: str) -> str:
    """The activation of this layer, or of the layers that follow it."""
    at = next((at for at, each in enumerate(site.layers) if _holds(each, name)), len(site.layers))
    for each in site.layers[at:]:
        if each.activation not in ("", "linear"):
            return each.activation
        if each.class_name in ACTIVATION_LAYERS:
            return each.class_name.lower()
    return ""


def default_rate(site: Site) -> float:
    return DEFAULT_RATES.get(site.optimizer_class, DEFAULT_RATE)


def is_high_rate(site: Site, rate: float) -> bool:
    return rate > 1.001 * HIGH_RATE_FACTOR * default_rate(site)


def relative_update(site: Site, reading: Numbers) -> float:
    """The norm of one update as a share of the weights' norm; NaN where it is not known."""
    layers, rate = list(gradient_norms(reading)), site.rate(reading)
    weights, usual = weight_norm(site, reading), norm(glorot_norm(site, layer) for layer in layers)
    weights = min(weights, usual) if usual else weights  # weights that have exploded would hide the update
    if not weights or not math.isfinite(rate):
        return math.nan
    if site.optimizer_class in ADAPTIVE:  # these move each parameter by about the learning rate
        return rate * math.sqrt(sum(parameters(site, layer) for layer in layers)) / weights
    return rate * _sgd_direction_norm(site, reading) / weights if site.optimizer_class == "SGD" else math.nan


def _sgd_direction_norm(site: Site, reading: Numbers) -> float:
    """The norm of what SGD multiplies by the learning rate."""
    if any(limit is not None and limit > 0 for limit in (site.optimizer.clipnorm, site.optimizer.global_clipnorm)):
        return 1.0
    momentum = site.optimizer.momentum or 0.0
    return gradient_norm(reading) / (1 - momentum if 0 < momentum < 1 else 1)


def relative_gradients(site: Site, readings: Sequence[Numbers]) -> dict[str, float]:
    """By layer with a kernel, first to last: gradient norm divided by weight norm, the median of these readings."""
    layers = {layer_of(name) for name in kernels(site)}
    found: dict[str, list[float]] = {}
    for reading in readings:
        weights = reading.weights
        for layer, grad in gradient_norms(reading).items():
            if layer in layers and weights.get(layer, 0.0) > 0 and grad == grad:
                found.setdefault(layer, []).append(grad / weights[layer])
    return {layer: statistics.median(values) for layer, values in found.items()}


def vanishing_layers(gradients: Mapping[str, float]) -> list[str]:
    """The layers with almost no gradient, of these relative gradients."""
    return [layer for layer in gradients if gradients[layer] < MIN_RELATIVE_GRADIENT * max(gradients.values())]


def vanishes_from_start(site: Site) -> bool:
    """Almost no gradient reaches the first layer in the first reading: no update has caused that."""
    gradients = relative_gradients(site, site.good[:1])
    return next(iter(gradients), None) in vanishing_layers(gradients)
