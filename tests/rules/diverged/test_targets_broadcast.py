"""targets-broadcast: targets broadcast by accident, and columns on purpose."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from tests.rules.diverged.fits import FALLS, FLAT, LINEAR, SQUARE, first, found, stats, trained


def test_broadcast_targets_are_named_and_columns_on_purpose_are_not() -> None:
    met = {"broadcast": {"op": "Sub", "shapes": [[32], [32, 1]], "out": [32, 32]}, "losses": []}
    flat = found(trained(FLAT, site=met))["targets-broadcast"]
    assert flat.confidence is Confidence.LIKELY
    assert "(32,)" in flat.cause
    columns = SQUARE | LINEAR | {"y_shape": [None, 3], "y_pred_shape": [None, 1]}
    assert first(trained(FLAT, loss=columns, tensors={"y": stats(-2, 2)})) == "targets-broadcast"
    quantiles = columns | {"name": "pinball", "y_shape": [None, 1], "y_pred_shape": [None, 3]}
    assert first(trained(FALLS, loss=quantiles, tensors={"y": stats(-2, 2)})) == "healthy"
