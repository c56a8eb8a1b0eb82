"""Long work on a thread of ours, cut into slices: after each the interpreter lock is given away for a while."""

from __future__ import annotations

import time

WORK, REST = 0.002, 0.004  # seconds: the program waits for the lock no longer than it takes a slice to end
_rests = True


def rest_no_more() -> None:
    """At the interpreter's end nobody waits for the lock, but for the work to be done."""
    global _rests
    _rests = False


class Slices:
    """Ask it often. It sleeps when a slice is over, and says when all that may be spent is spent."""

    def __init__(self, most: float, longest: float) -> None:
        self._deadline = time.monotonic() + longest  # on a busy machine a little work may take long
        self._left = most  # seconds of work, without the sleeps
        self._began = time.perf_counter()

    def go_on(self) -> bool:
        """Whether there is time left; gives the lock away first where the slice is over."""
        worked = time.perf_counter() - self._began
        if worked < WORK:
            return True
        self._left -= worked
        if self._left <= 0.0 or time.monotonic() > self._deadline:
            return False
        if _rests:
            time.sleep(REST)
        self._began = time.perf_counter()
        return True
