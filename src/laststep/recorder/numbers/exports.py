"""Functions that must be traced again without what a sentinel put there: to be saved, or to be compiled by XLA."""

from __future__ import annotations

import sys
import weakref
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder.frames import is_users
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.roles import traced_function
from laststep.recorder.patch import around

_functions: weakref.WeakSet[Any] = weakref.WeakSet()  # that have a sentinel
_saving = 0
_xla_seen = False  # whether XLA compiles functions in this program
XLA = "_XlaMustCompile"


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
        attempt(_trace_again, function)
        _functions.discard(function)


def _leave() -> None:
    global _saving
    _saving -= 1


def _trace_again(function: Any) -> None:
    signatures = [concrete.structured_input_signature for concrete in function._list_all_concrete_functions()]
    _forget_traces(function)
    for args, kwargs in signatures:
        function.get_concrete_function(*args, **kwargs)


def may_be_in_xla() -> bool:
    """Whether XLA compiles functions in this program: those may call any other one of its own."""
    return _xla_seen


def before_trace(attributes: Any) -> None:
    """XLA can't reach what a sentinel finds by name, or on another device: such functions are traced again.

    That happens once. From then on sentinels are laid into functions of the program's own as XLA would take them.
    """
    global _xla_seen
    if _xla_seen or not (attributes or {}).get(XLA):
        return
    _xla_seen = True
    running = _being_called()
    for function in list(_functions):
        if function not in running:
            attempt(_forget_traces, function)
            _functions.discard(function)


def _forget_traces(function: Any) -> None:
    function._function_cache = type(function._function_cache)()
    function._variable_creation_config = function._no_variable_creation_config = None


def _being_called() -> list[Any]:
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found.append(frame.f_locals.get("self"))
        frame = frame.f_back  # type: ignore[assignment]
    return found
