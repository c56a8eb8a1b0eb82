"""A thread that beats once a second: it tells the supervisor what only the inside knows, and hears what it asks."""

from __future__ import annotations

import _thread
import atexit
import sys
import time

from laststep.blackbox.steps import Beat
from laststep.recorder import state
from laststep.recorder.guard import guard

PROBE = "heartbeat"
EVERY = 1.0
LEAVE = 1.0  # seconds to wait for a last beat; inside TensorFlow at the interpreter's end it could take all down


class Heartbeat:
    """Beats while the interpreter lets any thread run. What it does costs well under a millisecond."""

    def __init__(self, recorder: state.Recorder) -> None:
        self._recorder = recorder
        self._number = 0
        self._stop = _thread.allocate_lock()  # let go of to end
        self._running = _thread.allocate_lock()

    def start(self) -> None:
        # Not a threading.Thread: programs count those, and wait for all of them to end.
        self._stop.acquire()
        self._running.acquire()
        _thread.start_new_thread(self._run, ())
        atexit.register(self.stop)

    def stop(self) -> None:
        if self._stop.locked():
            self._stop.release()
        self._running.acquire(timeout=LEAVE)

    def _run(self) -> None:
        try:
            while not self._stop.acquire(timeout=EVERY):
                if state.current is not self._recorder or sys.is_finalizing():
                    return
                for action in list(self._recorder.at_beat):
                    guard(action.__module__.rpartition(".")[2], action)
                guard(PROBE, self._beat)
        finally:
            self._running.release()

    def _beat(self) -> None:
        recorder, now = self._recorder, time.time()
        if recorder.steps is None:
            return
        self._number += 1
        since = recorder.waiting_since or recorder.graph_waiting_since
        waiting = now - since if since else 0.0
        recorder.steps.beat(Beat(self._number, now, recorder.count, recorder.pulse, recorder.waited, waiting))
