"""The way back from a tensor: the operations that it was made by, and the program's own lines among them."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterator
from typing import Any

from laststep.recorder.frames import is_users, place

RISKY = {"Log", "Log1p", "Sqrt", "Rsqrt", "RealDiv", "Reciprocal", "Pow", "Exp", "Xlogy", "Acos", "Atanh"}
MOST_OPS = 400


def back_from(tensors: Any, most: int = MOST_OPS, up_to: Collection[str] = ()) -> Iterator[Any]:
    """The operations that they were made by, the last ones first; behind those of these types nobody looks."""
    seen: set[str] = set()
    queue = deque(part.op for part in sys.modules["tensorflow"].nest.flatten(tensors) if hasattr(part, "op"))
    while queue and len(seen) < most:
        op = queue.popleft()
        if op.name not in seen:
            seen.add(op.name)
            yield op
            queue.extend(given.op for given in op.inputs if op.type not in up_to)


def line_of(op: Any) -> dict[str, Any] | None:
    """The program's own line that made it."""
    lines = (frame for frame in reversed(list(op.traceback or ())) if is_users(frame.filename))
    return next((place(frame.filename, frame.lineno) for frame in lines), None)


def find_risky(loss: Any) -> list[dict[str, Any]]:
    """The logarithms, roots and divisions on the way to the loss that the program wrote itself, with their lines."""
    found: dict[str, dict[str, Any]] = {}
    for op in back_from(loss):
        if op.type in RISKY and len(found) < 8:
            where = line_of(op)
            if where is not None:
                found.setdefault(f"{op.type} {where['file']}:{where['line']}", {"op": op.type, "where": where})
    return list(found.values())
