"""Signals that reach the supervisor: all of them are for the program."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import NamedTuple

ALL = frozenset(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
# Blocked, not caught, in our helpers: a handler that returns, or that writes, would be called for ever.
BY_ITSELF = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGPIPE, signal.SIGXFSZ})
CHANGED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # ignored in every Python, and inherited by what it starts
SI_KERNEL = 0x80  # sent by the kernel itself: Ctrl-C in the terminal, a window that changed its size


class ReceivedSignal(NamedTuple):
    """A signal that came, and from whom; where the system does not say (macOS), the sender is 0."""

    si_signo: int
    si_code: int = 0
    si_pid: int = 0

    @property
    def is_kernels(self) -> bool:
        return self.si_code == SI_KERNEL


def wait_for_signal(wanted: Iterable[int] = ALL) -> ReceivedSignal:
    """The next of these blocked signals.

    Not sigtimedwait: after a stop and a continue CPython's returns an unfilled siginfo.
    """
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(wanted)
        return ReceivedSignal(info.si_signo, info.si_code, info.si_pid)
    return ReceivedSignal(signal.sigwait(wanted))


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def is_pending(pid: int, number: int) -> bool | None:
    """Whether a signal waits to be handled by another process; None where the system does not say."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            lines = [line for line in status if line.startswith((b"ShdPnd:", b"SigPnd:"))]
    except OSError:
        return None
    return any(int(line.split()[1], 16) >> (number - 1) & 1 for line in lines) if lines else None


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped; False too when that can't be known."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def stop_by(number: int) -> None:
    """Stop this process as the signal stops one by default: whoever waits for us sees the program's own stop."""
    if number != signal.SIGSTOP:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)  # while it is blocked: one with that of the terminal, which may be waiting already
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def die_of(number: int) -> None:
    """Die of this signal; returns only where that can't be (the first process of a container)."""
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
