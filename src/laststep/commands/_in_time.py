"""What is done after the program's end takes some seconds at most, and any signal ends it at once: the shell waits."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Interrupted(KeyboardInterrupt):
    """A signal came, or the time is up; no `except Exception` on the way stops it."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Interrupted is raised after so many seconds (0: never), or when a signal comes that ends programs."""
    while pending := signal.sigpending() & set(ENDS):  # these came while the program lived: they were for the program
        signal.sigwait(pending)
    wanted = [number for number in ENDS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, _interrupt) for number in (*wanted, signal.SIGALRM)}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, before)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, before)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted(signal.Signals(number).name)
