"""How a change would be written: the user's own call as it is in the file, with an addition."""

from __future__ import annotations

import ast
import linecache

from laststep.recorder.experiments.tune.calls import Call


def call_text(call: Call, more: str = "", without: str = "") -> str:
    """`.map(load)` or `.map(load, more)`; the arguments as the user wrote them, if they can be found."""
    arguments = [part for part in _arguments(call) if not (without and part.startswith(f"{without}="))]
    dot = "" if call.method.endswith("Dataset") else "."
    return f"{dot}{call.method}({', '.join([*arguments, *([more] if more else [])])})"


def function_text(call: Call) -> str:
    """The function passed to a map: its name or its lambda."""
    arguments = _arguments(call)
    text = arguments[0].removeprefix("map_func=").strip() if arguments else "f"
    return f"({text})" if text.startswith("lambda") else text


def _arguments(call: Call) -> list[str]:
    where = call.where or {}
    text = "".join(linecache.getlines(str(where.get("file", ""))))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ["…"]
    found = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and _matches(node, call, where.get("line", 0))
    ]
    if not found:
        return ["…"]
    node = min(found, key=lambda node: (not _names_function(node, call), abs(_end_line(node) - where["line"])))
    parts = [ast.get_source_segment(text, part) or "…" for part in node.args]
    parts += [f"{part.arg}={ast.get_source_segment(text, part.value)}" for part in node.keywords]
    return [" ".join(part.split()) for part in parts]


def _matches(node: ast.Call, call: Call, line: int) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == call.method and node.lineno <= line <= (node.end_lineno or line)


def _end_line(node: ast.Call) -> int:
    return node.func.end_lineno or node.lineno


def _names_function(node: ast.Call, call: Call) -> bool:
    """Among several such calls on one line: the one that names the function."""
    named = getattr(call.args[1], "__name__", None) if len(call.args) > 1 else None
    return bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id == named
