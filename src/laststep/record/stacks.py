"""Python's stacks as faulthandler writes them: the file, the signal that asks for them, how they are read."""

from __future__ import annotations

import re
import signal
from typing import Any

from laststep.recorder.frames import is_users, place

STACKS = "stacks"
MOST_THREADS = 64
_FRAME = re.compile(r'  File "(.+)", line (\d+|\?\?\?) in (.+)')


def stack_signal() -> int:
    """A real-time signal, which nobody's scheduler uses as it may SIGUSR1 and 2; 0 where there are none (macOS)."""
    first = getattr(signal, "SIGRTMIN", None)
    return int(first) + 8 if first is not None else 0


def parse_threads(text: str) -> list[dict[str, Any]]:
    """The stack of each thread, innermost frame first."""
    threads: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.startswith(("Thread 0x", "Current thread 0x")):
            threads.append({"current": line.startswith("Current"), "frames": []})
        frame = _FRAME.match(line)
        if frame and threads:
            threads[-1]["frames"].append(describe_frame(frame[1], frame[2], frame[3]))
    return threads[:MOST_THREADS]


def describe_frame(file: str, line: str, function: str) -> dict[str, Any]:
    if not line.isdigit() or not is_users(file):
        return {"file": file, "line": int(line) if line.isdigit() else None, "function": function}
    return place(file, int(line), function)
