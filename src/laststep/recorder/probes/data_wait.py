"""How long training waits for data: in Python if the loop takes the batch, in the graph if Keras's step does."""

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
from laststep.recorder.numbers.graph_variable import HOST_DEVICE, GraphVariable
from laststep.recorder.patch import after, before, forget_frame, replace
from laststep.recorder.pipeline import describe_stages
from laststep.recorder.runtime import is_eager, trains_alone

PROBE = "data_wait"
ITERATORS_MODULE = "tensorflow.python.data.ops.iterator_ops"
# Only in Keras's own steps. Random operations in the same graph are unaffected: TensorFlow derives their seeds from the
# number of random operations before them, not of all operations.
TRAINER_MODULES = ("keras.src.backend.tensorflow.trainer", "tf_keras.src.engine.training")

CONFIG_MODULE = "tensorflow.python.framework.config"
MAX_WAITS = 32

# For each traced step: start of the current wait (0 if none), total seconds.
_traced_waits: list[tuple[GraphVariable, GraphVariable]] = []
_reported_waits: dict[int, float] = {}  # seconds of each that are already counted
_instrumented_models: weakref.WeakSet[Any] = weakref.WeakSet()  # whose steps contain our operations
_described_lines: set[tuple[str, int]] = set()  # lines that iterate over a dataset that was described


def install() -> None:
    when_imported(PROBE, ITERATORS_MODULE, _patch_iterators)
    when_imported(
        PROBE, CONFIG_MODULE, lambda module: before(PROBE, module._pywrap_determinism, "enable", _on_determinism)
    )


def _patch_iterators(module: ModuleType) -> None:
    for name in ("__next__", "get_next", "get_next_as_optional"):
        _time_calls(module.OwnedIterator, name)
    after(PROBE, module.OwnedIterator, "__init__", _on_new_iterator)
    if state.current is not None:
        state.current.at_beat.append(_read_traced_waits)


def _time_calls(owner: Any, name: str) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(iterator: Any) -> Any:
        eager = is_eager()
        began = guard(PROBE, _begin_in_python if eager else _begin_in_graph, sys._getframe(1))
        try:
            with _after_start_written(began) if isinstance(began, _Wait) else contextlib.nullcontext():
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


def _on_new_iterator(result: Any, iterator: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
    """The program's own loop begins to iterate over a dataset: described once per line."""
    recorder = state.current
    where = users_place(sys._getframe(3))
    if recorder is None or recorder.open_fits or dataset is None or where is None or not is_eager():
        return
    line = (where["file"], where["line"])
    if line not in _described_lines:
        _described_lines.add(line)
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
    """A wait that is being traced: its two variables, its start time, and the operation that writes it."""

    def __init__(self, since: GraphVariable, total: GraphVariable, began: Any, written: Any) -> None:
        self.since, self.total, self.began, self.written = since, total, began, written


def _model_of(frame: FrameType | None) -> Any:
    """The model whose step is traced; with several steps per execution it is some frames further out."""
    for _ in range(40):
        if frame is None:
            break
        model = frame.f_locals.get("self", frame.f_locals.get("model"))
        if hasattr(type(model), "train_step"):
            return model
        frame = frame.f_back
    return None


def _is_deterministic() -> bool:
    """tf.timestamp raises an error if operations must be deterministic."""
    return bool(sys.modules[CONFIG_MODULE].is_op_determinism_enabled())


def _on_determinism(is_enabled: bool, *args: Any) -> None:
    """Enabled after steps were traced with our operations: have them traced again, without."""
    for model in list(_instrumented_models) if is_enabled else []:
        for name in ("train_function", "train_tf_function", "test_function", "predict_function"):
            if name in vars(model):
                setattr(model, name, None)


def _after_start_written(wait: _Wait) -> Any:
    return sys.modules["tensorflow"].control_dependencies([wait.written])


def _begin_in_graph(caller: FrameType) -> _Wait | None:
    tensorflow = sys.modules["tensorflow"]
    if (
        state.current is None
        or caller.f_globals.get("__name__") not in TRAINER_MODULES
        or len(_traced_waits) >= MAX_WAITS
    ):
        return None
    by_name = len(tensorflow.config.list_logical_devices()) == 1
    if not trains_alone() or _is_deterministic() or not (by_name or _is_on_host(caller)):
        return None
    model = _model_of(caller)
    if model is None:
        return None
    _instrumented_models.add(model)
    with tensorflow.init_scope():
        never = tensorflow.constant(0.0, "float64")
        since, total = (GraphVariable(never, (), by_name, HOST_DEVICE) for _ in range(2))
    _traced_waits.append((since, total))
    began = tensorflow.timestamp(name="laststep_time")
    return _Wait(since, total, began, since.write(began))


def _is_on_host(frame: FrameType | None) -> bool:
    """Whether batches come from host memory: the host must not wait for a device that already has them."""
    while frame is not None:
        for name in ("iterator", "epoch_iterator"):
            iterator = frame.f_locals.get(name)
            resource = getattr(getattr(iterator, "_current_iterator", iterator), "_iterator_resource", None)
            if resource is not None and type(resource).__name__ == "EagerTensor":
                return bool(resource.device.endswith(HOST_DEVICE))
        frame = frame.f_back
    return False


def _end_in_graph(wait: _Wait, batch: Any) -> None:
    tensorflow = sys.modules["tensorflow"]
    with tensorflow.control_dependencies(tensorflow.nest.flatten(batch, expand_composites=True)[:1]):
        wait.total.add(tensorflow.timestamp(name="laststep_time") - wait.began)
        wait.since.write(tensorflow.constant(0.0, "float64"))


def _read_traced_waits() -> None:
    """At each beat: how long the steps have waited, and whether one is waiting now."""
    recorder = state.current
    if recorder is None:
        return
    recorder.graph_waiting_since = 0.0
    for number, (since, total) in enumerate(_traced_waits):
        waited = float(total.host_read())
        recorder.waited += waited - _reported_waits.get(number, 0.0)
        _reported_waits[number] = waited
        # A wait that ended with the data was never closed: it is older than the phase.
        begun = float(since.host_read())
        if begun > recorder.marked_at:
            recorder.graph_waiting_since = begun
