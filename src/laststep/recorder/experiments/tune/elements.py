"""Elements of a dataset: their size, whether two passes give the same, how fast they are produced."""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any


def flat(element: Any) -> list[Any]:
    """The arrays in an element of any structure."""
    parts = sys.modules["tensorflow"].nest.flatten(element, expand_composites=True)
    return [part.numpy() if hasattr(part, "numpy") else part for part in parts]


def size(element: Any) -> int:
    """In bytes; a string counts by its length."""
    return sum(_array_size(part) for part in flat(element))


def _array_size(part: Any) -> int:
    if isinstance(part, bytes):
        return len(part)
    if getattr(part, "dtype", None) is not None and part.dtype == object:
        return sum(len(text) for text in part.ravel())
    return int(getattr(part, "nbytes", 8))


def are_equal(one: Any, other: Any, max_elements: int) -> bool:
    """Whether the first elements of two datasets (or of two passes over one) are equal."""
    first, second = (list(itertools.islice(iter(dataset), max_elements)) for dataset in (one, other))
    return len(first) == len(second) and all(_equal(a, b) for a, b in zip(first, second, strict=True))


def _equal(one: Any, other: Any) -> bool:
    first, second = flat(one), flat(other)
    return len(first) == len(second) and all(_close(a, b) for a, b in zip(first, second, strict=True))


def _close(one: Any, other: Any) -> bool:
    np = sys.modules["numpy"]
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    exact = one.dtype.kind not in "fc"
    return bool((one == other).all() if exact else np.allclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True))


def elements_per_second(dataset: Any, seconds: float, max_elements: int) -> float:
    """Elements per second, consumed by TensorFlow itself (Python would be slower); at most this many."""
    count = 1
    while True:
        began = time.perf_counter()
        ended = next(iter(dataset.skip(count)), None) is None
        spent = time.perf_counter() - began
        if ended or spent > seconds or count >= max_elements:
            return count / spent
        count = min(4 * count, max_elements)
