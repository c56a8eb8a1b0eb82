"""Search a graph backwards: the operations behind a tensor, and the program's lines that made them."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterator
from typing import Any

from laststep.recorder.frames import is_users, place

RISKY_OPS = {"Log", "Log1p", "Sqrt", "Rsqrt", "RealDiv", "Reciprocal", "Pow", "Exp", "Xlogy", "Acos", "Atanh"}
MAX_OPS = 400


def ops_behind(tensors: Any, max_ops: int = MAX_OPS, stop_at: Collection[str] = ()) -> Iterator[Any]:
    """The operations behind these tensors, nearest first; not beyond operations of the types `stop_at`."""
    seen: set[str] = set()
    queue = deque(part.op for part in sys.modules["tensorflow"].nest.flatten(tensors) if hasattr(part, "op"))
    while queue and len(seen) < max_ops:
        op = queue.popleft()
        if op.name not in seen:
            seen.add(op.name)
            yield op
            queue.extend(tensor.op for tensor in op.inputs if op.type not in stop_at)


def user_line_of(op: Any) -> dict[str, Any] | None:
    """The program's own line that made the operation."""
    lines = (frame for frame in reversed(list(op.traceback or ())) if is_users(frame.filename))
    return next((place(frame.filename, frame.lineno) for frame in lines), None)


def find_risky(loss: Any) -> list[dict[str, Any]]:
    """Logarithms, roots and divisions on the way to the loss that the program's own lines made."""
    found: dict[str, dict[str, Any]] = {}
    for op in ops_behind(loss):
        if op.type in RISKY_OPS and len(found) < 8:
            where = user_line_of(op)
            if where is not None:
                found.setdefault(f"{op.type} {where['file']}:{where['line']}", {"op": op.type, "where": where})
    return list(found.values())
