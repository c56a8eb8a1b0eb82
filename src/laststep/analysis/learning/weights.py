"""The weights of a site, layer by layer: how many, how Keras would draw them, how far a step moves them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from laststep.analysis.learning.site import Site, gradient, gradients, length
from laststep.record.events.numbers import Layer, Numbers, Sizes
from laststep.record.place import Place

ACTIVATION_LAYERS = ("ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax")
# What Keras takes when nothing is asked for. Ten times as much is no longer ordinary.
DEFAULT_RATES = {"SGD": 0.01, "Adagrad": 0.01, "Adadelta": 1.0}  # these two as their papers have them
DEFAULT_RATE = 0.001
UNORDINARY = 10.0
ADAMS = ("Adam", "AdamW", "Nadam", "Adamax", "RMSprop", "Lion")
FAINT = 1e-3  # of the layer that has most; between neighbours in a network that learns it is a tenth at worst
LONG = 0.03  # of the weights in one step; what trains well is about a thousandth
TOO_LONG = 3.0  # times as long as Keras would have drawn them


def layer_of(name: str) -> str:
    """sequential/dense/kernel → sequential/dense; a variable of no layer is one by itself."""
    return name.rpartition("/")[0] or name


def shapes(site: Site) -> dict[str, Sizes]:
    return {each.name: each.shape for each in site.made.variables if each.shape is not None}


def _of_layer(site: Site, layer: str) -> dict[str, Sizes]:
    return {name: shape for name, shape in shapes(site).items() if layer_of(name) == layer}


def size(site: Site, layer: str) -> int:
    """How many numbers a layer has that are trained."""
    return sum(math.prod(shape) for shape in _of_layer(site, layer).values())


def usual(site: Site, layer: str) -> float:
    """The length of a layer's weights as Keras would draw them (Glorot)."""
    return math.sqrt(sum(_usual_square(name, shape) for name, shape in _of_layer(site, layer).items()))


def _usual_square(name: str, shape: Sizes) -> float:
    if len(shape) < 2:
        return float(math.prod(shape)) if name.rpartition("/")[2] == "gamma" else 0.0
    around = math.prod(shape[:-2])
    return math.prod(shape) * 2 / (around * (shape[-2] + shape[-1]) or 1)


def drawn(site: Site) -> dict[str, float]:
    """For each layer how long its weights were at the first look, or before the bad step, beside what is usual."""
    seen = site.readings[0].weights
    early = site.bad is not None and not all(map(math.isfinite, seen.values()))
    held = (site.bad.weights if site.bad is not None and early else seen).items()
    return {layer: value / usual(site, layer) for layer, value in held if usual(site, layer) > 0 and value < math.inf}


def kernels(site: Site) -> list[str]:
    """Their names, as far as they are tables."""
    return [name for name, shape in shapes(site).items() if len(shape) > 1]


def weight(site: Site, reading: Numbers) -> float:
    """The length of all weights; as Keras would draw them where they were no numbers any more at the look."""
    held = reading.weights.items()
    return length(value if math.isfinite(value) else usual(site, layer) for layer, value in held)


def _holds(layer: Layer, name: str) -> bool:
    """Whether the variables under this name are the layer's."""
    return any(layer_of(variable) == name for variable in layer.weights)


def place_of(site: Site, name: str) -> Place | None:
    return next((layer.where for layer in site.layers if _holds(layer, name)), None) or site.where


def activation_after(site: Site, name: str) -> str:
    """The activation of this layer, its own or that of the layers after it that have no weights."""
    at = next((at for at, each in enumerate(site.layers) if _holds(each, name)), len(site.layers))
    for each in site.layers[at:]:
        if each.activation not in ("", "linear"):
            return each.activation
        if each.class_name in ACTIVATION_LAYERS:
            return each.class_name.lower()
    return ""


def default_rate(site: Site) -> float:
    return DEFAULT_RATES.get(site.optimizer_class, DEFAULT_RATE)


def is_high(site: Site, rate: float) -> bool:
    return rate > 1.001 * UNORDINARY * default_rate(site)


def stride(site: Site, reading: Numbers) -> float:
    """By how much a step changes the weights, as a part of their length; NaN where that is not known."""
    layers, rate = list(gradients(reading)), site.rate(reading)
    drawn = length(usual(site, layer) for layer in layers)
    long = min(weight(site, reading), drawn) if drawn else weight(site, reading)  # what has grown is no measure
    if not long or not math.isfinite(rate):
        return math.nan
    if site.optimizer_class in ADAMS:  # each number of them moves by about the rate
        return rate * math.sqrt(sum(size(site, layer) for layer in layers)) / long
    return rate * _pull(site, reading) / long if site.optimizer_class == "SGD" else math.nan


def _pull(site: Site, reading: Numbers) -> float:
    """What plain SGD multiplies with the rate."""
    if any(norm is not None and norm > 0 for norm in (site.optimizer.clipnorm, site.optimizer.global_clipnorm)):
        return 1.0
    momentum = site.optimizer.momentum or 0.0
    return gradient(reading) / (1 - momentum if 0 < momentum < 1 else 1)


def pulls_of(site: Site, readings: Sequence[Numbers]) -> dict[str, float]:
    """For each layer with a kernel, in their order: its gradient measured by its weights, the median of these looks."""
    layers = {layer_of(name) for name in kernels(site)}
    found: dict[str, list[float]] = {}
    for reading in readings:
        weights = reading.weights
        for layer, grad in gradients(reading).items():
            if layer in layers and weights.get(layer, 0.0) > 0 and grad == grad:
                found.setdefault(layer, []).append(grad / weights[layer])
    return {layer: statistics.median(values) for layer, values in found.items()}


def faint_in(pulls: Mapping[str, float]) -> list[str]:
    """The layers whose gradient is next to nothing."""
    return [layer for layer in pulls if pulls[layer] < FAINT * max(pulls.values())]


def fades(site: Site) -> bool:
    """Whether hardly any gradient reaches the first layer from the first step on: no step has done that."""
    pulls = pulls_of(site, site.good[:1])
    return next(iter(pulls), None) in faint_in(pulls)
