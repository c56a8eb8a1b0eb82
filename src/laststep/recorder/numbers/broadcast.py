"""Targets and predictions of shapes (n,) and (n, 1) that were broadcast to (n, n) on the way to the loss."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from laststep.recorder.numbers.graph import ops_behind, user_line_of

ELEMENTWISE_OPS = {"Sub", "SquaredDifference", "Mul", "AddV2", "Add", "RealDiv", "Equal", "Maximum", "Minimum"}
MAX_OPS_BEHIND = 4000
MAX_LOCALS = 60
RELATIVE_TOLERANCE = 1e-4


def find_in_graph(loss: Any) -> dict[str, Any] | None:
    """Search backwards from the loss for the first such broadcast."""
    for op in ops_behind(loss):
        if op.type in ELEMENTWISE_OPS and len(op.inputs) == 2:
            shapes = [_shape_of(tensor) for tensor in op.inputs]
            broadcasts = all(shape is not None for shape in shapes) and _would_broadcast(*shapes)  # type: ignore[arg-type]
            if broadcasts and _is_learned(op.inputs[0]) != _is_learned(op.inputs[1]):
                return {"op": op.type, "shapes": shapes, "out": _shape_of(op.outputs[0]), "where": user_line_of(op)}
    return None


def _is_learned(tensor: Any) -> bool:
    """Computed from variables: a prediction. Pairs of predictions, or of targets, are compared on purpose."""
    return any(source.dtype.name == "resource" for op in ops_behind(tensor, MAX_OPS_BEHIND) for source in op.inputs)


def _shape_of(tensor: Any) -> list[int | None] | None:
    return None if tensor.shape.rank is None else tensor.shape.as_list()


def _would_broadcast(one: list[int | None], two: list[int | None]) -> bool:
    """(n,) and (n, 1): one has an additional last axis of length 1, and otherwise the shapes are equal."""
    short, long = sorted((one, two), key=len)
    return len(short) >= 1 and len(long) == len(short) + 1 and long[-1] == 1 and short[-1] != 1 and short == long[:-1]


def find_in_frame(loss: float, frame: FrameType | None) -> dict[str, Any] | None:
    """An eager step keeps no graph: is the loss that of two tensors broadcast, and not that of the two elementwise?"""
    numpy = sys.modules["numpy"]
    tensors = [v for v in list(frame.f_locals.values())[:MAX_LOCALS] if _is_numeric(v)] if frame is not None else []
    flat = [value for value in tensors if value.shape.rank == 1 and value.shape[0] > 1]
    tall = [value for value in tensors if value.shape.rank == 2 and value.shape[1] == 1]
    for one in flat:
        for two in tall:
            if one.shape[0] != two.shape[0] or one.shape[0] > 4096:
                continue
            y, pred = one.numpy().astype("float64"), two.numpy().astype("float64")
            pairwise, elementwise = y[None, :] - pred, y - pred[:, 0]
            for reduction in (numpy.square, numpy.abs):
                broadcast, proper = reduction(pairwise).mean(), reduction(elementwise).mean()
                if _is_close(loss, broadcast) and not _is_close(loss, proper):
                    n = int(one.shape[0])
                    return {"op": reduction.__name__, "shapes": [[n], [n, 1]], "out": [n, n]}
    return None


def _is_close(one: float, two: float) -> bool:
    return bool(abs(one - two) <= RELATIVE_TOLERANCE * max(abs(one), abs(two), 1e-30))


def _is_numeric(value: Any) -> bool:
    return type(value).__name__ == "EagerTensor" and (value.dtype.is_floating or value.dtype.is_integer)
