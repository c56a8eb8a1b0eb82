"""What the program's own source says: which names a call was given, where they were last set, who set the precision."""

from __future__ import annotations

import ast
import functools
from types import FrameType
from typing import Any

from laststep.recorder.frames import parse_source, place

PRECISION = ("set_global_policy", "set_dtype_policy", "set_floatx")


def where_given(frame: FrameType | None, method: str, argument: str, position: int) -> Any:
    """The line that last set (or changed a part of) the name that a call of this method was given."""
    if frame is None:
        return None
    for call in _calls(frame.f_code.co_filename):
        end = call.end_lineno or call.lineno
        if _name(call) == method and call.lineno <= frame.f_lineno <= end:
            given = next((word.value for word in call.keywords if word.arg == argument), None)
            given = given or (call.args[position] if len(call.args) > position else None)
            return _last_set(frame, given) if isinstance(given, ast.Name) else None
    return None


def _last_set(frame: FrameType, name: ast.Name) -> Any:
    lines = [line for line, known in _settings(frame.f_code.co_filename) if known == name.id and line < name.lineno]
    return place(frame.f_code.co_filename, max(lines)) if lines else None


def precision_set_at(frame: FrameType | None) -> Any:
    """The line that asks for another precision than float32 for all layers."""
    if frame is None:
        return None
    lines = [call.lineno for call in _calls(frame.f_code.co_filename) if _name(call) in PRECISION]
    return place(frame.f_code.co_filename, lines[-1]) if lines else None


def where_called(frame: FrameType | None, *names: str) -> Any:
    """The last line that calls the first of these names that is called at all."""
    for name in names if frame is not None else ():
        lines = [call.lineno for call in _calls(frame.f_code.co_filename) if _name(call) == name]  # type: ignore[union-attr]
        if lines:
            return place(frame.f_code.co_filename, max(lines))  # type: ignore[union-attr]
    return None


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", None))


@functools.lru_cache(maxsize=8)
def _calls(filename: str) -> list[ast.Call]:
    return [node for node in ast.walk(parse_source(filename)) if isinstance(node, ast.Call)]


@functools.lru_cache(maxsize=8)
def _settings(filename: str) -> list[tuple[int, str]]:
    """(line, name) of each assignment to a name, or to a part of what it holds."""
    found = []
    for node in ast.walk(parse_source(filename)):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            continue
        for target in targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            for part in parts:
                while isinstance(part, (ast.Subscript, ast.Attribute, ast.Starred)):
                    part = part.value
                if isinstance(part, ast.Name):
                    found.append((node.lineno, part.id))
    return found
