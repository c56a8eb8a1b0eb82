"""Save the batch of the first bad step and the weights before it as plain arrays, for laststep replay."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from laststep.recorder import state

FILE_NAME = "kept.npz"
MAX_KEPT_BATCH_BYTES = 16 * 10**6  # on disk; the default of --keep-last-batch
MAX_KEPT_WEIGHT_BYTES = 64 << 20  # on disk


def max_batch_bytes() -> int:
    """As `--keep-last-batch` says."""
    requested = state.current.options.get("keep") if state.current is not None else None
    return int(requested or MAX_KEPT_BATCH_BYTES)


def keep_step(batch: Mapping[str, Any], names: Sequence[str], weights: Sequence[Any] | None) -> str:
    """The file's path; "" if too large or not wanted. Written under another name and moved, so never a partial file."""
    recorder = state.current
    if recorder is None:
        return ""
    arrays = {f"batch/{name}": value for name, value in batch.items()}
    if not arrays or sum(value.nbytes for value in arrays.values()) > max_batch_bytes():
        return ""
    kept_weights = weights or []
    if sum(value.nbytes for value in kept_weights) <= MAX_KEPT_WEIGHT_BYTES:
        arrays |= {f"weights/{name}": value for name, value in zip(names, kept_weights, strict=False)}
    path = os.path.join(recorder.folder, FILE_NAME)
    if os.path.exists(path):
        return ""  # only the first bad step counts
    with open(f"{path}.part", "wb", opener=_private) as file:
        sys.modules["numpy"].savez(file, **arrays)
    os.replace(f"{path}.part", path)
    return path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
