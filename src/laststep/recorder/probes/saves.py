"""While Keras writes a model or its weights, that is what goes on."""

from __future__ import annotations

import time
from types import ModuleType

from laststep.recorder import state
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import around

PROBE = "saves"
MODULE = "keras.src.saving.saving_lib"
SAVE = state.PHASE["save"]

_before: list[int] = []


def install() -> None:
    when_imported(PROBE, MODULE, _watch)


def _watch(module: ModuleType) -> None:
    for name in ("save_model", "save_weights_only"):
        around(PROBE, module, name, _enter, _leave)


def _enter() -> None:
    if state.current is not None and state.current.steps is not None:
        _before.append(state.current.phase)
        state.current.mark(SAVE, time.time())


def _leave() -> None:
    if state.current is not None and _before:
        state.current.mark(_before.pop(), time.time())
