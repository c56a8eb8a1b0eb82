"""Kinds of last layers and losses that do not fit: by themselves, by the numbers seen, or where nothing is learned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laststep import text as words
from laststep.analysis.learning.learning import Learning
from laststep.analysis.learning.outputs import Output
from laststep.analysis.learning.site import or_nan

RANGES = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, math.inf)}
SLACK = 0.01  # of a probability, for what rounding and smoothing do


@dataclass(frozen=True)
class Wrong:
    """What does not fit, what was seen of it, what to write instead."""

    cause: str
    seen: str
    change: str
    beyond_doubt: bool = False
    trial: Mapping[str, Any] | None = None


def by_itself(output: Output) -> Wrong | None:
    """Wrong whatever the data is."""
    if output.units == 1 and output.activation == "softmax" and _is_always_one(output):
        seen = f"{output.named} has one unit and softmax, loss {output.loss}"
        cause = "The last layer is one unit with softmax: the softmax of one number is always 1."
        change = "Dense(1)" if output.kind == "regression" else 'Dense(1, activation="sigmoid")'
        return Wrong(cause, seen, change, True, _activate(output, "linear" if change == "Dense(1)" else "sigmoid"))
    if output.units == 1 and output.kind == "categorical":
        cause = f"{output.loss} compares classes, and the model has one output: the loss is 0 whatever it says."
        seen = f"predictions {_shape(output)}, loss {output.loss}"
        trial = _activate(output, "sigmoid") | {"loss": "binary_crossentropy"}
        return Wrong(cause, seen, 'model.compile(…, loss="binary_crossentropy")', True, trial)
    return None


def _is_always_one(output: Output) -> bool:
    low, high = output.said.low, output.said.high
    own = output.layer.activation == "softmax" and 1 in (output.layer.units, output.layer.filters)
    return own or low == high == 1.0


def by_numbers(output: Output) -> Wrong | None:
    """Wrong by the numbers that were seen."""
    if output.kind in ("sparse", "categorical", "binary"):
        return _twice(output) if output.from_logits else _no_probabilities(output)
    if output.kind == "regression":
        return _out_of_reach(output)
    return None


def _twice(output: Output) -> Wrong | None:
    """Probabilities where the loss wants logits. Keras undoes it where the activation is the very last operation."""
    squeezed = output.activation in ("softmax", "sigmoid")
    if output.kind == "binary" or not output.units or output.units == 1:
        return None
    if squeezed and output.is_tensorflows:
        cause = f"The loss takes raw numbers (logits), and the last layer has {output.activation} already."
        seen = f"{output.loss} gets what a {output.activation} made"
        sure = output.activation == "softmax"
        return Wrong(cause, seen, f"Dense({output.units})  # without activation", sure, _activate(output, "linear"))
    undone = squeezed and "16" not in output.said_dtype
    low, high, mean = map(or_nan, (output.said.low, output.said.high, output.said.mean))
    if undone or not (abs(mean * output.units - 1) <= 0.001 and low >= 0 and high <= 1 + 1e-5):
        return None
    seen = f"the predictions lie between {words.value(low)} and {words.value(high)}, and each row sums to 1"
    cause = "The loss was told from_logits=True and gets probabilities: softmax is applied twice."
    return Wrong(cause, seen, f"{_class(output)}(from_logits=False)", True, {"loss": {"from_logits": False}})


def _no_probabilities(output: Output) -> Wrong | None:
    """Numbers below 0 or above 1 where the loss wants probabilities."""
    low, high = or_nan(output.said.low), or_nan(output.said.high)
    if output.activation in ("softmax", "sigmoid"):
        return None
    right = "sigmoid" if output.kind == "binary" else "softmax"
    change = f'activation="{right}"'
    if output.activation == "linear":
        change += f", or loss={_class(output)}(from_logits=True)"
    what = {"linear": "no activation", "": "an output of its own"}.get(output.activation, output.activation)
    cause = f"{output.loss} wants probabilities, and the last layer has {what}"
    if not math.isfinite(high - low):
        wrong = Wrong(f"{cause}.", f"{output.named} has {what}", change, False, _activate(output, right))
        return wrong if output.activation == "tanh" else None
    normalised = output.kind == "categorical" and output.activation != "relu"  # Keras divides by the sum
    if low >= -SLACK and (high <= 1 + SLACK or normalised):
        return None
    reach = f"from {words.value(low)} to {words.value(high)}"
    seen = f"{output.named} gives numbers {reach}; from_logits is not set"
    return Wrong(f"{cause}: the predictions reach {reach}.", seen, change, False, _activate(output, right))


def _out_of_reach(output: Output) -> Wrong | None:
    """Targets of which a good part lies where the activation never comes."""
    low, high, mean, spread = map(or_nan, (output.y.low, output.y.high, output.y.mean, output.y.std))
    if output.activation not in RANGES:
        return None
    bottom, top = RANGES[output.activation]
    below = low < bottom - spread / 2 and mean - spread < bottom
    above = high > top + spread / 2 and mean + spread > top
    if not (below or above):
        return None
    span = f"{words.value(bottom)} to {words.value(top)}" if top < math.inf else f"{words.value(bottom)} upwards"
    reach = f"the targets reach from {words.value(low)} to {words.value(high)}"
    cause = f"The last layer's {output.activation} gives {span}, and {reach}."
    change, trial = f"Dense({output.units or 1})  # without activation", _activate(output, "linear")
    return Wrong(cause, f"{reach}, mean {words.value(mean)}", change, False, trial)


def where_it_fails(output: Output, learning: Learning) -> Wrong | None:
    """What works more often than not, and is to blame only where nothing is learned."""
    if not learning.fails:
        return None
    if output.kind == "binary" and output.activation in ("relu", "tanh"):
        cause = f"The last layer has {output.activation}, and {output.loss} wants a probability."
        seen = f"{output.named} has {output.activation}"
        return Wrong(cause, seen, 'activation="sigmoid"', False, _activate(output, "sigmoid"))
    if output.kind in ("sparse", "categorical") and output.activation == "softmax" and output.from_logits:
        cause = "The loss was told from_logits=True, and the last layer has softmax."
        seen = f"{output.named} has softmax, loss {output.loss}"
        return Wrong(cause, seen, f"{_class(output)}(from_logits=False)", False, {"loss": {"from_logits": False}})
    if output.kind in ("sparse", "categorical") and output.activation in ("sigmoid", "relu", "tanh"):
        cause = f"One of {output.units} classes is asked for, and the last layer has {output.activation}."
        seen = f"{output.named} has {output.activation}, loss {output.loss}"
        return Wrong(cause, seen, 'activation="softmax"', False, _activate(output, "softmax"))
    return None


def _activate(output: Output, activation: str) -> dict[str, Any]:
    """The last layer with another activation, as `laststep prove` tries it."""
    return {"output": {"activation": activation, "layer": output.layer.name or None}}


def _class(output: Output) -> str:
    names = {"sparse": "SparseCategoricalCrossentropy", "categorical": "CategoricalCrossentropy"}
    return names.get(output.kind, "BinaryCrossentropy")


def _shape(output: Output) -> str:
    return "(" + ", ".join("any" if size is None else str(size) for size in output.said_shape) + ")"
