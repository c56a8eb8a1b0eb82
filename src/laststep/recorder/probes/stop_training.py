"""What sets `model.stop_training`, on which line, and which values the `if` around it compared."""

from __future__ import annotations

import functools
import signal
import sys
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder import frames, state
from laststep.recorder.guard import guard
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import replace

PROBE = "stop_training"
CLASSES = {"keras.src.trainers.trainer": "Trainer", "tf_keras.src.engine.training": "Model"}


def install() -> None:
    for module, name in CLASSES.items():
        when_imported(PROBE, module, functools.partial(_patch_class, name))


def _patch_class(name: str, module: ModuleType) -> None:
    owner = getattr(module, name)
    if "stop_training" in vars(owner):
        raise RuntimeError(f"{module.__name__}.{name} defines stop_training itself")
    replace(PROBE, owner, "stop_training", _StopTrainingDescriptor())


class _StopTrainingDescriptor:
    """A data descriptor that stores the value where Keras does: in the model's __dict__."""

    def __get__(self, model: Any, kind: type | None = None) -> Any:
        if model is None:
            raise AttributeError("stop_training")
        try:
            return model.__dict__["stop_training"]
        except KeyError:
            raise AttributeError(f"'{type(model).__name__}' object has no attribute 'stop_training'") from None

    def __set__(self, model: Any, value: Any) -> None:
        model.__dict__["stop_training"] = value
        if value:
            guard(PROBE, _record, sys._getframe(1))

    def __delete__(self, model: Any) -> None:
        model.__dict__.pop("stop_training", None)


def _record(frame: FrameType | None) -> None:
    recorder = state.current
    if recorder is None:
        return
    fields: dict[str, Any] = {"where": frames.users_place(frame), "steps": recorder.count}
    fit = recorder.open_fits[-1] if recorder.open_fits else None
    if fit is not None:
        fields.update(fit=fit.id, epoch=fit.epoch, batch=fit.batch)
    fields.update(_caller(frame))
    recorder.event("stop", **fields)


def _caller(setter: FrameType | None) -> dict[str, Any]:
    """The callback or signal handler that made the assignment; {} for code outside of both."""
    handlers = _signal_handlers()
    frame = setter
    while frame is not None and frame.f_back is not None:
        if frame.f_code in handlers:
            return {"signal_handler": handlers[frame.f_code]}
        callback = frames.callback_called_by(frame.f_back)
        if callback is not None:
            return _describe(callback, frame, setter)
        frame = frame.f_back
    return {}


def _describe(callback: Any, hook: FrameType, setter: FrameType | None) -> dict[str, Any]:
    described = frames.describe_callback(callback, hook)
    logs = hook.f_locals.get("logs")
    user_frame = frames.users_frame(setter)
    return {
        "callback": described,
        "hook": hook.f_code.co_name,
        "line": frames.code_place(_own_frame(callback, setter) or hook),
        "values": frames.scalars(vars(callback)),
        "metrics": frames.scalars(logs) if isinstance(logs, dict) else {},
        "test": frames.deciding_test(user_frame) if described["users"] and user_frame is not None else None,
    }


def _own_frame(callback: Any, frame: FrameType | None) -> FrameType | None:
    """The innermost method of the callback on the stack: its base class may have made the assignment."""
    while frame is not None and frame.f_locals.get("self") is not callback:
        frame = frame.f_back
    return frame


def _signal_handlers() -> dict[Any, str]:
    """The code of the program's own signal handlers; they may run at any point."""
    found = {}
    for name in ("SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGALRM"):
        handler = signal.getsignal(getattr(signal, name))
        code = getattr(getattr(handler, "__func__", handler), "__code__", None)
        if code is not None:
            found[code] = name
    return found
