"""A thread that beats once a second: it tells the supervisor what only the inside knows, and hears what it asks."""

from __future__ import annotations

import atexit
import sys
import threading
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
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="laststep-beat", daemon=True)

    def start(self) -> None:
        self._thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(LEAVE)

    def _run(self) -> None:
        while not self._stop.wait(EVERY) and state.current is self._recorder and not sys.is_finalizing():
            for action in self._recorder.at_beat:
                guard(PROBE, action)
            guard(PROBE, self._beat)

    def _beat(self) -> None:
        recorder, now = self._recorder, time.time()
        if recorder.steps is None:
            return
        self._number += 1
        since = recorder.waiting_since or recorder.graph_waiting_since
        waiting = now - since if since else 0.0
        recorder.steps.beat(Beat(self._number, now, recorder.count, recorder.pulse, recorder.waited, waiting))
