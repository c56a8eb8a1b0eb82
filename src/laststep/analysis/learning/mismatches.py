"""Last layers and losses that do not match: always, for the values seen, or where the model does not learn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laststep.analysis.learning.learning import Learning
from laststep.analysis.learning.outputs import Output
from laststep.analysis.learning.site import or_nan
from laststep.text import format_value

RANGES = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, math.inf)}
LINEAR = 'activation="linear"'
PROBABILITY_TOLERANCE = 0.01  # for rounding and label smoothing


@dataclass(frozen=True)
class Mismatch:
    """What does not match, what was seen of it, what to write instead."""

    cause: str
    seen: str
    change: str  # in the last layer, unless `in_loss`
    is_certain: bool = False
    trial: Mapping[str, Any] | None = None
    in_loss: bool = False  # the change is in the loss


def always_wrong(output: Output) -> Mismatch | None:
    """Wrong for any data."""
    if output.units == 1 and output.activation == "softmax" and _is_always_one(output):
        seen = f"{output.layer_name} has one unit and softmax, loss {output.loss}"
        cause = "The last layer is a single unit with softmax: its output is always 1."
        activation = "linear" if output.kind == "regression" else "sigmoid"
        return Mismatch(cause, seen, f'activation="{activation}"', True, _activate(output, activation))
    if output.units == 1 and output.kind == "categorical":
        cause = f"{output.loss} needs one output per class, but the model has one output: the loss is always 0."
        seen = f"predictions of shape {_shape(output)}, loss {output.loss}"
        trial = _activate(output, "sigmoid") | {"loss": "binary_crossentropy"}
        return Mismatch(cause, seen, 'loss="binary_crossentropy"', True, trial, in_loss=True)
    return None


def _is_always_one(output: Output) -> bool:
    low, high = output.y_pred.low, output.y_pred.high
    own = output.layer.activation == "softmax" and 1 in (output.layer.units, output.layer.filters)
    return own or low == high == 1.0


def wrong_for_values(output: Output) -> Mismatch | None:
    """Wrong for the values that were seen."""
    if output.kind in ("sparse", "categorical", "binary"):
        return _activated_twice(output) if output.from_logits else _not_probabilities(output)
    if output.kind == "regression":
        return _out_of_range(output)
    return None


def _activated_twice(output: Output) -> Mismatch | None:
    """Probabilities where the loss expects logits. Keras undoes it where the activation is the last operation."""
    activated = output.activation in ("softmax", "sigmoid")
    if output.kind == "binary" or not output.units or output.units == 1:
        return None
    if activated and output.is_tensorflow_op:
        cause = f"The loss expects logits, but the last layer already applies {output.activation}."
        seen = f"{output.loss} receives the output of a {output.activation}"
        return Mismatch(cause, seen, LINEAR, output.activation == "softmax", _activate(output, "linear"))
    undone = activated and "16" not in output.y_pred_dtype
    low, high, mean = map(or_nan, (output.y_pred.low, output.y_pred.high, output.y_pred.mean))
    if undone or not (abs(mean * output.units - 1) <= 0.001 and low >= 0 and high <= 1 + 1e-5):
        return None
    seen = f"the predictions lie between {format_value(low)} and {format_value(high)}, and each row sums to 1"
    cause = "The loss has from_logits=True but receives probabilities: softmax is applied twice."
    return Mismatch(cause, seen, "from_logits=False", True, {"loss": {"from_logits": False}}, in_loss=True)


def _not_probabilities(output: Output) -> Mismatch | None:
    """Values below 0 or above 1 where the loss expects probabilities."""
    low, high = or_nan(output.y_pred.low), or_nan(output.y_pred.high)
    if output.activation in ("softmax", "sigmoid"):
        return None
    expected = "sigmoid" if output.kind == "binary" else "softmax"
    change = f'activation="{expected}"'
    what = {"linear": "no activation", "": "a custom output"}.get(output.activation, output.activation)
    cause = f"{output.loss} expects probabilities, but the last layer has {what}"
    if not math.isfinite(high - low):
        found = Mismatch(f"{cause}.", f"{output.layer_name} has {what}", change, False, _activate(output, expected))
        return found if output.activation == "tanh" else None
    normalized = output.kind == "categorical" and output.activation != "relu"  # Keras divides by the sum
    if low >= -PROBABILITY_TOLERANCE and (high <= 1 + PROBABILITY_TOLERANCE or normalized):
        return None
    span = f"from {format_value(low)} to {format_value(high)}"
    seen = f"{output.layer_name} outputs values {span}; from_logits is not set"
    return Mismatch(f"{cause}: the predictions range {span}.", seen, change, False, _activate(output, expected))


def _out_of_range(output: Output) -> Mismatch | None:
    """A good part of the targets lies outside the range of the activation."""
    low, high, mean, spread = map(or_nan, (output.y.low, output.y.high, output.y.mean, output.y.std))
    if output.activation not in RANGES:
        return None
    bottom, top = RANGES[output.activation]
    below = low < bottom - spread / 2 and mean - spread < bottom
    above = high > top + spread / 2 and mean + spread > top
    if not (below or above):
        return None
    span = f"{format_value(bottom)} to {format_value(top)}" if top < math.inf else f"{format_value(bottom)} and above"
    targets = f"the targets range from {format_value(low)} to {format_value(high)}"
    cause = f"The last layer's {output.activation} outputs {span}, but {targets}."
    return Mismatch(cause, f"{targets}, mean {format_value(mean)}", LINEAR, False, _activate(output, "linear"))


def suspect_when_failing(output: Output, learning: Learning) -> Mismatch | None:
    """Often works, and is reported only where the model does not learn."""
    if not learning.fails:
        return None
    if output.kind == "binary" and output.activation in ("relu", "tanh"):
        cause = f"The last layer applies {output.activation}, but {output.loss} expects a probability."
        seen = f"{output.layer_name} has {output.activation}"
        return Mismatch(cause, seen, 'activation="sigmoid"', False, _activate(output, "sigmoid"))
    if output.kind in ("sparse", "categorical") and output.activation == "softmax" and output.from_logits:
        cause = "The loss has from_logits=True, but the last layer applies softmax."
        seen = f"{output.layer_name} has softmax, loss {output.loss}"
        return Mismatch(cause, seen, "from_logits=False", False, {"loss": {"from_logits": False}}, in_loss=True)
    if output.kind in ("sparse", "categorical") and output.activation in ("sigmoid", "relu", "tanh"):
        cause = f"{output.loss} expects a softmax over {output.units} classes, but the last layer applies "
        cause += f"{output.activation}."
        seen = f"{output.layer_name} has {output.activation}, loss {output.loss}"
        return Mismatch(cause, seen, 'activation="softmax"', False, _activate(output, "softmax"))
    return None


def _activate(output: Output, activation: str) -> dict[str, Any]:
    """A trial for `laststep prove`: the last layer with another activation."""
    return {"output": {"activation": activation, "layer": output.layer.name or None}}


def _shape(output: Output) -> str:
    return "(" + ", ".join("any" if size is None else str(size) for size in output.y_pred_shape) + ")"
