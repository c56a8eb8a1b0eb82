"""output-loss-mismatch: last layers that do not fit the loss, and ones that do."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from laststep.analysis.finding import Confidence
from laststep.record.place import Place
from tests.rules.diverged.fits import (
    CLASSES,
    FALLS,
    FLAT,
    HERE,
    LAYER,
    LINEAR,
    ROWS,
    SQUARE,
    first,
    found,
    stats,
    trained,
)

SOFTMAX = {"activation": "softmax"}
MISMATCHES: dict[str, tuple[list[float], dict[str, Any]]] = {
    "one unit with softmax": (FALLS, {"loss": {"made_by": "Softmax"}, "layer": SOFTMAX}),
    "one unit for classes": ([0.0] * 8, {"loss": {"name": "categorical_crossentropy"}}),
    "raw numbers": (FLAT, {"loss": LINEAR, "tensors": {"y_pred": stats(-2.0, 3.0)}}),
    "tanh": (FLAT, {"loss": {"made_by": "Tanh"}, "tensors": {"y_pred": stats(-0.9, 0.9)}}),
    "probabilities as logits": (
        [1.609, 1.608] * 4,
        {
            "loss": CLASSES | {"from_logits": True, "made_by": "Maximum"},
            "tensors": {"y_pred": stats(0.0, 0.9, mean=0.2), "y": stats(0.0, 4.0, whole=True)},
        },
    ),
    "softmax twice, TensorFlow's own loss": (
        [1.609, 1.608] * 4,
        {"loss": CLASSES | {"name": "sparse_softmax_cross_entropy_with_logits", "from_logits": True,
                            "made_by": "Softmax"}},
    ),
    "sigmoid before large targets": (FLAT, {"loss": SQUARE, "tensors": {"y": stats(-3.0, 3.0)}}),
    "relu before negative targets": (FLAT, {"loss": SQUARE | {"made_by": "Relu"}, "tensors": {"y": stats(-9.0, 0.0)}}),
}  # fmt: skip
FITTING: dict[str, dict[str, Any]] = {
    "a plain binary model": {},
    "logits that were said to be": {"loss": LINEAR | {"from_logits": True}, "tensors": {"y_pred": stats(-4, 4)}},
    "softmax that Keras looks behind": {
        "loss": CLASSES | {"from_logits": True, "made_by": "Softmax"},
        "tensors": {"y_pred": stats(0.0, 0.9, mean=0.2), "y": stats(0.0, 4.0, whole=True)},
    },
    "relu before counts": {"loss": SQUARE | {"made_by": "Relu"}, "tensors": {"y": stats(0.0, 20.0)}},
    "sigmoid before shares": {"loss": SQUARE, "tensors": {"y": stats(0.0, 1.0)}},
    "tanh before pictures, a few outliers": {
        "loss": SQUARE | {"made_by": "Tanh"},
        "tensors": {"y": stats(-1.0, 4.0, mean=0.0, std=0.4)},
    },
    "positive numbers that Keras normalises": {
        "loss": ROWS | {"made_by": "Softplus"},
        "tensors": {"y": stats(0, 1, row_sums=[1.0, 1.0]), "y_pred": stats(0.0, 7.0)},
    },
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_a_last_layer_that_does_not_fit_is_named(name: str) -> None:
    losses, changes = MISMATCHES[name]
    run = trained(losses, **copy.deepcopy(changes))
    assert first(run) == "output-loss-mismatch"
    finding = found(run)["output-loss-mismatch"]
    assert finding.confidence >= Confidence.LIKELY
    assert finding.where in (Place(**LAYER), Place(**HERE))


@pytest.mark.parametrize("name", FITTING)
def test_a_last_layer_that_fits_is_left_alone(name: str) -> None:
    assert first(trained(FALLS, **copy.deepcopy(FITTING[name]))) == "healthy"
