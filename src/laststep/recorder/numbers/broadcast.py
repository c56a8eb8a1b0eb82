"""Targets and predictions of shapes (n,) and (n, 1) that met on the way to the loss, and became (n, n)."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Any

from laststep.recorder.frames import is_users, place

MEETS = {"Sub", "SquaredDifference", "Mul", "AddV2", "Add", "RealDiv", "Equal", "Maximum", "Minimum"}
RISKY = {"Log", "Log1p", "Sqrt", "Rsqrt", "RealDiv", "Reciprocal", "Pow", "Exp", "Xlogy", "Acos", "Atanh"}
MOST_OPS = 400
MOST_BEHIND = 4000
MOST_LOCALS = 60
CLOSE = 1e-4


def find_in_graph(loss: Any) -> dict[str, Any] | None:
    """Walks back from the loss, to the first such meeting."""
    for op in _back_from(loss):
        if op.type in MEETS and len(op.inputs) == 2:
            shapes = [_lengths(tensor) for tensor in op.inputs]
            fits = all(shape is not None for shape in shapes) and _meet(*shapes)  # type: ignore[arg-type]
            if fits and _is_learned(op.inputs[0]) != _is_learned(op.inputs[1]):
                return {"op": op.type, "shapes": shapes, "out": _lengths(op.outputs[0]), "where": _place(op)}
    return None


def find_risky(loss: Any) -> list[dict[str, Any]]:
    """The logarithms, roots and divisions on the way to the loss that the program wrote itself, with their lines."""
    found: dict[str, dict[str, Any]] = {}
    for op in _back_from(loss):
        if op.type in RISKY and len(found) < 8:
            where = _place(op)
            if where is not None:
                found.setdefault(f"{op.type} {where['file']}:{where['line']}", {"op": op.type, "where": where})
    return list(found.values())


def _back_from(loss: Any) -> Iterator[Any]:
    """The operations that the loss was made by, the last ones first."""
    seen: set[str] = set()
    queue = deque(part.op for part in sys.modules["tensorflow"].nest.flatten(loss) if hasattr(part, "op"))
    while queue and len(seen) < MOST_OPS:
        op = queue.popleft()
        if op.name not in seen:
            seen.add(op.name)
            yield op
            queue.extend(tensor.op for tensor in op.inputs)


def _place(op: Any) -> dict[str, Any] | None:
    """The program's own line that made it."""
    lines = (frame for frame in reversed(list(op.traceback or ())) if is_users(frame.filename))
    return next((place(frame.filename, frame.lineno) for frame in lines), None)


def _is_learned(tensor: Any) -> bool:
    """Made from variables: a prediction. All pairs of predictions, or of targets, are compared on purpose."""
    seen: set[str] = set()
    queue = deque([tensor.op])
    while queue and len(seen) < MOST_BEHIND:
        op = queue.popleft()
        if op.name not in seen:
            seen.add(op.name)
            if any(given.dtype.name == "resource" for given in op.inputs):
                return True
            queue.extend(given.op for given in op.inputs)
    return False


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
