"""Every trace of a tf.function: how long it took, whose it is, and which argument made it necessary."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from types import ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.frames import is_users, users_place
from laststep.recorder.guard import attempt, guard
from laststep.recorder.imports import when_imported
from laststep.recorder.numbers.exports import before_trace
from laststep.recorder.patch import forget_frame, replace

PROBE = "traces"
MODULE = "tensorflow.python.eager.polymorphic_function.tracing_compilation"
DOOR = "_create_concrete_function"
TRACE = state.PHASE["trace"]
MOST_CHANGES = 3
HERE = os.path.dirname(os.path.abspath(__file__))
OURS = frozenset(
    os.path.join(folder, name)
    for folder in (HERE, os.path.dirname(HERE))
    for name in os.listdir(folder)
    if name.endswith(".py")
)

_depth = 0
_counts: dict[Any, int] = {}  # by code: a function made anew in each turn of a loop has the same


def install() -> None:
    when_imported(PROBE, MODULE, _watch)


def _watch(module: ModuleType) -> None:
    original = getattr(module, DOOR)

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = guard(PROBE, _begin, args)
        try:
            with guard(PROBE, _hidden) or contextlib.nullcontext():
                result = original(*args, **kwargs)
        except BaseException as error:
            forget_frame(error)
            raise
        finally:
            guard(PROBE, _leave, begun)
        guard(PROBE, _note_graph, result)
        guard(PROBE, _tell, begun, sys._getframe(1))
        return result

    replace(PROBE, module, DOOR, wrapper)


def _hidden() -> Any:
    """TensorFlow notes for each op the lines that made it, and shows them in errors: ours are left out."""
    stack = sys.modules["tensorflow.python.util.tf_stack"]

    class Hidden(stack.StackTraceFilter):  # type: ignore[name-defined,misc]
        def get_filtered_filenames(self) -> frozenset[str]:
            return OURS | (self.parent.get_filtered_filenames() if self.parent is not None else frozenset())

    return Hidden()


class _OpenTrace:
    """One trace going on; it holds nothing of the host."""

    def __init__(self, code: Any, changed: list[list[str]]) -> None:
        self.began = time.time()
        self.code = code
        self.changed = changed
        self.outermost = _depth == 0
        self.phase = state.current.phase if state.current is not None else 0


def _begin(args: tuple[Any, ...]) -> _OpenTrace | None:
    global _depth
    if state.current is None:
        return None
    function_type, _, _, options = args[:4]
    changed, _ = attempt(_what_changed, function_type, options.function_cache)
    trace = _OpenTrace(getattr(_innermost(options.python_function), "__code__", None), changed or [])
    attempt(before_trace, options.attributes)
    _depth += 1
    if trace.outermost:
        state.current.mark(TRACE, trace.began)
    return trace


def _innermost(function: Any) -> Any:
    """The user's own, under what TensorFlow has wrapped around it: two functions, with autograph."""
    for _ in range(8):
        function = getattr(function, "__wrapped__", None) or function
    return function


def _leave(trace: _OpenTrace | None) -> None:
    global _depth
    if trace is None:
        return
    _depth -= 1
    if trace.outermost and state.current is not None:
        state.current.mark(trace.phase, time.time())


def _note_graph(function: Any) -> None:
    """How many are alive is known without a search through all objects of the program."""
    if state.current is not None:
        state.current.graphs.add(function.graph)


def _tell(trace: _OpenTrace | None, frame: Any) -> None:
    recorder = state.current
    if trace is None or recorder is None or not trace.outermost or trace.code is None:
        return
    number = _counts[trace.code] = _counts.get(trace.code, 0) + 1
    filename = trace.code.co_filename
    recorder.event(
        "trace",
        name=trace.code.co_name,
        function={"file": filename, "line": trace.code.co_firstlineno} if is_users(filename) else None,
        number=number,
        seconds=round(time.time() - trace.began, 4),
        where=users_place(frame),
        changed=trace.changed,
        step=recorder.count,
        graphs=len(recorder.graphs),
    )


def _what_changed(function_type: Any, cache: Any) -> list[list[str]]:
    """[argument, before, now] against the most similar call that was traced before."""
    earlier = [kind for table in cache._dispatch_dict.values() for kind in list(table._dispatch_table)[-20:]]
    described = [_differences(before, function_type) for before in earlier]
    return min(described, key=len, default=[])[:MOST_CHANGES]


def _differences(before: Any, now: Any) -> list[list[str]]:
    old, new = before.parameters, now.parameters
    found = []
    for name in [*new, *(name for name in old if name not in new)]:
        pair = [str(getattr(of.get(name), "type_constraint", "not given"))[:120] for of in (old, new)]
        if pair[0] != pair[1]:
            found.append([name, *pair])
    return found
