"""The source of a call: its lines, its arguments, and how its result is used. For remedies that edit exactly that."""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
from types import FrameType
from typing import Any, NamedTuple

from laststep.recorder.frames import parse_source, users_frame

MAX_LINES = 30  # of one call
MAX_ARGUMENTS = 24
MAX_CHARS = 300  # of one line or argument
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)


class Site(NamedTuple):
    """Where a call was made: the file, the line, and the span of the call's source where Python knows it."""

    file: str
    line: int
    span: tuple[int | None, ...]  # first line, last line, first column, last column, in bytes


def site_of(frame: FrameType | None, lasti: int | None = None) -> Site | None:
    """The call that the nearest frame of the user's own is in."""
    frame = users_frame(frame)
    if frame is None:
        return None
    code, at = frame.f_code, frame.f_lasti if lasti is None else lasti
    positions = getattr(code, "co_positions", None)  # since Python 3.11
    span = next(itertools.islice(positions(), at // 2, None), ()) if positions is not None and at >= 0 else ()
    return Site(code.co_filename, frame.f_lineno, tuple(span))


def describe_call(site: Site | None, name: str = "") -> dict[str, Any] | None:
    """The call at a site; where its span is not known, the only call of this name on that line."""
    call = _find_call(site, name) if site is not None else None
    if site is None or call is None:
        return None
    text = _lines(site.file, call.lineno, call.end_lineno or call.lineno)
    if text is None:
        return None
    settings = _settings_call(call)
    described = {
        "file": site.file,
        "line": call.lineno,
        "lines": text,
        "begin": _column(text[0], call.col_offset),
        "end": _column(text[-1], call.end_col_offset or 0),
        "close": _closing(site.file, settings),
        "name": ast.unparse(settings.func)[:MAX_CHARS],
        "arguments": _arguments(site.file, settings),
        "in_loop": _is_in_loop(site.file, call),
    }
    return described | _form(site.file, call) | _use(site.file, call)


def _find_call(site: Site, name: str) -> ast.Call | None:
    calls = [node for node in ast.walk(parse_source(site.file)) if isinstance(node, ast.Call)]
    exact = [c for c in calls if (c.lineno, c.end_lineno, c.col_offset, c.end_col_offset) == site.span]
    if exact:
        return exact[0]
    named = [c for c in calls if c.lineno <= site.line <= (c.end_lineno or 0) and _short_name(c.func) == name]
    return named[0] if len(named) == 1 else None


def _short_name(function: ast.expr) -> str:
    return str(getattr(function, "attr", None) or getattr(function, "id", ""))


def _lines(file: str, first: int, last: int) -> list[str] | None:
    """Their text as it stands there; None where it is too much."""
    lines = [line.rstrip("\r\n") for line in linecache.getlines(file)[first - 1 : last]]
    return lines if lines and len(lines) <= MAX_LINES and max(map(len, lines)) <= MAX_CHARS else None


def _column(line: str, at: int) -> int:
    """In characters; the syntax tree counts bytes."""
    return len(line.encode()[:at].decode("utf-8", "replace"))


def _settings_call(call: ast.Call) -> ast.Call:
    """Of Bidirectional(LSTM(8)) the inner one: that is the layer with the settings."""
    wraps = _short_name(call.func) in ("Bidirectional", "TimeDistributed") and call.args
    return call.args[0] if wraps and isinstance(call.args[0], ast.Call) else call


def _closing(file: str, call: ast.Call) -> list[int]:
    """The line and the column of the closing parenthesis."""
    line = call.end_lineno or call.lineno
    return [line, _column(linecache.getline(file, line), (call.end_col_offset or 1) - 1)]


def _arguments(file: str, call: ast.Call) -> list[dict[str, Any]]:
    given: list[tuple[str, ast.expr]] = [("", value) for value in call.args]
    given += [(word.arg or "**", word.value) for word in call.keywords]
    return [{"name": name} | _span(file, value) for name, value in given[:MAX_ARGUMENTS]]


def _span(file: str, node: ast.expr) -> dict[str, Any]:
    """Text, line and columns; without columns where it takes several lines."""
    text = ast.unparse(node)[:MAX_CHARS]
    if node.lineno != node.end_lineno:
        return {"text": text, "line": node.lineno}
    line = linecache.getline(file, node.lineno)
    ends = {"begin": _column(line, node.col_offset), "end": _column(line, node.end_col_offset or 0)}
    return {"text": text, "line": node.lineno} | ends


def _form(file: str, call: ast.Call) -> dict[str, Any]:
    """added: an argument of model.add; element: of a list; applied: LSTM(8)(x); else assigned, or empty."""
    parent = _parents(file).get(id(call))
    if isinstance(parent, ast.Call) and parent.func is call:
        return {"form": "applied"}
    if isinstance(parent, ast.Call) and _short_name(parent.func) == "add" and parent.args == [call]:
        is_statement = isinstance(_parents(file).get(id(parent)), ast.Expr)
        return {"form": "added", "receiver": ast.unparse(parent.func)[:MAX_CHARS]} if is_statement else {}
    if isinstance(parent, (ast.List, ast.Tuple)):
        return {"form": "element"}
    return {"form": "assigned"} if isinstance(parent, ast.Assign) else {}


def _use(file: str, call: ast.Call) -> dict[str, Any]:
    """The only place where the layer is applied to a tensor, where its name leads there."""
    parent = _parents(file).get(id(call))
    applied = [parent] if isinstance(parent, ast.Call) and parent.func is call else []
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        name = ast.dump(parent.targets[0]).replace("Store()", "Load()")
        calls = [node for node in ast.walk(parse_source(file)) if isinstance(node, ast.Call)]
        applied = [node for node in calls if ast.dump(node.func) == name]
    if len(applied) != 1 or not applied[0].args or applied[0].lineno != applied[0].end_lineno:
        return {}
    node = applied[0]
    given, text = node.args[0], _lines(file, node.lineno, node.lineno)
    if text is None:
        return {}
    parts = (
        [_span(file, part) for part in given.elts[:MAX_ARGUMENTS]] if isinstance(given, (ast.List, ast.Tuple)) else []
    )
    begins = (
        _column(text[0], _statement(file, node).col_offset) if _statement(file, node).lineno == node.lineno else None
    )
    return {
        "use": {"line": node.lineno, "text": text[0], "begins": begins, "argument": _span(file, given), "parts": parts}
    }


def _statement(file: str, node: ast.AST) -> Any:
    while not isinstance(node, ast.stmt):
        node = _parents(file)[id(node)]
    return node


def _is_in_loop(file: str, node: ast.AST) -> bool:
    parent = _parents(file).get(id(node))
    while parent is not None and not isinstance(parent, SCOPES):
        if isinstance(parent, LOOPS):
            return True
        parent = _parents(file).get(id(parent))
    return False


@functools.lru_cache(maxsize=4)
def _parents(file: str) -> dict[int, ast.AST]:
    tree = parse_source(file)
    return {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
