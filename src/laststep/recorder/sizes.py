"""How many bytes a thing holds, as far as that is cheap to say, and what it mainly is; nothing is read off a device."""

from __future__ import annotations

import itertools
import math
import sys
from collections import deque
from typing import Any

BIG = (str, bytes, bytearray, int, float, complex, bool, type(None))
ENTRIES = 8
DEEPEST = 3


def size_of(value: Any, depth: int = 0) -> tuple[int, str]:
    """(bytes, the name of what takes the most of it)."""
    name = type(value).__name__
    if isinstance(value, BIG):
        return sys.getsizeof(value), name
    size = _of_array(value)
    if size is not None:
        return size, name
    if isinstance(value, (list, tuple, set, frozenset, deque, dict)):
        return _of_container(value, depth)
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and depth < DEEPEST and held:
        size, _ = _of_container(held, depth + 1)
        return size, name
    return sys.getsizeof(value, 64), name


def _of_array(value: Any) -> int | None:
    """A tensor, a variable or an array: by its shape and type, without reading it."""
    if type(value).__name__ == "EagerTensor":
        return int(value._num_elements()) * int(value.dtype.size or 8)
    size = getattr(type(value), "nbytes", None)
    if type(value).__module__ == "numpy" and size is not None:
        base = value.base
        return int(getattr(base, "nbytes", 0) or value.nbytes) if base is not None else int(value.nbytes)
    if type(value).__name__ in ("ResourceVariable", "Variable", "UninitializedVariable"):
        return _of_variable(value)
    return None


def _of_variable(value: Any) -> int:
    shape = getattr(value, "shape", ())
    lengths = shape.as_list() if hasattr(shape, "as_list") else list(shape)
    width = getattr(getattr(value, "dtype", None), "size", None) or 4
    return int(width) * math.prod(int(length or 0) for length in lengths)


def _of_container(value: Any, depth: int) -> tuple[int, str]:
    shallow = sys.getsizeof(value, 64)
    if depth >= DEEPEST or not value:
        return shallow, type(value).__name__
    entries = list(itertools.islice(value.values() if isinstance(value, dict) else value, ENTRIES))
    sizes = [size_of(entry, depth + 1) for entry in entries]
    inside = sum(size for size, _ in sizes) * len(value) // len(entries)
    return shallow + inside, max(sizes)[1]
