"""Python stacks by faulthandler, into files of the run folder: at a fatal signal and on the supervisor's request."""

from __future__ import annotations

import faulthandler
import os
import signal

from laststep.record.journal import move_to_high_fd
from laststep.record.stack_requests import STACKS, stack_signal
from laststep.recorder import state

PROBE = "faults"
FATAL_SIGNALS = (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)  # as in faulthandler


def install() -> None:
    recorder = state.current
    if recorder is None:
        return
    if stack_signal() and signal.getsignal(stack_signal()) == signal.SIG_DFL:
        faulthandler.register(stack_signal(), file=_open(recorder, STACKS), all_threads=True, chain=False)
    # If the user enabled faulthandler, it writes to stderr, and the console has it. Ignored signals stay ignored.
    if not faulthandler.is_enabled() and all(signal.getsignal(number) == signal.SIG_DFL for number in FATAL_SIGNALS):
        faulthandler.enable(file=_open(recorder, "faults"), all_threads=True)


def _open(recorder: state.Recorder, name: str) -> int:
    path = os.path.join(recorder.folder, name)
    return move_to_high_fd(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
