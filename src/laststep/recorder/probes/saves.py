"""The phase "save": Keras is writing a model or its weights."""

from __future__ import annotations

import time
from types import ModuleType

from laststep.recorder import state
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import around

PROBE = "saves"
SAVING_MODULE = "keras.src.saving.saving_lib"
SAVE = state.PHASE["save"]

_phases_before: list[int] = []


def install() -> None:
    when_imported(PROBE, SAVING_MODULE, _patch_saving)


def _patch_saving(module: ModuleType) -> None:
    for name in ("save_model", "save_weights_only"):
        around(PROBE, module, name, _save_begins, _save_ends)


def _save_begins() -> None:
    if state.current is not None and state.current.steps is not None:
        _phases_before.append(state.current.phase)
        state.current.mark(SAVE, time.time())


def _save_ends() -> None:
    if state.current is not None and _phases_before:
        state.current.mark(_phases_before.pop(), time.time())
