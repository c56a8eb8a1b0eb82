"""Which line is the user's own: frames, tracebacks, the `except` that would catch, the `if` that decided."""

from __future__ import annotations

import ast
import functools
import itertools

# Imported now, not while an exception propagates: importing it executes a string (namedtuple), after which CPython
# no longer ends the process with SIGINT on a KeyboardInterrupt.
import linecache
import os
import re
import sys
from types import FrameType, TracebackType
from typing import Any

from laststep.record.paths import is_users_path, package_folder
from laststep.recorder.guard import attempt

_STDLIB = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MAX_FRAMES = 40
CO_GENERATOR = 0x20  # from `inspect`, which is expensive to load
# Keras 3 uses the same message for a file that exists and cannot be read.
_REPORTED_MISSING = re.compile(r"File not found: filepath=(\S+?)\.?(?:\s|$)")
_FRAME_IN_MESSAGE = re.compile(r'File "([^"\n]+)", line (\d+), in (\S+)')

PlaceFields = dict[str, Any]  # the plain fields of a record.place.Place


def _main_package() -> str:
    """With `-m package.module` the user's own code may be an installed package."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    origin = getattr(spec, "origin", None)
    return package_folder(os.path.abspath(origin)) if origin else ""


@functools.lru_cache(maxsize=512)
def is_users(filename: str) -> bool:
    """Whether a file is the user's own code, not a library's, Python's or ours."""
    path = filename if filename.startswith("<") else os.path.abspath(filename)
    if path.startswith(_OURS):
        return os.sep + "demos" + os.sep in path
    standard = path.startswith(_STDLIB) and not package_folder(path)  # without a venv, packages lie below it
    return not standard and is_users_path(path, _main_package())


def place(filename: str, line: int, function: str = "") -> PlaceFields:
    here: PlaceFields = {"file": os.path.abspath(filename) if not filename.startswith("<") else filename, "line": line}
    if function:
        here["function"] = function
    text = source_line(filename, line)
    if text:
        here["text"] = text
    return here


def source_line(filename: str, line: int) -> str:
    return linecache.getline(filename, line).strip()[:200]


def users_frame(frame: FrameType | None) -> FrameType | None:
    """The nearest frame, outward from this one, that is the user's own."""
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def place_of(frame: FrameType | None) -> PlaceFields | None:
    if frame is None:
        return None
    return place(frame.f_code.co_filename, frame.f_lineno, _qualified_name(frame))


def code_place(frame: FrameType) -> PlaceFields:
    file = frame.f_code.co_filename
    return {"file": file, "line": frame.f_lineno, "function": _qualified_name(frame), "is_users": is_users(file)}


def users_place(frame: FrameType | None) -> PlaceFields | None:
    return place_of(users_frame(frame))


def users_stack(frame: FrameType | None, max_places: int = 8) -> list[PlaceFields]:
    """The user's lines that lead here, innermost first: the loops around them show whether the program will go on."""
    places: list[PlaceFields] = []
    while frame is not None and len(places) < max_places:
        if is_users(frame.f_code.co_filename):
            places.append({"file": os.path.abspath(frame.f_code.co_filename), "line": frame.f_lineno})
        frame = frame.f_back
    return places


def _qualified_name(frame: FrameType) -> str:
    return str(getattr(frame.f_code, "co_qualname", frame.f_code.co_name))


def callback_called_by(frame: FrameType) -> Any | None:
    """The callback that a CallbackList calls in this frame; by the list, because a hook may be a plain function."""
    if type(frame.f_locals.get("self")).__name__ != "CallbackList":
        return None
    return frame.f_locals.get("callback")


def describe_callback(callback: Any, hook: FrameType | None = None) -> PlaceFields:
    """Class, file and line; `users` says whether the code that runs in it is the user's own."""
    kind = type(callback)
    described: PlaceFields = {"class": kind.__qualname__, "module": kind.__module__}
    for value in vars(kind).values():
        code = getattr(value, "__code__", None)
        if code is not None:
            first = described.get("line")
            described["file"] = code.co_filename
            described["line"] = min(code.co_firstlineno, first) if first else code.co_firstlineno
    described["users"] = is_users(hook.f_code.co_filename if hook is not None else described.get("file", "<"))
    return described


def describe_exception(error: BaseException, traceback: TracebackType | None) -> dict[str, Any]:
    """Type, message, frames and the user's line; no object of the exception is kept."""
    kind = type(error)
    described: dict[str, Any] = {
        "type": kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}",
        "bases": [base.__name__ for base in kind.__mro__[:-1]],
        "message": _message(error),
        "frames": [],
    }
    walked = list(_walk(traceback))
    described["frames"] = [_frame(tb) for tb in walked[-_MAX_FRAMES:]]
    # A stack inside the message belongs to deeper code: lines of the graph, or Python that TensorFlow called.
    described["where"] = _place_in_message(described["message"]) or _users_place_in(walked)
    callback = _callback_in(walked)
    if callback:
        described["callback"] = callback
    loop, _ = attempt(_loop_that_sets, error, walked)
    if loop:
        described["set_in_loop"] = loop
    reported_missing = _REPORTED_MISSING.search(described["message"])
    if reported_missing:
        described["file_exists"] = os.path.exists(reported_missing[1])
    chain: list[dict[str, str]] = []
    inner = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    while inner is not None and len(chain) < 3:
        chain.append({"type": type(inner).__name__, "message": _message(inner)[:500]})
        inner = inner.__cause__ or (None if inner.__suppress_context__ else inner.__context__)
    if chain:
        described["because_of"] = chain
    return described


def _loop_that_sets(error: BaseException, walked: list[TracebackType]) -> PlaceFields | None:
    """For a name that is not set: an earlier loop of the same function whose body is the only place that sets it."""
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    if isinstance(error, UnboundLocalError):
        quoted = re.search(r"variable '(\w+)'", str(error))
        name = quoted[1] if quoted else name
    if not name or not walked:
        return None
    code, line = walked[-1].tb_frame.f_code, walked[-1].tb_lineno
    tree = parse_source(code.co_filename)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    inside = [
        node for node in ast.walk(tree) if isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    scope = max(inside, key=lambda node: node.lineno, default=tree)
    if (code.co_name == "<module>") != (scope is tree):
        return None
    stores = [
        node.lineno for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name and _stores(node)
    ]
    loops = [node for node in ast.walk(scope) if isinstance(node, ast.For) and (node.end_lineno or 0) < line]
    for loop in sorted(loops, key=lambda node: -node.lineno):
        if stores and all(loop.lineno < store <= (loop.end_lineno or 0) for store in stores):
            return place(code.co_filename, loop.lineno)
    return None


def _stores(node: Any) -> bool:
    return type(node.ctx).__name__ == "Store"


def _message(error: BaseException) -> str:
    message, problem = attempt(str, error)
    if message is not None and len(message) > 6000:  # TensorFlow puts the essential part last, after pages of stack
        return message[:3000] + "\n…\n" + message[-3000:]
    return message if message is not None else f"(its message could not be made: {problem})"


def _walk(traceback: TracebackType | None) -> Any:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _frame(tb: TracebackType) -> PlaceFields:
    code = tb.tb_frame.f_code
    described: PlaceFields = {"file": code.co_filename, "line": tb.tb_lineno, "function": _qualified_name(tb.tb_frame)}
    described["is_users"] = is_users(code.co_filename)
    if described["is_users"]:
        if code.co_flags & CO_GENERATOR:
            described["generator"] = True
        described["text"] = source_line(code.co_filename, tb.tb_lineno)
    return described


def _users_place_in(walked: list[TracebackType]) -> PlaceFields | None:
    """The deepest line of the user's code in the traceback."""
    for tb in reversed(walked):
        code = tb.tb_frame.f_code
        if is_users(code.co_filename):
            return place(code.co_filename, tb.tb_lineno, _qualified_name(tb.tb_frame))
    return None


def _place_in_message(message: str) -> PlaceFields | None:
    """AutoGraph replaces the user's frames by text in the message."""
    for filename, line, function in reversed(_FRAME_IN_MESSAGE.findall(message)):
        if is_users(filename):
            return place(filename, int(line), function)
    return None


def _callback_in(walked: list[TracebackType]) -> PlaceFields | None:
    """The callback that was running, with its method and the line that raised."""
    for caller, tb in itertools.pairwise(walked):
        callback = callback_called_by(caller.tb_frame)
        if callback is not None:
            return describe_callback(callback, tb.tb_frame) | {
                "hook": tb.tb_frame.f_code.co_name,
                "raised_at": {"file": tb.tb_frame.f_code.co_filename, "line": tb.tb_lineno},
            }
    return None


def would_be_caught(error: BaseException, frame: FrameType | None) -> PlaceFields | None:
    """The user's `except` that will catch this error, read from the source, innermost first."""
    names = {base.__name__ for base in type(error).__mro__}
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            caught = _handler_around(frame.f_code.co_filename, frame.f_lineno, names)
            if caught is not None:
                return caught
        frame = frame.f_back
    return None


def _handler_around(filename: str, line: int, names: set[str]) -> PlaceFields | None:
    best: ast.ExceptHandler | None = None
    for node in ast.walk(parse_source(filename)):
        if not isinstance(node, ast.Try) or not _spans(node.body, line):
            continue
        handler = next((h for h in node.handlers if _catches(h.type, names)), None)
        if handler is not None and (best is None or handler.lineno < best.lineno):
            best = handler  # of nested handlers the inner one comes first in the source
    return place(filename, best.lineno) if best else None


def handler_of(frame: FrameType) -> tuple[str, PlaceFields] | None:
    """The `except` clause in whose body the frame is: (name of the exception class, place)."""
    for node in ast.walk(parse_source(frame.f_code.co_filename)):
        if isinstance(node, ast.ExceptHandler) and _spans(node.body, frame.f_lineno):
            named = "" if node.type is None else ast.unparse(node.type).rsplit(".", 1)[-1]
            return named, place(frame.f_code.co_filename, node.lineno)
    return None


def _spans(body: list[Any], line: int) -> bool:
    return bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def _catches(kind: Any, names: set[str]) -> bool:
    if kind is None:
        return True
    if isinstance(kind, ast.Tuple):
        return any(_catches(element, names) for element in kind.elts)
    return (kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "")) in names


def deciding_test(frame: FrameType) -> dict[str, Any] | None:
    """The `if` around this line and the values that it compares: {'text', 'line', 'values'}."""
    best: ast.If | None = None
    for node in ast.walk(parse_source(frame.f_code.co_filename)):
        if isinstance(node, ast.If) and _spans(node.body, frame.f_lineno):
            if best is None or node.lineno > best.lineno:
                best = node
    if best is None:
        return None
    values = {}
    for node in ast.walk(best.test):
        if isinstance(node, (ast.Name, ast.Attribute)):
            values.update(_value_of(node, frame))
    return {"text": ast.unparse(best.test)[:200], "line": best.lineno, "values": values}


def _value_of(node: Any, frame: FrameType) -> dict[str, Any]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        holder = getattr(frame.f_locals.get("self"), "__dict__", {})
        return scalars({f"self.{node.attr}": holder.get(node.attr)})
    if isinstance(node, ast.Name) and node.id != "self":
        return scalars({node.id: frame.f_locals.get(node.id, frame.f_globals.get(node.id))})
    return {}


def where_made(frame: FrameType | None, value: Any) -> PlaceFields | None:
    """The last line before the current one that assigned this object to a name."""
    if frame is None or value is None:
        return None
    scopes = (frame.f_locals, frame.f_globals)
    names = {name for scope in scopes for name, other in scope.items() if other is value}
    lines = [line for line, name in _assignments(frame.f_code.co_filename) if name in names and line < frame.f_lineno]
    return place(frame.f_code.co_filename, lines[-1]) if lines else None


@functools.lru_cache(maxsize=8)
def _assignments(filename: str) -> list[tuple[int, str]]:
    """(line, name) of every assignment in a file, in order; cached, because some programs call fit in each step."""
    found = [
        (node.lineno, part.id)
        for node in ast.walk(parse_source(filename))
        if isinstance(node, ast.Assign)
        for target in node.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name)
    ]
    return sorted(found)


@functools.lru_cache(maxsize=4)
def parse_source(filename: str) -> Any:
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def scalars(values: Any, max_values: int = 24) -> dict[str, Any]:
    """The numbers, strings and booleans of a mapping; arrays, tensors and other objects are left out."""
    found: dict[str, Any] = {}
    for name, value in list(values.items())[:200]:
        if len(found) >= max_values:
            break
        plain = number(value) if not isinstance(value, (bool, str)) and value is not None else value
        if isinstance(plain, str):
            plain = plain[:120]
        if plain is not None and isinstance(name, str):
            found[name] = plain
    return found


def number(value: Any) -> float | int | None:
    """A Python number from a Python or NumPy scalar; None for anything else (reading a tensor could sync a device)."""
    if isinstance(value, (bool, int, float)):
        return value
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        item = value.item()
        return item if isinstance(item, (bool, int, float)) else None
    return None
