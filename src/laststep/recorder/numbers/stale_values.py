"""Python numbers that a traced function read, and so froze: told when the program changes them afterwards."""

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

MOST = 200
MANY_STEPS = 30
GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
CELLS = ("LOAD_DEREF", "LOAD_CLASSDEREF")
ATTRIBUTES = ("LOAD_ATTR",)

_watched: dict[tuple[int, str], tuple[Callable[[], Any], Any, dict[str, Any]]] = {}
_told: set[tuple[int, str]] = set()
_still: dict[tuple[int, str], tuple[Any, int]] = {}


def watch_frozen(frame: FrameType, model: Any) -> None:
    """At the end of a trace: the numbers read by the functions of the step, as they are now."""
    for code, spaces in _codes(frame, model):
        for key, read, told in _numbers_in(code, *spaces):
            if len(_watched) < MOST or key in _watched:
                _watched[key] = (read, read(), told)


def look_at_frozen() -> None:
    recorder = state.current
    for key, (read, before, told) in list(_watched.items()):
        now = read()
        if key in _told or not _is_number(now) or recorder is None:
            continue
        if _stands_still(key, now, recorder.count) if told.get("written") else now != before:
            _told.add(key)
            recorder.event("stale", before=before, now=now, step=recorder.count, **told)


def _stands_still(key: tuple[int, str], now: Any, count: int) -> bool:
    """The step itself counts it up, and it is the same after many steps: that line runs only while it is traced."""
    value, since = _still.setdefault(key, (now, count))
    if value != now:
        _still[key] = (now, count)
    return bool(value == now and count - since >= MANY_STEPS)


def _codes(frame: FrameType, model: Any) -> Iterator[tuple[CodeType, tuple[dict[str, Any], dict[str, Any], Any]]]:
    """Each function of the program's own that ran: its globals, what its other names stand for, its closure."""
    given: dict[str, dict[str, Any]] = {}
    for step in frames_of_step(frame):
        given[step.f_code.co_name.removeprefix("tf__")] = dict(step.f_locals)
        if is_users(step.f_code.co_filename):
            yield step.f_code, (step.f_globals, dict(step.f_locals), {})
    function = _unwrapped(getattr(traced_function(frame)[0], "_python_function", None))
    if function is not None:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        held = given.get(function.__name__) or next(reversed(given.values()), {})
        itself = getattr(held.get("self"), "target", held.get("self"))  # TensorFlow may put a stand-in there
        yield function.__code__, (function.__globals__, held | {"self": itself}, cells)
    for owner in [model, getattr(model, "loss", None), *getattr(model, "layers", [])] if model is not None else []:
        for name in ("train_step", "call", "compute_loss"):
            method = getattr(type(owner), name, None)
            code = getattr(method, "__code__", None)
            if code is not None and is_users(code.co_filename):
                yield code, (method.__globals__, {"self": owner}, {})  # type: ignore[union-attr]


def _unwrapped(function: Any) -> Any:
    """What the program wrote, behind what TensorFlow put around it: of a method, several layers."""
    for _ in range(8):
        code = getattr(function, "__code__", None)
        if code is not None and is_users(code.co_filename):
            return function
        function = getattr(function, "__wrapped__", None)
    return None


def _numbers_in(
    code: CodeType, names: dict[str, Any], held: dict[str, Any], cells: dict[str, Any]
) -> Iterator[tuple[Any, Any, Any]]:
    """(key, how to read it, what to tell) for each global, closed-over name or attribute that is a number."""
    line, owner, told_as = code.co_firstlineno, None, ""
    written = {str(i.argval) for i in dis.get_instructions(code) if i.opname.startswith("STORE_")}
    reads = Counter(str(i.argval) for i in dis.get_instructions(code) if i.opname in (*GLOBALS, *ATTRIBUTES))
    counted = {what for what in written if reads[what] < 2}  # only to be counted up, and not used
    for step in dis.get_instructions(code):
        line = _line(step) or line
        what = str(step.argval)
        told = {"file": code.co_filename, "line": line, "function": code.co_name}
        if step.opname in ATTRIBUTES and owner is not None and what not in counted:
            told["written"] = what in written
            space = getattr(owner, "__dict__", {})
            if _is_number(space.get(what)):
                yield (id(owner), what), _reader(owner, what), told | {"name": f"{told_as}.{what}"}
        elif step.opname in GLOBALS and _is_number(names.get(what)) and what not in written:
            yield (id(names), what), functools.partial(names.get, what), told | {"name": what}
        elif step.opname in CELLS and what in cells and _is_number(_content(cells[what])) and what not in written:
            yield (id(cells[what]), what), functools.partial(_content, cells[what]), told | {"name": what}
        found = held.get(what) if what in held else names.get(what) if step.opname in GLOBALS else None
        owner, told_as = (found, what) if step.opname.startswith("LOAD_") and hasattr(found, "__dict__") else (None, "")


def _reader(owner: Any, name: str) -> Callable[[], Any]:
    reference = weakref.ref(owner)

    def read() -> Any:
        held = reference()
        return None if held is None else vars(held).get(name)

    return read


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _line(step: Any) -> int | None:
    line = getattr(step, "line_number", None) or step.starts_line  # 3.13 has its own field
    return line if type(line) is int else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, bool)
