"""A SavedModel must not hold variables of ours: functions that are saved are traced anew, without the sentinel."""

from __future__ import annotations

import weakref
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder.frames import is_users
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.roles import traced_function
from laststep.recorder.patch import around

_functions: weakref.WeakSet[Any] = weakref.WeakSet()  # that have a sentinel
_saving = 0


def is_for_export(frame: FrameType | None) -> bool:
    """Traced to be saved or handed on: while saving, with a signature of its own, or asked for by name."""
    if _saving:
        return True
    function, asked = traced_function(frame)
    return asked or bool(getattr(function, "input_signature", None))  # empty where the function takes nothing


def remember_function(frame: FrameType | None) -> None:
    """One of the program's own; those that Keras makes for its fit are never saved."""
    function, _ = traced_function(frame)
    code = getattr(getattr(function, "_python_function", None), "__code__", None)
    if code is not None and is_users(code.co_filename):
        _functions.add(function)


def watch_saving(probe: str, module: ModuleType) -> None:
    around(probe, module, "save_and_return_nodes", _enter, _leave)


def _enter() -> None:
    global _saving
    _saving += 1
    for function in list(_functions):
        attempt(_trace_anew, function)
        _functions.discard(function)


def _leave() -> None:
    global _saving
    _saving -= 1


def _trace_anew(function: Any) -> None:
    signatures = [concrete.structured_input_signature for concrete in function._list_all_concrete_functions()]
    function._variable_creation_config = function._no_variable_creation_config = None
    for args, kwargs in signatures:
        function.get_concrete_function(*args, **kwargs)
