"""label-out-of-range: a label without a unit where the loss is NaN."""

from __future__ import annotations

import copy

from tests.rules.diverged.fits import CLASSES, FALLS, first, found, stats, trained
from tests.written import written


def test_a_label_without_a_unit_is_named_where_the_loss_is_nan() -> None:
    changes = {"loss": CLASSES | {"made_by": "BiasAdd", "from_logits": True},
               "tensors": {"y": stats(1.0, 5.0, whole=True), "y_pred": stats(-2, 2)}}  # fmt: skip
    bad = written(5.0, "bad-number", {"site": 1, "step": 1})
    assert first(trained([float("nan")] * 8, bad, **copy.deepcopy(changes))) == "label-out-of-range"
    assert "label-out-of-range" not in found(trained(FALLS, **copy.deepcopy(changes)))  # such as ignore_class=5
