"""How long training waits for data: in Python where the loop takes the batch, in the graph where Keras's step does."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.frames import users_place
from laststep.recorder.guard import guard
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import after, forget_frame, replace
from laststep.recorder.pipeline import describe_stages

PROBE = "data_wait"
ITERATORS = "tensorflow.python.data.ops.iterator_ops"
# Only in Keras's own steps. Random ops in the same graph are not touched: TensorFlow derives their seeds from how many
# random ops came before them, not from how many ops.
TRAINERS = ("keras.src.backend.tensorflow.trainer", "tf_keras.src.engine.training")

_mark: Any = None  # a variable: seconds waited so far; less the time of day while a wait goes on
_lines: set[tuple[str, int]] = set()  # where datasets were begun that have been described
_waited = 0.0  # what of it the recorder has been told


def install() -> None:
    when_imported(PROBE, ITERATORS, _watch)


def _watch(module: ModuleType) -> None:
    for name in ("__next__", "get_next", "get_next_as_optional"):
        _wrap(module.OwnedIterator, name)
    after(PROBE, module.OwnedIterator, "__init__", _made)
    if state.current is not None:
        state.current.at_beat.append(_read_mark)
        state.current.at_mark.append(_settle)


def _wrap(owner: Any, name: str) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(iterator: Any) -> Any:
        eager = _eager()
        began = guard(PROBE, _begin_in_python if eager else _begin_in_graph, sys._getframe(1))
        try:
            with contextlib.nullcontext() if eager else _after(began):
                batch = original(iterator)
        except BaseException as error:
            forget_frame(error)
            raise
        finally:
            if eager:
                guard(PROBE, _end_in_python, began)
        if not eager and began is not None:
            guard(PROBE, _end_in_graph, batch)
        return batch

    replace(PROBE, owner, name, wrapper)


def _made(result: Any, iterator: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
    """A loop of the program's own begins to go through a dataset: once for each line."""
    recorder = state.current
    where = users_place(sys._getframe(3))
    if recorder is None or recorder.open_fits or dataset is None or where is None or not _eager():
        return
    line = (where["file"], where["line"])
    if line not in _lines:
        _lines.add(line)
        recorder.event("dataset", where=where, stages=describe_stages(dataset))


def _eager() -> bool:
    context = sys.modules.get("tensorflow.python.eager.context")
    return context is not None and bool(context.executing_eagerly())


def _begin_in_python(caller: Any) -> float:
    began = time.time()
    if state.current is not None:
        state.current.waiting_since = began
    return began


def _end_in_python(began: float | None) -> None:
    recorder = state.current
    if recorder is not None and began is not None:
        recorder.waited += time.time() - began
        recorder.waiting_since = 0.0
        recorder.pulse += 1


def _after(op: Any) -> Any:
    return contextlib.nullcontext() if op is None else sys.modules["tensorflow"].control_dependencies([op])


def _begin_in_graph(caller: FrameType) -> Any:
    """Minus the time before the batch is taken; plus, in _end_in_graph, the time after."""
    global _mark
    tensorflow = sys.modules["tensorflow"]
    if state.current is None or caller.f_globals.get("__name__") not in TRAINERS:
        return None
    if tensorflow.distribute.get_strategy().num_replicas_in_sync != 1:
        return None
    if _mark is None:
        with tensorflow.init_scope(), tensorflow.device("CPU:0"):
            _mark = tensorflow.Variable(0.0, dtype="float64", trainable=False, name="laststep_wait")
    return _mark.assign_sub(tensorflow.timestamp(name="laststep_time"), read_value=False)


def _end_in_graph(batch: Any) -> None:
    tensorflow = sys.modules["tensorflow"]
    with tensorflow.control_dependencies(tensorflow.nest.flatten(batch, expand_composites=True)[:1]):
        _mark.assign_add(tensorflow.timestamp(name="laststep_time"), read_value=False)


def _read_mark() -> None:
    """On each beat: what the graph has waited since, and whether a wait goes on."""
    global _waited
    recorder = state.current
    if _mark is None or recorder is None:
        return
    value = float(_mark.numpy())
    recorder.graph_waiting_since = 0.0
    if value < 0.0:
        # A wait goes on. It began when the step before had ended: with that time the sum is told from the time of day.
        recorder.graph_waiting_since = recorder.last_end or time.time()
        value += recorder.graph_waiting_since
    if value > _waited:
        recorder.waited += value - _waited
        _waited = value


def _settle() -> None:
    """Between steps no wait goes on: one whose data came to its end was never closed in the graph."""
    if _mark is None or not _eager():
        return
    value = float(_mark.numpy())
    if value < 0.0:
        _mark.assign(max(_waited, value + time.time()))
