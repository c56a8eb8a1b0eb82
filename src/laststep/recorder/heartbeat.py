"""A thread that runs once a second: it writes the state of the process and reads the supervisor's requests."""

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
TASKS_FOLDER = "/proc/self/task"
MAX_THREAD_CHECKS = 50
FORK_WAIT_SECONDS = 0.05
BEAT_SECONDS = 1.0
# At exit, wait for the last beat: a thread inside TensorFlow while the interpreter ends could crash the process.
EXIT_WAIT_SECONDS = 1.0


class Heartbeat:
    """Beats as long as the interpreter runs any thread. A beat costs well under a millisecond."""

    def __init__(self, recorder: state.Recorder) -> None:
        self._recorder = recorder
        self._number = 0
        self._is_paused = False

    def start(self) -> None:
        self._begin()
        atexit.register(self.stop)
        if sys.version_info >= (3, 12):  # 3.12 and later warn about a fork if there is more than one thread
            os.register_at_fork(before=self._pause)

    def _begin(self) -> None:
        self._stop = _thread.allocate_lock()  # released to end the thread
        self._running = _thread.allocate_lock()
        self._stop.acquire()
        self._running.acquire()
        # Not a threading.Thread: programs count those and wait for all of them.
        _thread.start_new_thread(self._run, (self._stop, self._running))

    def stop(self, timeout: float = EXIT_WAIT_SECONDS) -> None:
        if state.current is not self._recorder:  # a forked child, which has no such thread
            return
        if self._stop.locked():
            self._stop.release()
        self._running.acquire(timeout=timeout)

    def _pause(self) -> None:
        """Before a fork by the program. There are no beats until the next step; the supervisor expects none."""
        if state.current is self._recorder and not self._is_paused:
            guard(PROBE, self._end_thread_before_fork)

    def _end_thread_before_fork(self) -> None:
        if len(os.listdir(TASKS_FOLDER)) != 2:  # if the program has other threads, Python warns anyway
            return
        self._is_paused = True
        self._recorder.at_step_end = [*self._recorder.at_step_end, self._resume]
        self.stop(FORK_WAIT_SECONDS)
        if self._recorder.steps is not None:
            self._recorder.steps.beat(Beat(0, 0.0, 0, 0, 0.0, 0.0))
        for _ in range(MAX_THREAD_CHECKS):  # for the kernel the thread ends slightly later than for us
            if len(os.listdir(TASKS_FOLDER)) < 2:
                return
            time.sleep(0.0001)

    def _resume(self, number: int, seconds: float, now: float) -> None:
        """At the next step, not right after the fork: Python 3.13 counts the threads again after its fork hooks."""
        self._recorder.at_step_end = [listener for listener in self._recorder.at_step_end if listener != self._resume]
        self._is_paused = False
        guard(PROBE, self._begin)

    def _run(self, stop: _thread.LockType, running: _thread.LockType) -> None:
        try:
            while not stop.acquire(timeout=BEAT_SECONDS):
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
        recorder.steps.note_calls(recorder.pipeline_calls)
