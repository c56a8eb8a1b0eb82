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
FUNCTION = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
TAPE = "tensorflow.python.eager.backprop"
OPTIMIZERS = {
    "keras.src.optimizers.base_optimizer": ("BaseOptimizer", "apply"),
    "tf_keras.src.optimizers.optimizer": ("Optimizer", "apply_gradients"),
    "tf_keras.src.optimizers.legacy.optimizer_v2": ("OptimizerV2", "apply_gradients"),
}
GRADIENT, APPLY = 1, 2  # how surely it is a training step
NAN = math.nan


class _Thread(threading.local):
    loss = NAN


_thread = _Thread()
_functions: dict[int, int] = {}  # by the id of their code, which TensorFlow keeps
_traced = 0  # what the function being traced does; a distribution strategy traces it in a thread of its own
_lead: Any = None
_lead_rank = 0
_rival: Any = None


def install() -> None:
    when_imported(PROBE, FUNCTION, _watch_functions)
    when_imported(PROBE, TAPE, lambda module: after(PROBE, module.GradientTape, "gradient", _gradient))
    for name, (kind, method) in OPTIMIZERS.items():
        when_imported(PROBE, name, functools.partial(_watch_optimizer, kind, method))


def _watch_optimizer(kind: str, method: str, module: ModuleType) -> None:
    after(PROBE, getattr(module, kind), method, _applied)


def _watch_functions(module: ModuleType) -> None:
    # TensorFlow tells this object after each call whether it traced: again no frame of ours during the call.
    manager = module._FrequentTracingDetectorManager
    after(PROBE, manager, "called_with_tracing", _after_trace)
    after(PROBE, manager, "called_without_tracing", _called, is_relevant=_pulse)


def _in_keras() -> bool:
    return state.current is None or bool(state.current.open_fits)


def _gradient(result: Any, tape: Any, target: Any, *args: Any, **kwargs: Any) -> None:
    global _traced
    if _in_keras():
        return
    if not is_eager():
        _traced = max(_traced, GRADIENT)
        return
    if state.current is not None and state.current.loss_is_cheap():
        _thread.loss = cheap_number(target)
    _seen("tape", GRADIENT, 3)


def _applied(result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
    global _traced
    if _in_keras():
        return
    if not is_eager():
        _traced = APPLY
        return
    _seen(id(optimizer), APPLY, 3)


def _after_trace(result: Any, manager: Any, key: Any, *args: Any) -> None:
    global _traced
    if _in_keras():
        return
    if _traced:
        _functions[id(key)] = max(_functions.get(id(key), 0), _traced)
        _traced = 0
    if _pulse(manager, key):
        _called(result, manager, key)


def _pulse(manager: Any, key: Any = None, *args: Any, **kwargs: Any) -> bool:
    """Whether there is more to do: in a fit, and for a function that trains nothing, this is all."""
    recorder = state.current
    if recorder is None:
        return False
    recorder.pulse += 1
    return id(key) in _functions and not recorder.open_fits


def _called(result: Any, manager: Any, key: Any) -> None:
    source = id(key)  # hashing and comparing code objects themselves is dear
    recorder = state.current
    if recorder is None or source not in _functions:
        return
    # our hook · the guard · the wrapper · Function.__call__, which still holds the result
    loss = _loss_in(sys._getframe(3).f_locals.get("result")) if recorder.loss_is_cheap() else NAN
    if source == _lead and _rival is None:
        recorder.hand_step(loss)
        return
    _thread.loss = loss
    _seen(source, _functions[source], 3, key)


def _loss_in(result: Any) -> float:
    if isinstance(result, (tuple, list)) and result:
        result = result[0]
    elif isinstance(result, dict):
        result = result.get("loss")
    return cheap_number(result)


def _seen(source: Any, rank: int, depth: int, code: Any = None) -> None:
    """One update happened. Several may make one step (a GAN's two optimizers): the leading source counts."""
    global _lead, _lead_rank, _rival
    if source == _lead:
        _rival = None
    elif rank > _lead_rank or _lead is None:
        upgrade = _lead is not None
        _lead, _lead_rank, _rival = source, rank, None
        _tell_loop(depth + 1, code)
        if upgrade:
            return  # the same step was counted by what led until now
    elif rank == _lead_rank and _rival == source:
        _lead, _rival = source, None  # the leading one has gone silent
        _tell_loop(depth + 1, code)
        _count()  # the step that was only a rival's
    else:
        if rank == _lead_rank:
            _rival = source
        return
    _count()


def _count() -> None:
    if state.current is not None:
        loss, _thread.loss = _thread.loss, NAN
        state.current.hand_step(loss)


def _tell_loop(depth: int, code: Any) -> None:
    """Where the loop is; for a tf.function also where that stands, by its code."""
    if state.current is None:
        return
    filename = getattr(code, "co_filename", "<")
    function = {"file": filename, "line": code.co_firstlineno} if is_users(filename) else None
    frame = sys._getframe(depth)
    state.current.event("loop", where=users_place(frame), function=function, stack=users_stack(frame))
