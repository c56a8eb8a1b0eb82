"""Estimate the bytes that an object holds, and of which type most of them are; nothing is read from a device."""

from __future__ import annotations

import itertools
import math
import sys
from collections import deque
from typing import Any

PLAIN_TYPES = (str, bytes, bytearray, int, float, complex, bool, type(None))
MAX_SAMPLED_ENTRIES = 8
MAX_DEPTH = 3


def size_of(value: Any, depth: int = 0) -> tuple[int, str]:
    """(bytes, the name of the type that accounts for most of them)."""
    name = type(value).__name__
    if isinstance(value, PLAIN_TYPES):
        return sys.getsizeof(value), name
    size = _array_bytes(value)
    if size is not None:
        return size, name
    if isinstance(value, (list, tuple, set, frozenset, deque, dict)):
        return _container_bytes(value, depth)
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict) and depth < MAX_DEPTH and attributes:
        size, _ = _container_bytes(attributes, depth + 1)
        return size, name
    return sys.getsizeof(value, 64), name


def _array_bytes(value: Any) -> int | None:
    """A tensor, a variable or an array: from its shape and type, without reading it."""
    if type(value).__name__ == "EagerTensor":
        return int(value._num_elements()) * int(value.dtype.size or 8)
    size = getattr(type(value), "nbytes", None)
    if type(value).__module__ == "numpy" and size is not None:
        base = value.base
        return int(getattr(base, "nbytes", 0) or value.nbytes) if base is not None else int(value.nbytes)
    if type(value).__name__ in ("ResourceVariable", "Variable", "UninitializedVariable"):
        return _variable_bytes(value)
    return None


def _variable_bytes(value: Any) -> int:
    shape = getattr(value, "shape", ())
    lengths = shape.as_list() if hasattr(shape, "as_list") else list(shape)
    width = getattr(getattr(value, "dtype", None), "size", None) or 4
    return int(width) * math.prod(int(length or 0) for length in lengths)


def _container_bytes(value: Any, depth: int) -> tuple[int, str]:
    shallow = sys.getsizeof(value, 64)
    if depth >= MAX_DEPTH or not value:
        return shallow, type(value).__name__
    entries = list(itertools.islice(value.values() if isinstance(value, dict) else value, MAX_SAMPLED_ENTRIES))
    sizes = [size_of(entry, depth + 1) for entry in entries]
    inside = sum(size for size, _ in sizes) * len(value) // len(entries)
    return shallow + inside, max(sizes)[1]
