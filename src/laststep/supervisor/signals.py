"""Signals that reach the supervisor: all of them are meant for the program."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import NamedTuple

CATCHABLE_SIGNALS = frozenset(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
# Blocked, not handled, in our helper processes: a handler that returns, or writes, would be called forever.
SYNCHRONOUS_SIGNALS = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGPIPE, signal.SIGXFSZ}
)
CHANGED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # every Python ignores these, and its children inherit that
SI_KERNEL = 0x80  # sent by the kernel itself: Ctrl-C in the terminal, a resized window


class SignalInfo(NamedTuple):
    """A signal and its sender; 0 if the system does not report it (macOS)."""

    si_signo: int
    si_code: int = 0
    si_pid: int = 0

    @property
    def is_from_kernel(self) -> bool:
        return self.si_code == SI_KERNEL


def wait_for_signal(wanted: Iterable[int] = CATCHABLE_SIGNALS) -> SignalInfo:
    """The next of these blocked signals.

    Not sigtimedwait: after a stop and a continue, CPython's returns an unfilled siginfo.
    """
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(wanted)
        return SignalInfo(info.si_signo, info.si_code, info.si_pid)
    return SignalInfo(signal.sigwait(wanted))


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def is_pending(pid: int, number: int) -> bool | None:
    """Whether a signal is pending in another process; None if the system does not show it."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            lines = [line for line in status if line.startswith((b"ShdPnd:", b"SigPnd:"))]
    except OSError:
        return None
    return any(int(line.split()[1], 16) >> (number - 1) & 1 for line in lines) if lines else None


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped; False also if unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def stop_by(number: int) -> None:
    """Stop this process as the signal does by default, so that whoever waits for us sees the program's stop."""
    if number != signal.SIGSTOP:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)  # while blocked: merges with the terminal's own signal, which may be pending
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def die_of(number: int) -> None:
    """Die of this signal; returns only if that is impossible (the first process of a container)."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # its core, not ours
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)


def split_status(status: int) -> tuple[int | None, int | None]:
    """(exit code, None) or (None, signal number)."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None
