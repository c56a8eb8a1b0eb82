"""A time limit for what laststep does after the program's end, while the shell waits; any signal ends it at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Interrupted(KeyboardInterrupt):
    """A signal arrived, or the time is up. Not an Exception, so that no handler on the way catches it."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise Interrupted after this time (0: never), or when a signal arrives that ends programs."""
    while pending := signal.sigpending() & set(END_SIGNALS):  # sent while the program ran: they were meant for it
        signal.sigwait(pending)
    wanted = [number for number in END_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
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
