"""Targets and predictions of shapes (n,) and (n, 1) that met on the way to the loss, and became (n, n)."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from laststep.recorder.numbers.graph import back_from, line_of

MEETS = {"Sub", "SquaredDifference", "Mul", "AddV2", "Add", "RealDiv", "Equal", "Maximum", "Minimum"}
MOST_BEHIND = 4000
MOST_LOCALS = 60
CLOSE = 1e-4


def find_in_graph(loss: Any) -> dict[str, Any] | None:
    """Walks back from the loss, to the first such meeting."""
    for op in back_from(loss):
        if op.type in MEETS and len(op.inputs) == 2:
            shapes = [_lengths(tensor) for tensor in op.inputs]
            fits = all(shape is not None for shape in shapes) and _meet(*shapes)  # type: ignore[arg-type]
            if fits and _is_learned(op.inputs[0]) != _is_learned(op.inputs[1]):
                return {"op": op.type, "shapes": shapes, "out": _lengths(op.outputs[0]), "where": line_of(op)}
    return None


def _is_learned(tensor: Any) -> bool:
    """Made from variables: a prediction. All pairs of predictions, or of targets, are compared on purpose."""
    return any(given.dtype.name == "resource" for op in back_from(tensor, MOST_BEHIND) for given in op.inputs)


def _lengths(tensor: Any) -> list[int | None] | None:
    return None if tensor.shape.rank is None else tensor.shape.as_list()


def _meet(one: list[int | None], two: list[int | None]) -> bool:
    """(n,) and (n, 1): one has one axis more, of length 1, and otherwise they are alike."""
    short, long = sorted((one, two), key=len)
    return len(short) >= 1 and len(long) == len(short) + 1 and long[-1] == 1 and short[-1] != 1 and short == long[:-1]


def find_in_frame(loss: float, frame: FrameType | None) -> dict[str, Any] | None:
    """An eager step keeps no graph: is the loss what two of the frame's tensors give when broadcast, and only then?"""
    numpy = sys.modules["numpy"]
    held = [v for v in list(frame.f_locals.values())[:MOST_LOCALS] if _is_plain(v)] if frame is not None else []
    flat = [value for value in held if value.shape.rank == 1 and value.shape[0] > 1]
    tall = [value for value in held if value.shape.rank == 2 and value.shape[1] == 1]
    for one in flat:
        for two in tall:
            if one.shape[0] != two.shape[0] or one.shape[0] > 4096:
                continue
            y, pred = one.numpy().astype("float64"), two.numpy().astype("float64")
            apart, meant = y[None, :] - pred, y - pred[:, 0]
            for measure in (numpy.square, numpy.abs):
                broadcast, proper = measure(apart).mean(), measure(meant).mean()
                if _close(loss, broadcast) and not _close(loss, proper):
                    n = int(one.shape[0])
                    return {"op": measure.__name__, "shapes": [[n], [n, 1]], "out": [n, n]}
    return None


def _close(one: float, two: float) -> bool:
    return bool(abs(one - two) <= CLOSE * max(abs(one), abs(two), 1e-30))


def _is_plain(value: Any) -> bool:
    return type(value).__name__ == "EagerTensor" and (value.dtype.is_floating or value.dtype.is_integer)
