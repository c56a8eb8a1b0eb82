"""Hand-written training loops: each call of a training tf.function, each eager update."""

from __future__ import annotations

import functools
import math
import sys
import threading
from types import ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.frames import is_users, users_place, users_stack
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import after
from laststep.recorder.probes.keras_fit import cheap_number
from laststep.recorder.runtime import is_eager

PROBE = "hand_loop"
FUNCTION_MODULE = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
TAPE_MODULE = "tensorflow.python.eager.backprop"
OPTIMIZERS = {
    "keras.src.optimizers.base_optimizer": ("BaseOptimizer", "apply"),
    "tf_keras.src.optimizers.optimizer": ("Optimizer", "apply_gradients"),
    "tf_keras.src.optimizers.legacy.optimizer_v2": ("OptimizerV2", "apply_gradients"),
}
GRADIENT_RANK, APPLY_RANK = 1, 2  # how reliably it indicates a training step
NAN = math.nan


class _Thread(threading.local):
    loss = NAN


_thread = _Thread()
_training_functions: dict[int, int] = {}  # by the id of their code object, which TensorFlow keeps alive
_traced_rank = 0  # what the function being traced does; a distribution strategy traces it in a thread of its own
_leader: Any = None
_leader_rank = 0
_rival: Any = None


def install() -> None:
    when_imported(PROBE, FUNCTION_MODULE, _watch_functions)
    when_imported(PROBE, TAPE_MODULE, lambda module: after(PROBE, module.GradientTape, "gradient", _on_gradient))
    for name, (kind, method) in OPTIMIZERS.items():
        when_imported(PROBE, name, functools.partial(_watch_optimizer, kind, method))


def _watch_optimizer(kind: str, method: str, module: ModuleType) -> None:
    after(PROBE, getattr(module, kind), method, _on_apply)


def _watch_functions(module: ModuleType) -> None:
    # TensorFlow calls this object after each call of a function, so none of our frames is on the stack during the call.
    manager = module._FrequentTracingDetectorManager
    after(PROBE, manager, "called_with_tracing", _on_traced_call)
    after(PROBE, manager, "called_without_tracing", _on_call, is_relevant=_count_pulse)


def _is_in_keras_fit() -> bool:
    return state.current is None or bool(state.current.open_fits)


def _on_gradient(result: Any, tape: Any, target: Any, *args: Any, **kwargs: Any) -> None:
    global _traced_rank
    if _is_in_keras_fit():
        return
    if not is_eager():
        _traced_rank = max(_traced_rank, GRADIENT_RANK)
        return
    if state.current is not None and state.current.loss_is_cheap():
        _thread.loss = cheap_number(target)
    _on_update("tape", GRADIENT_RANK, 3)


def _on_apply(result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
    global _traced_rank
    if _is_in_keras_fit():
        return
    if not is_eager():
        _traced_rank = APPLY_RANK
        return
    _on_update(id(optimizer), APPLY_RANK, 3)


def _on_traced_call(result: Any, manager: Any, key: Any, *args: Any) -> None:
    global _traced_rank
    if _is_in_keras_fit():
        return
    if _traced_rank:
        _training_functions[id(key)] = max(_training_functions.get(id(key), 0), _traced_rank)
        _traced_rank = 0
    if _count_pulse(manager, key):
        _on_call(result, manager, key)


def _count_pulse(manager: Any, key: Any = None, *args: Any, **kwargs: Any) -> bool:
    """Whether there is more to do: inside a fit, or for a function that does not train, counting is all."""
    recorder = state.current
    if recorder is None:
        return False
    recorder.pulse += 1
    return id(key) in _training_functions and not recorder.open_fits


def _on_call(result: Any, manager: Any, key: Any) -> None:
    source = id(key)  # hashing and comparing code objects is expensive
    recorder = state.current
    if recorder is None or source not in _training_functions:
        return
    # our hook · the guard · the wrapper · Function.__call__, which still holds the result
    loss = _loss_in(sys._getframe(3).f_locals.get("result")) if recorder.loss_is_cheap() else NAN
    if source == _leader and _rival is None:
        recorder.hand_step(loss)
        return
    _thread.loss = loss
    _on_update(source, _training_functions[source], 3, key)


def _loss_in(result: Any) -> float:
    if isinstance(result, (tuple, list)) and result:
        result = result[0]
    elif isinstance(result, dict):
        result = result.get("loss")
    return cheap_number(result)


def _on_update(source: Any, rank: int, depth: int, code: Any = None) -> None:
    """An update happened. Several may make up one step (a GAN's two optimizers): only the leading source counts."""
    global _leader, _leader_rank, _rival
    if source == _leader:
        _rival = None
    elif rank > _leader_rank or _leader is None:
        is_upgrade = _leader is not None
        _leader, _leader_rank, _rival = source, rank, None
        _record_loop(depth + 1, code)
        if is_upgrade:
            return  # the previous leader has already counted this step
    elif rank == _leader_rank and _rival == source:
        _leader, _rival = source, None  # the leader is no longer called
        _record_loop(depth + 1, code)
        _count_step()  # the rival's previous step
    else:
        if rank == _leader_rank:
            _rival = source
        return
    _count_step()


def _count_step() -> None:
    if state.current is not None:
        loss, _thread.loss = _thread.loss, NAN
        state.current.hand_step(loss)


def _record_loop(depth: int, code: Any) -> None:
    """Where the loop is; for a tf.function also where it is defined."""
    if state.current is None:
        return
    filename = getattr(code, "co_filename", "<")
    function = {"file": filename, "line": code.co_firstlineno} if is_users(filename) else None
    frame = sys._getframe(depth)
    state.current.event("loop", where=users_place(frame), function=function, stack=users_stack(frame))
