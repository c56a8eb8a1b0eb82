"""Exceptions that leave fit, a tf.function, a thread or the program, with the user's own frame."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import FrameType, ModuleType, TracebackType
from typing import Any

from laststep.recorder import state
from laststep.recorder.frames import describe_exception, is_users, users_frame, would_be_caught
from laststep.recorder.guard import guard
from laststep.recorder.imports import when_imported
from laststep.recorder.loading import file_being_loaded
from laststep.recorder.network import describe_network
from laststep.recorder.patch import after, replace
from laststep.recorder.probes.census import PROBE as CENSUS
from laststep.recorder.probes.census import record_exhausted_gpu
from laststep.recorder.source import where_called

PROBE = "exceptions"
# Each library cleans its tracebacks in one function, which is called while the exception propagates: a hook there
# adds no frame of ours to the stack.
FILTERS = (
    "keras.src.utils.traceback_utils",
    "tf_keras.src.utils.traceback_utils",
    "tensorflow.python.util.traceback_utils",
)
MAX_PASSING = 50
MAX_NETWORKS = 20
MAX_MESSAGE_CHARS = 20_000  # searched for the name of a layer
_passed = 0
_networks = 0
_last_seen = 0  # the id of the error whose network was recorded
_last_recorded: tuple[int, str] = (0, "")


def install() -> None:
    _chain_excepthook()
    _chain_thread_excepthook()
    for name in FILTERS:
        when_imported(PROBE, name, _watch_filter)


def _chain_excepthook() -> None:
    previous = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        guard(PROBE, _record_network, error, traceback, None)
        guard(PROBE, record, error, traceback, "program")
        previous(kind, error, traceback)

    replace(PROBE, sys, "excepthook", excepthook)


def _chain_thread_excepthook() -> None:
    previous = threading.excepthook

    def excepthook(args: Any) -> None:
        name = args.thread.name if args.thread is not None else ""
        guard(PROBE, record, args.exc_value, args.exc_traceback, "thread", thread=name)
        previous(args)

    replace(PROBE, threading, "excepthook", excepthook)


def _watch_filter(module: ModuleType) -> None:
    after(PROBE, module, "_process_traceback_frames", _on_filter)


def _on_filter(result: Any, traceback: TracebackType | None) -> None:
    """An exception leaves a function of Keras or TensorFlow; recorded once it leaves `fit` or reaches user code."""
    global _passed
    error = sys.exc_info()[1]
    # our hook · the guard · the wrapper · the library's error_handler
    handler = sys._getframe(3)
    function = getattr(handler.f_locals.get("fn"), "__name__", "")
    if error is None or state.current is None:
        return
    recorder = state.current
    outside = handler.f_back
    guard(PROBE, _record_network, error, traceback, outside)
    left_from = "fit" if function in ("fit", "evaluate", "predict", "train_on_batch") else "call"
    if left_from == "call":
        _passed += 1
        if recorder.open_fits or _passed > MAX_PASSING:
            return  # inside fit it is recorded with more context later; and a loop may catch a million of them
    record(error, traceback, left_from, function=function, caught=would_be_caught(error, outside), outside=outside)


def _record_network(error: BaseException, traceback: TracebackType | None, outside: FrameType | None) -> None:
    """The layers around it, at the innermost of these functions: each of them removes frames from the traceback."""
    global _networks, _last_seen
    if state.current is None or _networks >= MAX_NETWORKS or _last_seen == id(error):
        return
    _last_seen = id(error)
    callers = list(_callers(outside))[::-1]
    described = describe_network(str(error)[:MAX_MESSAGE_CHARS], [*callers, *_frames(traceback, None)])
    if described is not None:
        _networks += 1
        state.current.event("network", error=type(error).__name__, **described)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def record(
    error: BaseException | None,
    traceback: TracebackType | None,
    left_from: str,
    outside: FrameType | None = None,
    **more: Any,
) -> None:
    global _last_recorded
    recorder = state.current
    if error is None or recorder is None:
        return
    described = describe_exception(error, traceback)
    if _last_recorded[0] != id(error):
        guard(CENSUS, record_exhausted_gpu, error, _frames(traceback, outside))
    is_same = _last_recorded == (id(error), described["type"])
    if is_same and left_from == "call":
        return
    _last_recorded = (id(error), described["type"])
    loaded = file_being_loaded(traceback)
    if loaded:
        described["loading"] = loaded
    fit = recorder.open_fits[-1] if recorder.open_fits else None
    if fit is not None:
        described.update(fit=fit.id, epoch=fit.epoch, batch=fit.batch)
        if left_from == "fit" and more.get("function") == "fit":
            recorder.close_fit(fit)
    callback = described.get("callback")
    if callback and not callback.get("users"):
        callback["made_at"] = where_called(users_frame(outside) or _users_frame_in(traceback), callback["class"])
    recorder.event("exception", left=left_from, steps=recorder.count, **more, **described)


def _frames(traceback: TracebackType | None, outside: FrameType | None) -> Iterator[FrameType]:
    """The frames of this thread, innermost last: the callers, then those the error passed."""
    while outside is not None:
        yield outside
        outside = outside.f_back
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _users_frame_in(traceback: TracebackType | None) -> FrameType | None:
    while traceback is not None and not is_users(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    return traceback.tb_frame if traceback is not None else None
