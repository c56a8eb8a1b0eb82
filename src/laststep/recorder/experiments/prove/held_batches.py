"""The batches passed to fit, read once and held, so that both arms train on the same ones."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

MAX_BATCHES = 1000
MAX_HELD_BYTES = 256 << 20
MAX_SCORED_SAMPLES = 2048  # by which predictions are scored


class CannotTry(Exception):
    """Its message is shown to the user in one line."""


class Batch(NamedTuple):
    """Arrays, in the program's own structure; None where nothing was given."""

    x: Any
    y: Any = None
    weights: Any = None


def hold_batches(model: Any, arguments: dict[str, Any], until: float) -> list[Batch]:
    """The batches as Keras would feed them, as many as there are and as memory and time allow."""
    batches: list[Batch] = []
    held_bytes = 0
    for element in _dataset(model, arguments):
        parts = element if isinstance(element, tuple) else (element,)
        batch = Batch(*map_arrays(parts[:3], _array))
        batches.append(batch)
        held_bytes += sum(value.nbytes for value in leaves(batch))
        if len(batches) >= MAX_BATCHES or held_bytes > MAX_HELD_BYTES or time.time() > until:
            break
    if not batches:
        raise CannotTry("its data gave no batch")
    return batches


def _dataset(model: Any, arguments: dict[str, Any]) -> Any:
    """The tf.data pipeline that Keras makes from the arguments of fit, including class weights."""
    names = ("x", "y", "sample_weight", "batch_size", "steps_per_epoch", "shuffle", "class_weight")
    given = {name: arguments[name] for name in names if arguments.get(name) is not None}
    handler = sys.modules.get("tf_keras.src.engine.data_adapter")
    if handler is not None and any(kind.__module__.startswith("tf_keras.") for kind in type(model).__mro__):
        return handler.DataHandler(**given, model=model, distribute=False)._dataset
    module = sys.modules["keras.src.trainers.epoch_iterator"]
    return module.EpochIterator(**given).data_adapter.get_tf_dataset()


def _array(value: Any) -> Any:
    if not hasattr(value, "numpy") or not hasattr(value, "dtype"):
        raise CannotTry(f"its data holds a {type(value).__name__}, which can't be held and used again")
    return value.numpy()


def leaves(structure: Any) -> list[Any]:
    """The arrays in a nested tuple, list or dict."""
    if isinstance(structure, (tuple, list, dict)):
        parts = structure.values() if isinstance(structure, dict) else structure
        return [value for part in parts for value in leaves(part)]
    return [] if structure is None else [structure]


def map_arrays(structure: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with a function applied to each array."""
    if isinstance(structure, dict):
        return {name: map_arrays(part, change) for name, part in structure.items()}
    if isinstance(structure, (tuple, list)):
        return type(structure)(map_arrays(part, change) for part in structure)
    return structure if structure is None else change(structure)


def sample(batches: list[Batch]) -> list[Batch]:
    """Some batches, spread evenly, by which predictions are scored."""
    rows = max(1, len(leaves(batches[0])[0]) if leaves(batches[0])[0].ndim else 1)
    wanted = max(1, MAX_SCORED_SAMPLES // rows)
    return batches[:: max(1, len(batches) // wanted)][:wanted]
