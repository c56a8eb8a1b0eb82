"""Facts from the program's source: which names a call was given, where they were last set, what set the precision."""

from __future__ import annotations

import ast
import functools
from types import FrameType
from typing import Any

from laststep.recorder.frames import PlaceFields, parse_source, place

MAX_HOPS = 5  # from a name to what it was made of
NO_GRADIENT_CALLS = ("stop_gradient", "numpy", "argmax", "round", "rint", "floor", "ceil", "convert_to_numpy")
DATASET_SOURCES = ("from_tensor_slices", "from_tensors")
IN_PLACE_CALLS = ("shuffle",)  # change their argument
PRECISION_CALLS = ("set_global_policy", "set_dtype_policy", "set_floatx")


def where_argument_set(frame: FrameType | None, method: str, argument: str, position: int) -> Any:
    """The line that last set, or changed a part of, the name passed to a call of this method."""
    if frame is None:
        return None
    for call in _calls(frame.f_code.co_filename):
        if _name(call) == method and _covers(call, frame):
            named = {word.arg: word.value for word in call.keywords}
            value = named.get(argument) or (call.args[position] if len(call.args) > position else None)
            root = _root_name(value)
            return _last_set(frame.f_code.co_filename, root) if root is not None else None
    return None


def where_dataset_source_set(frame: FrameType | None, method: str, position: int) -> Any:
    """The same for the data of which the tf.data pipeline passed to that call is made."""
    for call in _calls(frame.f_code.co_filename) if frame is not None else ():
        first = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "x"), None)
        if frame is not None and _name(call) == method and _covers(call, frame) and isinstance(first, ast.Name):
            source = _dataset_part(frame.f_code.co_filename, first, position)
            return _last_set(frame.f_code.co_filename, source) if isinstance(source, ast.Name) else None
    return None


def where_attribute_set(frame: FrameType | None, attribute: str) -> Any:
    """The last line before this one that sets an attribute of this name."""
    if frame is None:
        return None
    nodes = [node for node in ast.walk(parse_source(frame.f_code.co_filename)) if isinstance(node, ast.Assign)]
    found = [node.lineno for node in nodes for target in node.targets if getattr(target, "attr", None) == attribute]
    before = [line for line in found if line < frame.f_lineno]
    return place(frame.f_code.co_filename, max(before)) if before else None


def where_gradient_cut(here: PlaceFields | None) -> Any:
    """The only line before this one in the same function that stops the gradient; stop_gradient counts anywhere."""
    if here is None:
        return None
    functions = [node for node in ast.walk(parse_source(here["file"])) if isinstance(node, ast.FunctionDef)]
    starts = [node.lineno for node in functions if node.lineno <= here["line"] <= (node.end_lineno or 0)]
    first = max(starts, default=0)
    calls = [call for call in _calls(here["file"]) if _stops_gradient(call)]
    lines = {call.lineno for call in calls if first <= call.lineno < here["line"] or _name(call) == "stop_gradient"}
    return place(here["file"], lines.pop()) if len(lines) == 1 else None


def where_batches_come_from(filename: str, line: int, name: str) -> Any:
    """Where the data of a loop's batches was set, starting from the name of a batch at this line.

    Follows a loop variable to the iterated object, and a function's argument to the value its only caller passes, up to
    the first line that is not in a loop.
    """
    for _ in range(MAX_HOPS):
        assignment = _last_value(filename, name, line)
        if assignment is None:
            return None
        line, value, is_in_loop = assignment
        if not is_in_loop:
            return place(filename, line)
        names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)] if value is not None else []
        known = [each for each in names if _last_value(filename, each, line) is not None]
        if not known:
            return None
        name = known[0]
    return None


def _last_value(filename: str, name: str, line: int) -> tuple[int, ast.expr | None, bool] | None:
    """(line, value, whether it is in a loop or a call) of the last assignment to this name before a line."""
    function = _function_at(filename, line)
    inside = function.lineno if function is not None else 0
    assignments = [each for each in _assignments(filename) if each[1] == name and inside <= each[0] < line]
    loop_variables = [each for each in _loops(filename) if each[1] == name and inside <= each[0] <= line]
    if assignments or loop_variables:
        at, _, value = max(assignments + loop_variables, key=_line_of_assignment)
        return at, _matching_part(value, name, at, filename), _is_in_loop(filename, at)
    if function is None:
        return None
    arguments = [each.arg for each in function.args.args]
    calls = [call for call in _calls(filename) if _name(call) == function.name]
    if name in arguments and len(calls) == 1 and len(calls[0].args) > arguments.index(name):
        return calls[0].lineno, calls[0].args[arguments.index(name)], True
    return _last_value(filename, name, inside) if inside else None


def _matching_part(value: ast.expr | None, name: str, line: int, filename: str) -> ast.expr | None:
    """For `a, b = f(x), f(y)`: the part that is assigned to this name."""
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


def _root_name(value: ast.expr | None) -> ast.Name | None:
    """y, or y of y[:n]."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return value if isinstance(value, ast.Name) else None


def where_only_dataset_source_set(here: PlaceFields | None) -> list[Any]:
    """Where the parts of the only tf.data pipeline in this file were last set: for a loop over it."""
    if here is None:
        return []
    calls = [call for call in _calls(here["file"]) if _name(call) in DATASET_SOURCES and call.args]
    if len(calls) != 1 or not isinstance(calls[0].args[0], ast.Tuple):
        return []
    names = [next((n for n in ast.walk(part) if isinstance(n, ast.Name)), None) for part in calls[0].args[0].elts]
    return [_last_set(here["file"], name) if name is not None else None for name in names]


def _stops_gradient(call: ast.Call) -> bool:
    to_whole = _name(call) == "cast" and any("int" in ast.unparse(word) for word in call.args[1:])
    return to_whole or _name(call) in NO_GRADIENT_CALLS


def _covers(call: ast.Call, frame: FrameType) -> bool:
    return call.lineno <= frame.f_lineno <= (call.end_lineno or call.lineno)


def _dataset_part(filename: str, name: ast.Name, position: int) -> ast.expr | None:
    """The argument at this position of the pipeline's source: from_tensor_slices((x, y)), some stages earlier."""
    for _ in range(MAX_HOPS):
        known = [each for each in _assignments(filename) if each[1] == name.id and each[0] < name.lineno]
        value = max(known, key=_line_of_assignment)[2] if known else None
        calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)] if value is not None else []
        pair = next((call.args[0] for call in calls if _name(call) in DATASET_SOURCES and call.args), None)
        if pair is not None:
            return pair.elts[position] if isinstance(pair, ast.Tuple) and len(pair.elts) > position else None
        roots = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
        before = next((root for root in roots if isinstance(root, ast.Name)), None)
        if before is None:
            return None
        name = before
    return None


def _line_of_assignment(assignment: tuple[int, str, ast.expr | None]) -> int:
    return assignment[0]


def _last_set(filename: str, name: ast.Name) -> Any:
    lines = [line for line, known, _ in _assignments(filename) if known == name.id and line < name.lineno]
    return place(filename, max(lines)) if lines else None


def precision_set_at(frame: FrameType | None) -> Any:
    """The line that sets a precision other than float32 for all layers."""
    if frame is None:
        return None
    lines = [call.lineno for call in _calls(frame.f_code.co_filename) if _name(call) in PRECISION_CALLS]
    return place(frame.f_code.co_filename, lines[-1]) if lines else None


def where_called(frame: FrameType | None, *names: str) -> Any:
    """The last line that calls one of these functions; the first of them that is called anywhere counts."""
    for name in names if frame is not None else ():
        lines = [call.lineno for call in _calls(frame.f_code.co_filename) if _name(call) == name]  # type: ignore[union-attr]
        if lines:
            return place(frame.f_code.co_filename, max(lines))  # type: ignore[union-attr]
    return None


@functools.lru_cache(maxsize=32)
def used_in_tape(filename: str, line: int) -> tuple[str, ...]:
    """The names that the last `with GradientTape()` before this line uses but does not set, in order."""
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
def _assignments(filename: str) -> list[tuple[int, str, ast.expr | None]]:
    """(line, name, value) of each assignment to a name or to a part of its value; shuffling in place counts, too."""
    found: list[tuple[int, str, ast.expr | None]] = []
    for node in ast.walk(parse_source(filename)):
        if (
            isinstance(node, ast.Call)
            and _name(node) in IN_PLACE_CALLS
            and node.args
            and isinstance(node.args[0], ast.Name)
        ):
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
