"""Functions that must be traced again without a sentinel: to be saved, or to be compiled by XLA."""

from __future__ import annotations

import sys
import weakref
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder.frames import is_users
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.roles import traced_function
from laststep.recorder.patch import around

_functions: weakref.WeakSet[Any] = weakref.WeakSet()  # of the program's own, with a sentinel
_saving_depth = 0
_has_seen_xla = False  # XLA compiles functions in this program
XLA_ATTRIBUTE = "_XlaMustCompile"


def is_for_export(frame: FrameType | None) -> bool:
    """Traced to be exported: during a save, with an input signature, or by get_concrete_function."""
    if _saving_depth:
        return True
    function, is_requested = traced_function(frame)
    return is_requested or bool(getattr(function, "input_signature", None))  # empty if it takes no arguments


def remember_function(frame: FrameType | None) -> None:
    """Only functions of the program's own; those that Keras makes for its fit are never saved."""
    function, _ = traced_function(frame)
    code = getattr(getattr(function, "_python_function", None), "__code__", None)
    if code is not None and is_users(code.co_filename):
        _functions.add(function)


def watch_saving(probe: str, module: ModuleType) -> None:
    around(probe, module, "save_and_return_nodes", _saving_begins, _saving_ends)


def _saving_begins() -> None:
    global _saving_depth
    _saving_depth += 1
    for function in list(_functions):
        attempt(_trace_again, function)
        _functions.discard(function)


def _saving_ends() -> None:
    global _saving_depth
    _saving_depth -= 1


def _trace_again(function: Any) -> None:
    signatures = [concrete.structured_input_signature for concrete in function._list_all_concrete_functions()]
    _forget_traces(function)
    for args, kwargs in signatures:
        function.get_concrete_function(*args, **kwargs)


def may_be_in_xla() -> bool:
    """Whether XLA compiles functions in this program: those may call any other function of the program."""
    return _has_seen_xla


def before_trace(attributes: Any) -> None:
    """XLA cannot reach a sentinel's named variables, or those on another device: trace such functions again.

    This happens once. From then on, sentinels are inserted into the program's functions in a form that XLA accepts.
    """
    global _has_seen_xla
    if _has_seen_xla or not (attributes or {}).get(XLA_ATTRIBUTE):
        return
    _has_seen_xla = True
    running = _functions_on_stack()
    for function in list(_functions):
        if function not in running:
            attempt(_forget_traces, function)
            _functions.discard(function)


def _forget_traces(function: Any) -> None:
    function._function_cache = type(function._function_cache)()
    function._variable_creation_config = function._no_variable_creation_config = None


def _functions_on_stack() -> list[Any]:
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found.append(frame.f_locals.get("self"))
        frame = frame.f_back  # type: ignore[assignment]
    return found
