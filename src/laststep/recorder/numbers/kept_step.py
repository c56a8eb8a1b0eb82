"""The batch of the first bad step and the weights before it, in a file of plain arrays: for laststep replay."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from laststep.recorder import state

NAME = "kept.npz"
MOST = 16 * 10**6  # bytes of the batch, as in the settings
MOST_WEIGHTS = 64 << 20


def keep(batch: Mapping[str, Any], names: Sequence[str], weights: Sequence[Any] | None) -> str:
    """The file's path; "" where it is too large, or not wanted. Written beside and moved: never half a file."""
    recorder = state.current
    if recorder is None:
        return ""
    most = int(recorder.options.get("keep") or MOST)
    arrays = {f"batch/{name}": value for name, value in batch.items()}
    if not arrays or sum(value.nbytes for value in arrays.values()) > most:
        return ""
    known = weights or []
    if sum(value.nbytes for value in known) <= MOST_WEIGHTS:
        arrays |= {f"weights/{name}": value for name, value in zip(names, known, strict=False)}
    path = os.path.join(recorder.folder, NAME)
    if os.path.exists(path):
        return ""  # the first bad step is the one that counts
    with open(f"{path}.part", "wb", opener=_private) as file:
        sys.modules["numpy"].savez(file, **arrays)
    os.replace(f"{path}.part", path)
    return path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
