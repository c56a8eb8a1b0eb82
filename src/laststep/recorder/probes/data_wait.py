"""How long training waits for data: in Python where the loop takes the batch, in the graph where Keras's step does."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
import weakref
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.frames import users_place
from laststep.recorder.guard import guard
from laststep.recorder.imports import when_imported
from laststep.recorder.numbers.graph_variable import HOST, GraphVariable
from laststep.recorder.patch import after, before, forget_frame, replace
from laststep.recorder.pipeline import describe_stages
from laststep.recorder.runtime import is_eager, trains_alone

PROBE = "data_wait"
ITERATORS = "tensorflow.python.data.ops.iterator_ops"
# Only in Keras's own steps. Random ops in the same graph are not touched: TensorFlow derives their seeds from how many
# random ops came before them, not from how many ops.
TRAINERS = ("keras.src.backend.tensorflow.trainer", "tf_keras.src.engine.training")

CONFIG = "tensorflow.python.framework.config"
MOST_MARKS = 32

# For each traced step: since when it waits now (0: not), how long in all.
_marks: list[tuple[GraphVariable, GraphVariable]] = []
_told: dict[int, float] = {}  # how much of each has been told
_models: weakref.WeakSet[Any] = weakref.WeakSet()  # whose steps have a mark
_lines: set[tuple[str, int]] = set()  # where datasets were begun that have been described


def install() -> None:
    when_imported(PROBE, ITERATORS, _watch)
    when_imported(PROBE, CONFIG, lambda module: before(PROBE, module._pywrap_determinism, "enable", _determinism))


def _watch(module: ModuleType) -> None:
    for name in ("__next__", "get_next", "get_next_as_optional"):
        _wrap(module.OwnedIterator, name)
    after(PROBE, module.OwnedIterator, "__init__", _made)
    if state.current is not None:
        state.current.at_beat.append(_read_marks)


def _wrap(owner: Any, name: str) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(iterator: Any) -> Any:
        eager = is_eager()
        began = guard(PROBE, _begin_in_python if eager else _begin_in_graph, sys._getframe(1))
        try:
            with _after(began) if isinstance(began, _Wait) else contextlib.nullcontext():
                batch = original(iterator)
        except BaseException as error:
            forget_frame(error)
            raise
        finally:
            if eager:
                guard(PROBE, _end_in_python, began)
        if isinstance(began, _Wait):
            guard(PROBE, _end_in_graph, began, batch)
        return batch

    replace(PROBE, owner, name, wrapper)


def _made(result: Any, iterator: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
    """A loop of the program's own begins to go through a dataset: once for each line."""
    recorder = state.current
    where = users_place(sys._getframe(3))
    if recorder is None or recorder.open_fits or dataset is None or where is None or not is_eager():
        return
    line = (where["file"], where["line"])
    if line not in _lines:
        _lines.add(line)
        recorder.event("dataset", where=where, stages=describe_stages(dataset))


def _begin_in_python(caller: Any) -> float:
    began = time.time()
    if state.current is not None:
        state.current.waiting_since = began
    return began


def _end_in_python(began: Any) -> None:
    recorder = state.current
    if recorder is not None and began is not None:
        recorder.waited += time.time() - began
        recorder.waiting_since = 0.0
        recorder.pulse += 1


class _Wait:
    """A wait as it is being traced: its two variables, the time at its beginning, the op that writes that down."""

    def __init__(self, since: GraphVariable, total: GraphVariable, began: Any, written: Any) -> None:
        self.since, self.total, self.began, self.written = since, total, began, written


def _model_of(frame: FrameType | None) -> Any:
    """Whose step it is that is being traced; with several steps in one execution, some frames further out."""
    for _ in range(40):
        if frame is None:
            break
        found = frame.f_locals.get("self", frame.f_locals.get("model"))
        if hasattr(type(found), "train_step"):
            return found
        frame = frame.f_back
    return None


def _is_deterministic() -> bool:
    """tf.timestamp refuses to run where ops must be deterministic."""
    return bool(sys.modules[CONFIG].is_op_determinism_enabled())


def _determinism(wanted: bool, *args: Any) -> None:
    """Asked for after steps have been traced with our mark in them: they are traced again, without."""
    for model in list(_models) if wanted else []:
        for name in ("train_function", "train_tf_function", "test_function", "predict_function"):
            if name in vars(model):
                setattr(model, name, None)


def _after(wait: _Wait) -> Any:
    return sys.modules["tensorflow"].control_dependencies([wait.written])


def _begin_in_graph(caller: FrameType) -> _Wait | None:
    tensorflow = sys.modules["tensorflow"]
    if state.current is None or caller.f_globals.get("__name__") not in TRAINERS or len(_marks) >= MOST_MARKS:
        return None
    by_name = len(tensorflow.config.list_logical_devices()) == 1
    if not trains_alone() or _is_deterministic() or not (by_name or _is_on_host(caller)):
        return None
    model = _model_of(caller)
    if model is None:
        return None
    _models.add(model)
    with tensorflow.init_scope():
        never = tensorflow.constant(0.0, "float64")
        since, total = (GraphVariable(never, (), by_name, HOST) for _ in range(2))
    _marks.append((since, total))
    began = tensorflow.timestamp(name="laststep_time")
    return _Wait(since, total, began, since.write(began))


def _is_on_host(frame: FrameType | None) -> bool:
    """Whether batches come from the host's memory: the host must not wait for a device that has them already."""
    while frame is not None:
        for held in ("iterator", "epoch_iterator"):
            iterator = frame.f_locals.get(held)
            resource = getattr(getattr(iterator, "_current_iterator", iterator), "_iterator_resource", None)
            if resource is not None and type(resource).__name__ == "EagerTensor":
                return bool(resource.device.endswith(HOST))
        frame = frame.f_back
    return False


def _end_in_graph(wait: _Wait, batch: Any) -> None:
    tensorflow = sys.modules["tensorflow"]
    with tensorflow.control_dependencies(tensorflow.nest.flatten(batch, expand_composites=True)[:1]):
        wait.total.add(tensorflow.timestamp(name="laststep_time") - wait.began)
        wait.since.write(tensorflow.constant(0.0, "float64"))


def _read_marks() -> None:
    """On each beat: what the steps have waited since, and whether one waits now."""
    recorder = state.current
    if recorder is None:
        return
    recorder.graph_waiting_since = 0.0
    for number, (since, total) in enumerate(_marks):
        waited = float(total.look())
        recorder.waited += waited - _told.get(number, 0.0)
        _told[number] = waited
        # One whose data came to its end was never closed: it is older than the phase.
        begun = float(since.look())
        if begun > recorder.marked_at:
            recorder.graph_waiting_since = begun
