"""A thread that beats once a second: it tells the supervisor what only the inside knows, and hears what it asks."""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import time

from laststep.record.steps import Beat
from laststep.recorder import state
from laststep.recorder.guard import guard

PROBE = "heartbeat"
TASKS = "/proc/self/task"
MOST_LOOKS = 50
FORK_WAIT = 0.05
EVERY = 1.0
LEAVE = 1.0  # seconds to wait for a last beat; inside TensorFlow at the interpreter's end it could take all down


class Heartbeat:
    """Beats while the interpreter lets any thread run. What it does costs well under a millisecond."""

    def __init__(self, recorder: state.Recorder) -> None:
        self._recorder = recorder
        self._number = 0
        self._is_paused = False

    def start(self) -> None:
        self._begin()
        atexit.register(self.stop)
        if sys.version_info >= (3, 12):  # it warns of a fork while there is more than one thread
            os.register_at_fork(before=self._pause)

    def _begin(self) -> None:
        self._stop = _thread.allocate_lock()  # let go of to end
        self._running = _thread.allocate_lock()
        self._stop.acquire()
        self._running.acquire()
        # Not a threading.Thread: programs count those, and wait for all of them to end.
        _thread.start_new_thread(self._run, (self._stop, self._running))

    def stop(self, wait: float = LEAVE) -> None:
        if state.current is not self._recorder:  # a forked child, which has no such thread
            return
        if self._stop.locked():
            self._stop.release()
        self._running.acquire(timeout=wait)

    def _pause(self) -> None:
        """Before a fork of the program's own. Until the next step there is no beat, and none is missed."""
        if state.current is self._recorder and not self._is_paused:
            guard(PROBE, self._leave_the_program_alone)

    def _leave_the_program_alone(self) -> None:
        if len(os.listdir(TASKS)) != 2:  # with threads of its own it is warned without us, too
            return
        self._is_paused = True
        self._recorder.at_step_end = [*self._recorder.at_step_end, self._resume]
        self.stop(FORK_WAIT)
        if self._recorder.steps is not None:
            self._recorder.steps.beat(Beat(0, 0.0, 0, 0, 0.0, 0.0))
        for _ in range(MOST_LOOKS):  # the thread is gone for the kernel a moment later than for us
            if len(os.listdir(TASKS)) < 2:
                return
            time.sleep(0.0001)

    def _resume(self, number: int, seconds: float, now: float) -> None:
        """Not right after the fork: Python 3.13 counts the threads once more when its hooks have run."""
        self._recorder.at_step_end = [tell for tell in self._recorder.at_step_end if tell != self._resume]
        self._is_paused = False
        guard(PROBE, self._begin)

    def _run(self, stop: _thread.LockType, running: _thread.LockType) -> None:
        try:
            while not stop.acquire(timeout=EVERY):
                if state.current is not self._recorder or sys.is_finalizing():
                    return
                for action in list(self._recorder.at_beat):
                    guard(action.__module__.rpartition(".")[2], action)
                guard(PROBE, self._beat)
        finally:
            running.release()

    def _beat(self) -> None:
        recorder, now = self._recorder, time.time()
        if recorder.steps is None:
            return
        self._number += 1
        since = recorder.waiting_since or recorder.graph_waiting_since
        waiting = now - since if since else 0.0
        recorder.steps.beat(Beat(self._number, now, recorder.count, recorder.pulse, recorder.waited, waiting))
