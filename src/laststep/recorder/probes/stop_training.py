"""Who sets `model.stop_training`, from which line, and what the test before it compared."""

from __future__ import annotations

import functools
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
        when_imported(PROBE, module, functools.partial(_watch, name))


def _watch(name: str, module: ModuleType) -> None:
    owner = getattr(module, name)
    if "stop_training" in vars(owner):
        raise RuntimeError(f"{module.__name__}.{name} defines stop_training itself")
    replace(PROBE, owner, "stop_training", _Watched())


class _Watched:
    """A data descriptor that keeps the value where Keras would: in the model's own __dict__."""

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
    data: dict[str, Any] = {"where": frames.users_place(frame), "steps": recorder.count}
    fit = recorder.open_fits[-1] if recorder.open_fits else None
    if fit is not None:
        data.update(fit=fit.id, epoch=fit.epoch, batch=fit.batch)
    while frame is not None:
        callback = frames.callback_of(frame)
        if callback is not None:
            data["callback"] = frames.describe_callback(callback)
            data["hook"] = frame.f_code.co_name
            data["line"] = {"file": frame.f_code.co_filename, "line": frame.f_lineno}
            data["values"] = frames.scalars(vars(callback))
            logs = frame.f_locals.get("logs")
            data["metrics"] = frames.scalars(logs) if isinstance(logs, dict) else {}
            data["test"] = frames.deciding_test(frame) if data["callback"]["users"] else None
            break
        frame = frame.f_back
    recorder.event("stop", **data)
