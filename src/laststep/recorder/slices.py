"""Long work in a thread of ours, in short slices: after each, the interpreter lock is released for a while."""

from __future__ import annotations

import time

SLICE_SECONDS, PAUSE_SECONDS = 0.002, 0.004  # the program waits for the lock for one slice at most
_pauses = True


def stop_pausing() -> None:
    """When the interpreter ends: no thread waits for the lock any more, and work goes on without pauses."""
    global _pauses
    _pauses = False


class Slices:
    """Call go_on() often: it sleeps at the end of a slice and returns False once the time is used up."""

    def __init__(self, max_work_seconds: float, max_seconds: float) -> None:
        self._deadline = time.monotonic() + max_seconds  # on a busy machine little work may take long
        self._left = max_work_seconds  # of work, without the pauses
        self._began = time.perf_counter()

    def go_on(self) -> bool:
        """Whether there is time left; at the end of a slice it releases the lock first."""
        worked = time.perf_counter() - self._began
        if worked < SLICE_SECONDS:
            return True
        self._left -= worked
        if self._left <= 0.0 or time.monotonic() > self._deadline:
            return False
        if _pauses:
            time.sleep(PAUSE_SECONDS)
        self._began = time.perf_counter()
        return True
