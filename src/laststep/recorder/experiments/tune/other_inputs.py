"""Data other than tf.data pipelines (generators, PyDataset, arrays), and the upper bound: one batch repeated."""

from __future__ import annotations

import copy
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from laststep.recorder.experiments.tune.calls import is_dataset, walk
from laststep.recorder.experiments.tune.changes import PipelineChange, SkippedChange
from laststep.recorder.experiments.tune.turns import RepeatedFit

REPEAT_COUNT = 10**7
ARRAY_ARGUMENTS = {"y": None, "batch_size": None, "sample_weight": None, "shuffle": None}  # only used with arrays


def kind_of(data: Any) -> str:
    if is_dataset(data):
        return "generator in tf.data" if any(call.method == "from_generator" for call in walk(data)) else "tf.data"
    if is_py_dataset(data):
        return "PyDataset"
    return "generator" if isinstance(data, SharedGenerator) else "arrays"


def is_py_dataset(data: Any) -> bool:
    return any(kind.__name__ == "PyDataset" for kind in type(data).__mro__)


def batch_of(data: Any) -> int | None:
    if not is_dataset(data):
        return None
    sizes = [call.argument("batch_size", 1) for call in walk(data) if "batch" in call.method]
    return int(sizes[0]) if sizes and sizes[0] is not None else None


def as_shared(data: Any) -> Any:
    """Wrap a plain generator, to be passed to several fits: the thread of the previous one may still be inside it."""
    return SharedGenerator(data) if hasattr(data, "__next__") else data


class SharedGenerator:
    """Each fit gets a generator of its own; they take turns at the program's generator."""

    def __init__(self, source: Any) -> None:
        self.source, self.lock = source, threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        while True:
            with self.lock:
                try:
                    element = next(self.source)
                except StopIteration:
                    return
            yield element


def changes_of(data: Any) -> Iterator[PipelineChange | SkippedChange]:
    if is_py_dataset(data):
        yield from _workers(data)
    elif isinstance(data, SharedGenerator):
        yield SkippedChange(
            "run it in parallel", None, "a plain Python generator gives its batches one after the other"
        )


def _workers(data: Any) -> Iterator[PipelineChange]:
    """More threads, then processes, which may hang in a fork and so come last."""
    count = min(max(2, os.cpu_count() or 2), 8)
    name = type(data).__name__
    code = type(data).__init__.__code__ if hasattr(type(data).__init__, "__code__") else None
    where = {"file": code.co_filename, "line": code.co_firstlineno} if code is not None else None
    for processes in (False, True):
        if data.workers >= count and data.use_multiprocessing == processes:
            continue
        changed = copy.copy(data)
        changed.workers, changed.use_multiprocessing = count, processes
        says = f"{count} {'processes' if processes else 'threads'} make batches"
        more = ", use_multiprocessing=True" if processes else ""
        yield PipelineChange(says, None, f"{name}(…, workers={count}{more})", changed, where=where, risky=processes)


def repeated_batch(fit: RepeatedFit, data: Any, steps: int | None, says: str) -> PipelineChange:
    """As if data cost nothing: the first batch, held in memory, in every step."""
    tf = sys.modules["tensorflow"]
    same = tf.data.Dataset.from_tensors(_first_batch(tf, fit, data)).repeat(steps or REPEAT_COUNT)
    return PipelineChange(says, None, "", same, fit=dict(ARRAY_ARGUMENTS))


def _first_batch(tf: Any, fit: RepeatedFit, data: Any) -> Any:
    if is_py_dataset(data):
        return data[0]
    if is_dataset(data) or isinstance(data, SharedGenerator):
        return next(iter(data))
    size = int(fit.arguments.get("batch_size") or 32)
    arrays = (data, fit.arguments["y"]) if fit.arguments.get("y") is not None else (data,)
    return tf.nest.map_structure(lambda part: part[:size], arrays)
