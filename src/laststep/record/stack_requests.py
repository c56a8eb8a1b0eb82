"""How the supervisor requests Python's stacks: the signal, and the file to which faulthandler writes them."""

from __future__ import annotations

import signal

STACKS = "stacks"


def stack_signal() -> int:
    """A real-time signal: schedulers use SIGUSR1 and 2, and none uses this one. 0 where there are none (macOS)."""
    first = getattr(signal, "SIGRTMIN", None)
    return int(first) + 8 if first is not None else 0
