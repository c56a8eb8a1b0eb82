"""The thread that reads what sentinels measured: reading is cheap and frequent, evaluating is postponed."""

from __future__ import annotations

import _thread
import atexit
import math
import sys
import time

from laststep.recorder import slices, state
from laststep.recorder.guard import guard
from laststep.recorder.numbers.gradient_site import GradientSite, Measurement
from laststep.recorder.numbers.sentinel import Sentinel
from laststep.recorder.numbers.silent import silent
from laststep.recorder.numbers.stale_values import check_stale_values

PROBE = "numerics"
# (up to this many reads, minimum pause in seconds): often at first, when most problems appear, then less often.
READ_PAUSES = ((24, 0.02), (60, 0.25), (600, 1.0), (math.inf, 5.0))
MAX_PAUSE_SECONDS = 30.0
MAX_WAITING_BYTES = 4 << 20
IDLE_READ_SECONDS, DEPENDENCE_AFTER_SECONDS = 2.0, 60.0  # seconds
MAX_REMEMBERED_SITES = 24  # for the dependence test
EXIT_WAIT_SECONDS = 1.0  # wait for the thread when the interpreter ends


class CpuBudget:
    """CPU time that may be spent: an amount at once, and over time a share of one core."""

    def __init__(self, at_once: float, share: float) -> None:
        self._left, self._at_once, self._share = at_once, at_once, share
        self._then = time.monotonic()

    def spend(self, seconds: float) -> None:
        now = time.monotonic()
        self._left = min(self._at_once, self._left + self._share * (now - self._then)) - seconds
        self._then = now

    @property
    def pause(self) -> float:
        """Seconds until there is time left."""
        return max(0.0, -self._left / self._share - (time.monotonic() - self._then))


def pause_before_next_read(reads: int, budget: CpuBudget) -> float:
    """Seconds until the next read, after this many reads."""
    min_pause = next(min_pause for count, min_pause in READ_PAUSES if reads < count)
    return min(max(min_pause, budget.pause), MAX_PAUSE_SECONDS)


class Reader:
    """All sentinels of the process. A thread of its own, because under XLA a read waits for the end of the step."""

    def __init__(self) -> None:
        self.sites: list[tuple[GradientSite, Sentinel]] = []
        self.lock = _thread.allocate_lock()
        self._stop = _thread.allocate_lock()
        self._waiting: list[tuple[GradientSite, Measurement]] = []
        self._remembered: list[GradientSite] = []
        self._reads = 0  # with an answer, since the last sentinel was added
        self._steps, self._next_idle_read = 0, time.monotonic() + IDLE_READ_SECONDS
        self._for_reading, self._for_work = CpuBudget(0.006, 0.001), CpuBudget(0.001, 0.001)

    def add(self, site: GradientSite, sentinel: Sentinel) -> None:
        self.sites.append((site, sentinel))
        self._reads = 0
        self.remember(site)

    def remember(self, site: GradientSite) -> None:
        """Slow tests on a site's data are done here, also for a site of an eager loop."""
        self._remembered = [*self._remembered, site][-MAX_REMEMBERED_SITES:]
        if not self._stop.locked():
            self._stop.acquire()
            atexit.register(self._finish)
            _thread.start_new_thread(self._run, ())

    def _run(self) -> None:
        while not self._stop.acquire(timeout=pause_before_next_read(self._reads, self._for_reading)):
            if state.current is None or sys.is_finalizing():
                return
            if not self._has_new_steps(state.current.count):
                continue
            with self.lock:
                began = time.thread_time()
                guard(PROBE, self.read)
                if self._reads > 1:  # the first read also warms up TensorFlow
                    self._for_reading.spend(time.thread_time() - began)
                if not self._for_work.pause:
                    guard(PROBE, self.work)

    def _has_new_steps(self, steps: int) -> bool:
        """Whether there was a step since the last read, or it was long ago: avoids needless calls of TensorFlow."""
        now = time.monotonic()
        if steps == self._steps and now < self._next_idle_read:
            return False
        self._steps, self._next_idle_read = steps, now + IDLE_READ_SECONDS
        return True

    @silent
    def read(self) -> None:
        """Read the answers of steps and request the next ones."""
        has_answer = False
        for entry in list(self.sites):
            site, sentinel = entry
            if site.is_gone:
                self.sites.remove(entry)
                sentinel.detach()
            elif not site.bad:
                has_answer = self._read_one(site, sentinel) or has_answer
        self._reads += has_answer
        check_stale_values()

    def _read_one(self, site: GradientSite, sentinel: Sentinel) -> bool:
        """A bad step is evaluated immediately: it may be the last one."""
        answers = sentinel.collect()
        self._waiting += [(site, site.measure(answer)) for answer in answers]
        too_many = sum(measurement.bytes for _, measurement in self._waiting) > MAX_WAITING_BYTES
        if too_many or any(answer.is_bad for answer in answers):
            self.work()
        if answers and not site.bad:
            sentinel.request()
        return bool(answers)

    @silent
    def work(self) -> None:
        """Evaluate what is waiting, in order."""
        began = time.thread_time()
        waiting, self._waiting = self._waiting, []
        pauses = slices.Slices(math.inf, math.inf)
        for site, measurement in waiting:
            if not site.bad:
                guard(PROBE, site.process, measurement)
                pauses.go_on()
        for site in self._remembered:
            # It costs as much as many reads; sites that are younger are tested at the end.
            if time.monotonic() > site.made + DEPENDENCE_AFTER_SECONDS:
                guard(PROBE, site.test_dependence, False)
        self._for_work.spend(time.thread_time() - began)

    def _finish(self) -> None:
        """When the interpreter ends: stop the thread and read the last answers."""
        if state.current is None:  # a forked child: TensorFlow must not be called there
            return
        slices.stop_pausing()
        if self._stop.locked():
            self._stop.release()
        if self.lock.acquire(timeout=EXIT_WAIT_SECONDS):
            guard(PROBE, self.read)
            guard(PROBE, self.read)  # a sentinel on a device asks once more before it reports a bad step
            guard(PROBE, self.work)
            for site in reversed(self._remembered):
                if guard(PROBE, site.test_dependence, True):
                    break  # it takes a while, and the last training is the relevant one
