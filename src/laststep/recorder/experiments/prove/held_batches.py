"""The batches that fit was given, taken once and held, so that both arms train on the same ones."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

MOST_BATCHES = 1000
MOST_BYTES = 256 << 20
MOST_SCORED = 2048  # samples that predictions are judged by


class CannotTry(Exception):
    """Said to the user in one line."""


class Batch(NamedTuple):
    """Arrays, in the program's own structure; None where nothing was given."""

    x: Any
    y: Any = None
    weights: Any = None


def take(model: Any, asked: dict[str, Any], until: float) -> list[Batch]:
    """As Keras would feed them, as many as there are and as memory and time allow."""
    found: list[Batch] = []
    size = 0
    for element in _dataset(model, asked):
        parts = element if isinstance(element, tuple) else (element,)
        held = Batch(*changed(parts[:3], _array))
        found.append(held)
        size += sum(value.nbytes for value in leaves(held))
        if len(found) >= MOST_BATCHES or size > MOST_BYTES or time.time() > until:
            break
    if not found:
        raise CannotTry("its data gave no batch")
    return found


def _dataset(model: Any, asked: dict[str, Any]) -> Any:
    """The tf.data pipeline that Keras makes of whatever fit was given, class weights in it."""
    names = ("x", "y", "sample_weight", "batch_size", "steps_per_epoch", "shuffle", "class_weight")
    given = {name: asked[name] for name in names if asked.get(name) is not None}
    handler = sys.modules.get("tf_keras.src.engine.data_adapter")
    if handler is not None and any(kind.__module__.startswith("tf_keras.") for kind in type(model).__mro__):
        return handler.DataHandler(**given, model=model, distribute=False)._dataset
    module = sys.modules["keras.src.trainers.epoch_iterator"]
    return module.EpochIterator(**given).data_adapter.get_tf_dataset()


def _array(value: Any) -> Any:
    if not hasattr(value, "numpy") or not hasattr(value, "dtype"):
        raise CannotTry(f"its data holds a {type(value).__name__}, which can't be held and given again")
    return value.numpy()


def leaves(structure: Any) -> list[Any]:
    """The arrays of a tuple, a list or a dict of them."""
    if isinstance(structure, (tuple, list, dict)):
        parts = structure.values() if isinstance(structure, dict) else structure
        return [value for part in parts for value in leaves(part)]
    return [] if structure is None else [structure]


def changed(structure: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with each array changed."""
    if isinstance(structure, dict):
        return {name: changed(part, change) for name, part in structure.items()}
    if isinstance(structure, (tuple, list)):
        return type(structure)(changed(part, change) for part in structure)
    return structure if structure is None else change(structure)


def sample(batches: list[Batch]) -> list[Batch]:
    """Some of them, evenly over all, that predictions are judged by."""
    rows = max(1, len(leaves(batches[0])[0]) if leaves(batches[0])[0].ndim else 1)
    wanted = max(1, MOST_SCORED // rows)
    return batches[:: max(1, len(batches) // wanted)][:wanted]
