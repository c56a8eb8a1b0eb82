"""Every trace of a tf.function: how long it took, whose function it is, and which argument made it necessary."""

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
TRACING_MODULE = "tensorflow.python.eager.polymorphic_function.tracing_compilation"
TRACING_FUNCTION = "_create_concrete_function"
TRACE = state.PHASE["trace"]
MAX_CHANGES = 3
PROBES_FOLDER = os.path.dirname(os.path.abspath(__file__))
OWN_FILES = frozenset(
    os.path.join(folder, name)
    for folder in (PROBES_FOLDER, os.path.dirname(PROBES_FOLDER))
    for name in os.listdir(folder)
    if name.endswith(".py")
)

_depth = 0
_counts: dict[Any, int] = {}  # by code object: a function that a loop creates again in each iteration has the same one


def install() -> None:
    when_imported(PROBE, TRACING_MODULE, _patch_tracing)


def _patch_tracing(module: ModuleType) -> None:
    original = getattr(module, TRACING_FUNCTION)

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        trace = guard(PROBE, _begin, args)
        try:
            with guard(PROBE, _hide_own_frames) or contextlib.nullcontext():
                result = original(*args, **kwargs)
        except BaseException as error:
            forget_frame(error)
            raise
        finally:
            guard(PROBE, _end, trace)
        guard(PROBE, _note_graph, result)
        guard(PROBE, _record_trace, trace, sys._getframe(1))
        return result

    replace(PROBE, module, TRACING_FUNCTION, wrapper)


def _hide_own_frames() -> Any:
    """TensorFlow records the stack that created each operation and shows it in errors: hide our own frames there."""
    stack = sys.modules["tensorflow.python.util.tf_stack"]

    class OwnFramesFilter(stack.StackTraceFilter):  # type: ignore[name-defined,misc]
        def get_filtered_filenames(self) -> frozenset[str]:
            return OWN_FILES | (self.parent.get_filtered_filenames() if self.parent is not None else frozenset())

    return OwnFramesFilter()


class _OpenTrace:
    """A trace in progress; it holds no object of the host."""

    def __init__(self, code: Any, changed: list[list[str]]) -> None:
        self.began = time.time()
        self.code = code
        self.changed = changed
        self.is_outermost = _depth == 0
        self.phase = state.current.phase if state.current is not None else 0


def _begin(args: tuple[Any, ...]) -> _OpenTrace | None:
    global _depth
    if state.current is None:
        return None
    function_type, _, _, options = args[:4]
    changed, _ = attempt(_changed_arguments, function_type, options.function_cache)
    trace = _OpenTrace(getattr(_innermost(options.python_function), "__code__", None), changed or [])
    attempt(before_trace, options.attributes)
    _depth += 1
    if trace.is_outermost:
        state.current.mark(TRACE, trace.began)
    return trace


def _innermost(function: Any) -> Any:
    """The user's function below TensorFlow's wrappers; with AutoGraph there are two."""
    for _ in range(8):
        function = getattr(function, "__wrapped__", None) or function
    return function


def _end(trace: _OpenTrace | None) -> None:
    global _depth
    if trace is None:
        return
    _depth -= 1
    if trace.is_outermost and state.current is not None:
        state.current.mark(trace.phase, time.time())


def _note_graph(function: Any) -> None:
    """Counts live graphs without searching all objects of the program."""
    if state.current is not None:
        state.current.graphs.add(function.graph)


def _record_trace(trace: _OpenTrace | None, frame: Any) -> None:
    recorder = state.current
    if trace is None or recorder is None or not trace.is_outermost or trace.code is None:
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


def _changed_arguments(function_type: Any, cache: Any) -> list[list[str]]:
    """[argument, before, now] compared with the most similar earlier call that was traced."""
    earlier = [kind for table in cache._dispatch_dict.values() for kind in list(table._dispatch_table)[-20:]]
    described = [_differences(before, function_type) for before in earlier]
    return min(described, key=len, default=[])[:MAX_CHANGES]


def _differences(before: Any, now: Any) -> list[list[str]]:
    old, new = before.parameters, now.parameters
    found = []
    for name in [*new, *(name for name in old if name not in new)]:
        pair = [str(getattr(of.get(name), "type_constraint", "not given"))[:120] for of in (old, new)]
        if pair[0] != pair[1]:
            found.append([name, *pair])
    return found
