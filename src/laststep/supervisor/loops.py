"""Whether a line of the program is in the loop around another one, by its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from laststep.record.events.shared import Frame
from laststep.record.place import Place

Loop: TypeAlias = ast.For | ast.While


def in_loop(where: Place, frames: Sequence[Frame]) -> bool:
    """Whether one of these frames is in the loop that encloses the line; False where the source cannot be read."""
    lines = _lines_in(where.file, frames)
    return any(_covers(loop, line, loop.lineno) for loop in _loops_around(where) for line in lines)


def in_body_of_for(where: Place, frames: Sequence[Frame]) -> bool:
    """The same for a `for` alone, and not while it waits for what it goes through."""
    loops = [loop for loop in _loops_around(where) if isinstance(loop, ast.For)]
    lines = _lines_in(where.file, frames)
    return any(_covers(loop, line, loop.body[0].lineno) for loop in loops for line in lines)


def _lines_in(file: str, frames: Sequence[Frame]) -> list[int]:
    return [frame.line for frame in frames if frame.file == file and frame.line]


def _loops_around(where: Place) -> Iterator[Loop]:
    try:
        tree = ast.parse(Path(where.file).read_bytes())
    except (OSError, ValueError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)) and _covers(node, where.line, node.lineno):
            yield node


def _covers(loop: Loop, line: int, first: int) -> bool:
    return first <= line <= (loop.end_lineno or 0)
