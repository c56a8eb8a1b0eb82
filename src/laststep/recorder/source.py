"""What the program's own source says: which names a call was given, where they were last set, who set the precision."""

from __future__ import annotations

import ast
import functools
from types import FrameType
from typing import Any

from laststep.recorder.frames import Place, parse_source, place

MOST_STAGES = 5
NO_GRADIENT = ("stop_gradient", "numpy", "argmax", "round", "rint", "floor", "ceil", "convert_to_numpy")
SOURCES = ("from_tensor_slices", "from_tensors")
IN_PLACE = ("shuffle",)  # change what they are given
PRECISION = ("set_global_policy", "set_dtype_policy", "set_floatx")


def where_given(frame: FrameType | None, method: str, argument: str, position: int) -> Any:
    """The line that last set (or changed a part of) the name that a call of this method was given."""
    if frame is None:
        return None
    for call in _calls(frame.f_code.co_filename):
        if _name(call) == method and _covers(call, frame):
            named = {word.arg: word.value for word in call.keywords}
            given = named.get(argument) or (call.args[position] if len(call.args) > position else None)
            root = _root(given)
            return _last_set(frame.f_code.co_filename, root) if root is not None else None
    return None


def where_sourced(frame: FrameType | None, method: str, position: int) -> Any:
    """The same for what a tf.data pipeline, given to that call, was made of."""
    for call in _calls(frame.f_code.co_filename) if frame is not None else ():
        first = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "x"), None)
        if frame is not None and _name(call) == method and _covers(call, frame) and isinstance(first, ast.Name):
            given = _in_dataset(frame.f_code.co_filename, first, position)
            return _last_set(frame.f_code.co_filename, given) if isinstance(given, ast.Name) else None
    return None


def where_set(frame: FrameType | None, attribute: str) -> Any:
    """The last line before this one that sets an attribute of this name."""
    if frame is None:
        return None
    nodes = [node for node in ast.walk(parse_source(frame.f_code.co_filename)) if isinstance(node, ast.Assign)]
    found = [node.lineno for node in nodes for target in node.targets if getattr(target, "attr", None) == attribute]
    before = [line for line in found if line < frame.f_lineno]
    return place(frame.f_code.co_filename, max(before)) if before else None


def where_cut(here: Place | None) -> Any:
    """The one line before this one, in its function, that lets no gradient through; stop_gradient wherever it is."""
    if here is None:
        return None
    functions = [node for node in ast.walk(parse_source(here["file"])) if isinstance(node, ast.FunctionDef)]
    around = [node.lineno for node in functions if node.lineno <= here["line"] <= (node.end_lineno or 0)]
    first = max(around, default=0)
    calls = [call for call in _calls(here["file"]) if _lets_nothing_through(call)]
    lines = {call.lineno for call in calls if first <= call.lineno < here["line"] or _name(call) == "stop_gradient"}
    return place(here["file"], lines.pop()) if len(lines) == 1 else None


def where_from(filename: str, line: int, name: str) -> Any:
    """Where the data was set of which a loop takes its batches, from the name of a batch at this line.

    From a loop's variable to what it goes through, from a function's argument to what its only caller gives; the
    first line in no loop is it.
    """
    for _ in range(MOST_STAGES):
        given = _given_as(filename, name, line)
        if given is None:
            return None
        line, value, looped = given
        if not looped:
            return place(filename, line)
        names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)] if value is not None else []
        known = [each for each in names if _given_as(filename, each, line) is not None]
        if not known:
            return None
        name = known[0]
    return None


def _given_as(filename: str, name: str, line: int) -> tuple[int, ast.expr | None, bool] | None:
    """(line, value, whether that is in a loop or in a call) of what last gave this name its value before a line."""
    function = _function_at(filename, line)
    inside = function.lineno if function is not None else 0
    set_here = [each for each in _settings(filename) if each[1] == name and inside <= each[0] < line]
    looped = [each for each in _loops(filename) if each[1] == name and inside <= each[0] <= line]
    if set_here or looped:
        at, _, value = max(set_here + looped, key=_line)
        return at, _part(value, name, at, filename), _is_in_loop(filename, at)
    if function is None:
        return None
    arguments = [each.arg for each in function.args.args]
    calls = [call for call in _calls(filename) if _name(call) == function.name]
    if name in arguments and len(calls) == 1 and len(calls[0].args) > arguments.index(name):
        return calls[0].lineno, calls[0].args[arguments.index(name)], True
    return _given_as(filename, name, inside) if inside else None


def _part(value: ast.expr | None, name: str, line: int, filename: str) -> ast.expr | None:
    """Of `a, b = f(x), f(y)` the one that this name gets."""
    pairs = [node for node in ast.walk(parse_source(filename)) if isinstance(node, ast.Assign) and node.lineno == line]
    for node in pairs:
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for part, given in zip(target.elts, node.value.elts, strict=False):
                if isinstance(part, ast.Name) and part.id == name:
                    return given
    return value


def _function_at(filename: str, line: int) -> ast.FunctionDef | None:
    functions = [node for node in ast.walk(parse_source(filename)) if isinstance(node, ast.FunctionDef)]
    around = [node for node in functions if node.lineno < line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno, default=None)


def _loops(filename: str) -> list[tuple[int, str, ast.expr | None]]:
    loops = [node for node in ast.walk(parse_source(filename)) if isinstance(node, ast.For)]
    return [
        (loop.lineno, name.id, loop.iter)
        for loop in loops for name in ast.walk(loop.target) if isinstance(name, ast.Name)
    ]  # fmt: skip


def _is_in_loop(filename: str, line: int) -> bool:
    loops = [node for node in ast.walk(parse_source(filename)) if isinstance(node, (ast.For, ast.While))]
    return any(loop.lineno <= line <= (loop.end_lineno or 0) for loop in loops)


def _root(given: ast.expr | None) -> ast.Name | None:
    """y, or y of y[:n]."""
    while isinstance(given, ast.Subscript):
        given = given.value
    return given if isinstance(given, ast.Name) else None


def only_source(here: Place | None) -> list[Any]:
    """Where the parts of the one tf.data pipeline in this file were last set: for a loop that goes through it."""
    calls = [call for call in _calls(here["file"]) if _name(call) in SOURCES and call.args] if here is not None else []
    if here is None or len(calls) != 1 or not isinstance(calls[0].args[0], ast.Tuple):
        return []
    names = [next((n for n in ast.walk(part) if isinstance(n, ast.Name)), None) for part in calls[0].args[0].elts]
    return [_last_set(here["file"], name) if name is not None else None for name in names]


def _lets_nothing_through(call: ast.Call) -> bool:
    to_whole = _name(call) == "cast" and any("int" in ast.unparse(word) for word in call.args[1:])
    return to_whole or _name(call) in NO_GRADIENT


def _covers(call: ast.Call, frame: FrameType) -> bool:
    return call.lineno <= frame.f_lineno <= (call.end_lineno or call.lineno)


def _in_dataset(filename: str, name: ast.Name, position: int) -> ast.expr | None:
    """What the source of a tf.data pipeline was given in this place: from_tensor_slices((x, y)), some stages before."""
    for _ in range(MOST_STAGES):
        known = [setting for setting in _settings(filename) if setting[1] == name.id and setting[0] < name.lineno]
        value = max(known, key=_line)[2] if known else None
        calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)] if value is not None else []
        pair = next((call.args[0] for call in calls if _name(call) in SOURCES and call.args), None)
        if pair is not None:
            return pair.elts[position] if isinstance(pair, ast.Tuple) and len(pair.elts) > position else None
        roots = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
        before = next((root for root in roots if isinstance(root, ast.Name)), None)
        if before is None:
            return None
        name = before
    return None


def _line(setting: tuple[int, str, ast.expr | None]) -> int:
    return setting[0]


def _last_set(filename: str, name: ast.Name) -> Any:
    lines = [line for line, known, _ in _settings(filename) if known == name.id and line < name.lineno]
    return place(filename, max(lines)) if lines else None


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


@functools.lru_cache(maxsize=32)
def used_in_tape(filename: str, line: int) -> tuple[str, ...]:
    """The names that the last `with GradientTape()` before this line uses and does not set itself, in their order."""
    blocks = [node for node in ast.walk(parse_source(filename)) if isinstance(node, ast.With) and node.lineno <= line]
    tapes = [block for block in blocks if any("GradientTape" in ast.dump(item.context_expr) for item in block.items)]
    if not tapes:
        return ()
    block = max(tapes, key=lambda node: node.lineno)
    names = sorted((n for n in ast.walk(block) if isinstance(n, ast.Name)), key=lambda n: (n.lineno, n.col_offset))
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return tuple(dict.fromkeys(name.id for name in names if name.id not in own))


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", None))


@functools.lru_cache(maxsize=8)
def _calls(filename: str) -> list[ast.Call]:
    return [node for node in ast.walk(parse_source(filename)) if isinstance(node, ast.Call)]


@functools.lru_cache(maxsize=8)
def _settings(filename: str) -> list[tuple[int, str, ast.expr | None]]:
    """(line, name, value) of each assignment to a name, or to a part of what it holds; also where that is shuffled."""
    found: list[tuple[int, str, ast.expr | None]] = []
    for node in ast.walk(parse_source(filename)):
        if isinstance(node, ast.Call) and _name(node) in IN_PLACE and node.args and isinstance(node.args[0], ast.Name):
            found.append((node.lineno, node.args[0].id, None))
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            continue
        for target in targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            for part in parts:
                while isinstance(part, (ast.Subscript, ast.Attribute, ast.Starred)):
                    part = part.value
                if isinstance(part, ast.Name):
                    found.append((node.lineno, part.id, node.value))
    return found
