"""A line of the program with one name in it replaced: the change that a remedy shows."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

MAX_LINE_CHARS = 500
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Splice:
    """These characters of a line, and what stands there instead."""

    begin: int
    end: int
    text: str


def with_arguments(line: str, names: Mapping[str, str | None]) -> str | None:
    """The line with keyword arguments renamed, or without those that have no other name."""
    edits = []
    for call in _nodes(line, ast.Call):
        for keyword in call.keywords:
            if keyword.arg is not None and keyword.arg in names:
                new = names[keyword.arg]
                edits.append(_removal(line, call, keyword) if new is None else _renamed(line, keyword, new))
    return _apply(line, edits)


def with_attribute(line: str, name: str, template: str, objects: Collection[str] = ()) -> str | None:
    """The line with `object.name` replaced. {object}: what stands before it; {arguments}: what it is called with.

    A template with arguments replaces the whole call. `objects`: replaced only where one of these stands before it.
    """
    takes_call = "{arguments}" in template
    calls = {id(call.func): call for call in _nodes(line, ast.Call)}
    edits = []
    for node in _nodes(line, ast.Attribute):
        call = calls.get(id(node))
        owner = _text(line, node.value)
        if node.attr != name or (takes_call and call is None) or (objects and owner not in objects):
            continue
        whole: ast.expr = call if takes_call and call is not None else node
        parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords] if call is not None else []
        given = [_text(line, each) for each in parts]
        edits.append(Splice(*_span(line, whole), template.format(object=owner, arguments=", ".join(given))))
    return _apply(line, edits)


def with_module(line: str, old: str, new: str) -> str | None:
    """The line with the name of a module, or what is imported from it, replaced."""
    changed = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, line)
    return _without_comment(changed) if changed != line and _tree(changed) is not None else None


def argument_of(line: str, method: str, name: str, position: int) -> str | None:
    """What stands in the line for an argument of a call of `object.method`; also of a call that goes on in the next."""
    for text in (line, f"{_without_comment(line).rstrip().rstrip(',')})"):
        for call in _nodes(text, ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr == method:
                named: dict[str | None, ast.expr] = {word.arg: word.value for word in call.keywords}
                value = named.get(name) or (call.args[position] if len(call.args) > position else None)
                return _text(text, value) if value is not None else None
    return None


def subtracted(line: str) -> tuple[str, str] | None:
    """The names of the first `a - b` in the line."""
    for node in _nodes(line, ast.BinOp):
        if isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Name) and isinstance(node.right, ast.Name):
            return node.left.id, node.right.id
    return None


def assigned_name(line: str) -> str | None:
    """`x` of `x = …`; None of any other line, several names too."""
    found = re.match(r"([A-Za-z_]\w*)\s*(?::[^=]+)?=[^=]", line.strip())
    return found[1] if found else None


@functools.lru_cache(maxsize=64)
def _tree(line: str) -> ast.AST | None:
    """A single line, also one that begins a block or returns; None where it goes on in the next."""
    if len(line) > MAX_LINE_CHARS:
        return None
    text = _without_comment(line)
    for end in ("", " pass"):
        try:
            return ast.parse(text + end)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return None


def _without_comment(line: str) -> str:
    return re.sub(r"""\s+#[^'"]*$""", "", line)


def with_gradients_applied_to(line: str, variables: str) -> str | None:
    """The line that applies gradients, with these variables; None where it is written in another way."""
    given = line.partition("#")[0]
    applied = re.search(r"apply_gradients\(zip\((\w+), *([\w.]+)\)\)", given)
    return given.replace(applied[2], variables).strip() if applied else None


def _nodes(line: str, kind: type[Node]) -> Iterator[Node]:
    tree = _tree(line)
    return (node for node in ast.walk(tree) if isinstance(node, kind)) if tree is not None else iter(())


def _span(line: str, node: ast.expr | ast.keyword) -> tuple[int, int]:
    """In characters: the parser counts bytes."""
    content = line.encode()
    begin, end = node.col_offset, node.end_col_offset or node.col_offset
    return len(content[:begin].decode()), len(content[:end].decode())


def _text(line: str, node: ast.expr | ast.keyword) -> str:
    begin, end = _span(line, node)
    return line[begin:end]


def _renamed(line: str, keyword: ast.keyword, new: str) -> Splice:
    begin, _ = _span(line, keyword)
    return Splice(begin, begin + len(keyword.arg or ""), new)


def _removal(line: str, call: ast.Call, keyword: ast.keyword) -> Splice:
    """The argument and the comma before it, or behind the first one."""
    begin, end = _span(line, keyword)
    before = re.search(r",\s*$", line[:begin])
    after = re.match(r"\s*,\s*", line[end:])
    if before:
        return Splice(before.start(), end, "")
    return Splice(begin, end + (after.end() if after else 0), "")


def _apply(line: str, edits: list[Splice]) -> str | None:
    changed, free = line, len(line)
    for edit in sorted(edits, key=lambda each: -each.end):
        if edit.end <= free:  # one inside another is left out
            changed, free = changed[: edit.begin] + edit.text + changed[edit.end :], edit.begin
    return _without_comment(changed) if edits and changed != line else None
