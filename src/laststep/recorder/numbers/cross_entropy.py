"""TensorFlow's own cross-entropy operations on the way to the loss, if no Keras loss object was called."""

from __future__ import annotations

import functools
import itertools
from typing import Any

from laststep.recorder.numbers.graph import ops_behind
from laststep.recorder.numbers.roles import describe_loss, unreshaped

FUNCTION_NAMES = {
    "SparseSoftmaxCrossEntropyWithLogits": "sparse_softmax_cross_entropy_with_logits",
    "SoftmaxCrossEntropyWithLogits": "softmax_cross_entropy_with_logits",
}
LOGISTIC_SCOPE = "logistic_loss"
MAX_LOSSES = 4


def find_cross_entropy(loss: Any) -> list[dict[str, Any]]:
    """Search backwards from the loss. As for a loss object: its name, from_logits, targets and predictions."""
    found = []
    for op in itertools.islice((op for op in ops_behind(loss, stop_at=FUNCTION_NAMES) if _name(op)), MAX_LOSSES):
        target, prediction = unreshaped(op.inputs[1]), op.inputs[0]
        described = describe_loss(_name(op), True, target, prediction)
        tensors = {
            name: functools.partial(_identity, tensor) for name, tensor in (("y", target), ("y_pred", prediction))
        }
        found.append({"described": described, **tensors})
    return found


def _name(op: Any) -> str:
    """The sigmoid cross-entropy is no single operation: identified by its product of logits and labels."""
    binary = op.type == "Mul" and "/".join(op.name.split("/")[-2:]).startswith(LOGISTIC_SCOPE)
    return "sigmoid_cross_entropy_with_logits" if binary else FUNCTION_NAMES.get(op.type, "")


def _identity(tensor: Any) -> Any:
    return tensor
