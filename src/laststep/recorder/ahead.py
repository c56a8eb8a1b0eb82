"""Whether the program may train again after a fit, by its source: a loop around it, or a call that was not made yet."""

from __future__ import annotations

import ast
import functools
import os

from laststep.recorder.frames import PlaceFields, parse_source

MAX_STACK = 8  # places that are given: there may be more
TRAINING_CALLS = ("fit", "fit_generator", "train_on_batch")
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_made: set[tuple[str, int]] = set()  # the calls that led to a fit so far: file and first line


def more_follows(stack: list[PlaceFields]) -> bool | None:
    """`stack`: the user's lines that lead to a fit. None where a source cannot be read."""
    answers = [_goes_on(place["file"], place["line"]) for place in stack]
    if True in answers:
        return True
    return None if None in answers or not 0 < len(stack) < MAX_STACK else False


def _goes_on(filename: str, line: int) -> bool | None:
    if not os.path.isfile(filename):
        return None  # a notebook's cell: others may follow
    here = [node for node in _nodes(filename) if node.lineno <= line <= (node.end_lineno or 0)]
    calls = [node for node in here if isinstance(node, ast.Call)]
    _made.update((filename, call.lineno) for call in calls)
    names = {*TRAINING_CALLS, *(_name(call) for call in calls)}
    return len(calls) < len(here) or any((filename, at) not in _made for at in _lines_that_call(filename, names))


def _lines_that_call(filename: str, names: set[str]) -> list[int]:
    return [node.lineno for node in _nodes(filename) if isinstance(node, ast.Call) and _name(node) in names]


@functools.lru_cache(maxsize=8)
def _nodes(filename: str) -> list[ast.expr | ast.stmt]:
    """All calls and loops."""
    return [node for node in ast.walk(parse_source(filename)) if isinstance(node, (ast.Call, *LOOPS))]


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", None))
