"""Python numbers that became constants of a traced function: recorded if the program changes them later."""

from __future__ import annotations

import dis
import functools
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from laststep.recorder import state
from laststep.recorder.frames import is_users
from laststep.recorder.numbers.roles import frames_of_step, traced_function

MAX_WATCHED = 200
MIN_UNCHANGED_STEPS = 30
GLOBAL_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
CELL_LOADS = ("LOAD_DEREF", "LOAD_CLASSDEREF")
ATTRIBUTE_LOADS = ("LOAD_ATTR",)

_watched: dict[tuple[int, str], tuple[Callable[[], Any], Any, dict[str, Any]]] = {}
_reported: set[tuple[int, str]] = set()
_unchanged_since: dict[tuple[int, str], tuple[Any, int]] = {}


def watch_stale_values(frame: FrameType, model: Any) -> None:
    """At the end of a trace: note the numbers that the functions of the step read, with their current values."""
    for code, scopes in _codes_of_step(frame, model):
        for key, read, fields in _numbers_in(code, *scopes):
            if len(_watched) < MAX_WATCHED or key in _watched:
                _watched[key] = (read, read(), fields)


def check_stale_values() -> None:
    recorder = state.current
    for key, (read, before, fields) in list(_watched.items()):
        now = read()
        if key in _reported or not _is_number(now) or recorder is None:
            continue
        if _is_unchanged(key, now, recorder.count) if fields.get("written") else now != before:
            _reported.add(key)
            recorder.event("stale", before=before, now=now, step=recorder.count, **fields)


def _is_unchanged(key: tuple[int, str], value: Any, count: int) -> bool:
    """The step itself sets the value, yet it stays the same for many steps: that line runs only during tracing."""
    last_value, first_step = _unchanged_since.setdefault(key, (value, count))
    if last_value != value:
        _unchanged_since[key] = (value, count)
    return bool(last_value == value and count - first_step >= MIN_UNCHANGED_STEPS)


def _codes_of_step(
    frame: FrameType, model: Any
) -> Iterator[tuple[CodeType, tuple[dict[str, Any], dict[str, Any], Any]]]:
    """Each of the program's functions that ran: its globals, the values of its other names, its closure."""
    locals_by_function: dict[str, dict[str, Any]] = {}
    for step in frames_of_step(frame):
        locals_by_function[step.f_code.co_name.removeprefix("tf__")] = dict(step.f_locals)
        if is_users(step.f_code.co_filename):
            yield step.f_code, (step.f_globals, dict(step.f_locals), {})
    function = _unwrapped(getattr(traced_function(frame)[0], "_python_function", None))
    if function is not None:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        variables = locals_by_function.get(function.__name__) or next(reversed(locals_by_function.values()), {})
        instance = getattr(variables.get("self"), "target", variables.get("self"))  # may be a stand-in
        yield function.__code__, (function.__globals__, variables | {"self": instance}, cells)
    for owner in [model, getattr(model, "loss", None), *getattr(model, "layers", [])] if model is not None else []:
        for name in ("train_step", "call", "compute_loss"):
            method = getattr(type(owner), name, None)
            code = getattr(method, "__code__", None)
            if code is not None and is_users(code.co_filename):
                yield code, (method.__globals__, {"self": owner}, {})  # type: ignore[union-attr]


def _unwrapped(function: Any) -> Any:
    """The function that the program wrote, below TensorFlow's wrappers; for a method there are several."""
    for _ in range(8):
        code = getattr(function, "__code__", None)
        if code is not None and is_users(code.co_filename):
            return function
        function = getattr(function, "__wrapped__", None)
    return None


def _numbers_in(
    code: CodeType, names: dict[str, Any], variables: dict[str, Any], cells: dict[str, Any]
) -> Iterator[tuple[Any, Any, Any]]:
    """(key, reader, fields of the event) for each global, closure variable or attribute that is a number."""
    line, owner, owner_name = code.co_firstlineno, None, ""
    written = {str(i.argval) for i in dis.get_instructions(code) if i.opname.startswith("STORE_")}
    reads = Counter(str(i.argval) for i in dis.get_instructions(code) if i.opname in (*GLOBAL_LOADS, *ATTRIBUTE_LOADS))
    only_counted = {name for name in written if reads[name] < 2}  # only incremented, not used otherwise
    for instruction in dis.get_instructions(code):
        line = _line(instruction) or line
        name = str(instruction.argval)
        fields = {"file": code.co_filename, "line": line, "function": code.co_name}
        if instruction.opname in ATTRIBUTE_LOADS and owner is not None and name not in only_counted:
            fields["written"] = name in written
            attributes = getattr(owner, "__dict__", {})
            if _is_number(attributes.get(name)):
                yield (id(owner), name), _reader(owner, name), fields | {"name": f"{owner_name}.{name}"}
        elif instruction.opname in GLOBAL_LOADS and _is_number(names.get(name)) and name not in written:
            yield (id(names), name), functools.partial(names.get, name), fields | {"name": name}
        elif (
            instruction.opname in CELL_LOADS
            and name in cells
            and _is_number(_content(cells[name]))
            and name not in written
        ):
            yield (id(cells[name]), name), functools.partial(_content, cells[name]), fields | {"name": name}
        found = (
            variables.get(name)
            if name in variables
            else names.get(name)
            if instruction.opname in GLOBAL_LOADS
            else None
        )
        owner, owner_name = (
            (found, name) if instruction.opname.startswith("LOAD_") and hasattr(found, "__dict__") else (None, "")
        )


def _reader(owner: Any, name: str) -> Callable[[], Any]:
    reference = weakref.ref(owner)

    def read() -> Any:
        instance = reference()
        return None if instance is None else vars(instance).get(name)

    return read


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _line(instruction: Any) -> int | None:
    line = getattr(instruction, "line_number", None) or instruction.starts_line  # Python 3.13 has a field of its own
    return line if type(line) is int else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, bool)
