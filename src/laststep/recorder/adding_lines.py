"""From the name of a container to the line of the user's source that adds to it."""

from __future__ import annotations

import ast
import functools
from typing import Any, NamedTuple

from laststep.recorder.frames import PlaceFields, is_users, parse_source, place

ADDING_METHODS = frozenset({"append", "appendleft", "extend", "add", "insert", "update", "setdefault", "put"})
LOOPS = (ast.For, ast.While, ast.AsyncFor)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Addition(NamedTuple):
    """A line that adds something to the container of this name."""

    name: str
    key: str  # history["loss"].append: loss
    line: int
    in_class: str
    in_loop: bool
    in_function: bool


def adding_line(name: str, file: str) -> PlaceFields | None:
    """The line that adds to the container; preferably in the class that holds it, then in a loop or a hook."""
    owner, attribute, key = _parts(name)
    if not attribute or not is_users(file):
        return None
    found = [addition for addition in _additions(file) if addition.name == attribute and addition.key in ("", key)]
    preferred = [addition for addition in found if not owner or addition.in_class == owner] or found
    best = max(preferred, key=_rank, default=None)
    return place(file, best.line) if best is not None else None


def _rank(addition: Addition) -> tuple[bool, bool, bool]:
    return addition.in_loop or bool(addition.in_class), addition.in_loop, addition.in_function


def _parts(name: str) -> tuple[str, str, str]:
    """Kept.history['loss'] → (Kept, history, loss); losses → ("", losses, "")."""
    bare, _, key = name.partition("[")
    owner, _, attribute = bare.rpartition(".")
    return owner, attribute if attribute.isidentifier() else "", key.partition("]")[0].strip("'\"")


@functools.lru_cache(maxsize=4)
def _additions(file: str) -> list[Addition]:
    found: list[Addition] = []
    _search(parse_source(file), "", False, False, found)
    return found


def _search(node: ast.AST, in_class: str, in_loop: bool, in_function: bool, found: list[Addition]) -> None:
    for child in ast.iter_child_nodes(node):
        for target in _targets_of(child):
            name, key = _name_of(target)
            found.append(Addition(name, key, getattr(child, "lineno", 0), in_class, in_loop, in_function))
        if isinstance(child, ast.ClassDef):
            _search(child, child.name, False, False, found)
        elif isinstance(child, FUNCTIONS):
            _search(child, in_class, False, True, found)
        else:
            _search(child, in_class, in_loop or isinstance(child, LOOPS), in_function, found)


def _targets_of(node: ast.AST) -> list[ast.AST]:
    """The containers to which this statement adds."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDING_METHODS:
        return [node.func.value]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
        return [node.value.func]  # keep(x), where keep is results.append
    if isinstance(node, ast.Assign):
        return [target.value for target in node.targets if isinstance(target, ast.Subscript)]
    if isinstance(node, ast.AugAssign):
        return [node.target]
    return []


def _name_of(node: Any) -> tuple[str, str]:
    """The name below subscripts and calls, and its key: self.history["loss"], cache.setdefault(k, [])."""
    key = ""
    while isinstance(node, (ast.Subscript, ast.Call)):
        if isinstance(node, ast.Subscript):
            constant = node.slice.value if isinstance(node.slice, ast.Constant) else ""
            key, node = constant if isinstance(constant, str) else "", node.value
        else:
            node = getattr(node.func, "value", node.func)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name, key
