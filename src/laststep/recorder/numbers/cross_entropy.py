"""TensorFlow's own cross-entropy on the way to the loss, where no loss object of Keras was asked."""

from __future__ import annotations

import functools
import itertools
from typing import Any

from laststep.recorder.numbers.graph import back_from
from laststep.recorder.numbers.roles import as_given, describe_loss

NAMES = {
    "SparseSoftmaxCrossEntropyWithLogits": "sparse_softmax_cross_entropy_with_logits",
    "SoftmaxCrossEntropyWithLogits": "softmax_cross_entropy_with_logits",
}
LOGISTIC = "logistic_loss"
MOST = 4


def find_cross_entropy(loss: Any) -> list[dict[str, Any]]:
    """Walks back from the loss. As of a loss object: its name, what it takes, the targets and the predictions."""
    found = []
    for op in itertools.islice((op for op in back_from(loss, up_to=NAMES) if _name(op)), MOST):
        target, given = as_given(op.inputs[1]), op.inputs[0]
        told = describe_loss(_name(op), True, target, given)
        held = {name: functools.partial(_itself, tensor) for name, tensor in (("y", target), ("y_pred", given))}
        found.append({"told": told, **held})
    return found


def _name(op: Any) -> str:
    """The sigmoid's is no single operation: of its parts, the product of logits and labels."""
    binary = op.type == "Mul" and "/".join(op.name.split("/")[-2:]).startswith(LOGISTIC)
    return "sigmoid_cross_entropy_with_logits" if binary else NAMES.get(op.type, "")


def _itself(tensor: Any) -> Any:
    return tensor
