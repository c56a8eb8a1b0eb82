"""The thread that reads what sentinels measured: often, since that is cheap; what is made of it waits its turn."""

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
from laststep.recorder.numbers.stale_values import look_at_frozen

PROBE = "numerics"
# Seconds between two looks, at the least: often at first, where most is decided, then more rarely.
PACES = ((24, 0.02), (60, 0.25), (600, 1.0), (math.inf, 5.0))
MOST_PAUSE = 30.0
MOST_WAITING_BYTES = 4 << 20
READ_ANYWAY, SOME_TIME = 2.0, 60.0  # seconds
MOST_REMEMBERED = 24
LEAVE = 1.0


class CpuBudget:
    """Processor time that may be spent: so much at once, and over time a share of one core."""

    def __init__(self, at_once: float, share: float) -> None:
        self._left, self._at_once, self._share = at_once, at_once, share
        self._then = time.monotonic()

    def spend(self, seconds: float) -> None:
        now = time.monotonic()
        self._left = min(self._at_once, self._left + self._share * (now - self._then)) - seconds
        self._then = now

    @property
    def pause(self) -> float:
        """Seconds until there is some left."""
        return max(0.0, -self._left / self._share - (time.monotonic() - self._then))


def pace(looks: int, budget: CpuBudget) -> float:
    """Seconds until the next look, after so many."""
    least = next(least for count, least in PACES if looks < count)
    return min(max(least, budget.pause), MOST_PAUSE)


class Reader:
    """All sentinels of the process. Under XLA reading waits for the step to end, so the thread is its own."""

    def __init__(self) -> None:
        self.sites: list[tuple[GradientSite, Sentinel]] = []
        self.lock = _thread.allocate_lock()
        self._stop = _thread.allocate_lock()
        self._waiting: list[tuple[GradientSite, Measurement]] = []
        self._remembered: list[GradientSite] = []
        self._reads = 0  # that found an answer, since the last sentinel came
        self._steps, self._read_anyway = 0, time.monotonic() + READ_ANYWAY
        self._for_reading, self._for_work = CpuBudget(0.006, 0.001), CpuBudget(0.001, 0.001)

    def add(self, site: GradientSite, sentinel: Sentinel) -> None:
        self.sites.append((site, sentinel))
        self._reads = 0
        self.remember(site)

    def remember(self, site: GradientSite) -> None:
        """What takes long to find out of a site's data is done here; also for one of an eager loop."""
        self._remembered = [*self._remembered, site][-MOST_REMEMBERED:]
        if not self._stop.locked():
            self._stop.acquire()
            atexit.register(self._finish)
            _thread.start_new_thread(self._run, ())

    def _run(self) -> None:
        while not self._stop.acquire(timeout=pace(self._reads, self._for_reading)):
            if state.current is None or sys.is_finalizing():
                return
            if not self._has_moved(state.current.count):
                continue
            with self.lock:
                began = time.thread_time()
                guard(PROBE, self.read)
                if self._reads > 1:  # the first one also makes TensorFlow ready for it
                    self._for_reading.spend(time.thread_time() - began)
                if not self._for_work.pause:
                    guard(PROBE, self.work)

    def _has_moved(self, steps: int) -> bool:
        """Whether there was a step since the last time, or else a long while: TensorFlow is not asked in vain."""
        now = time.monotonic()
        if steps == self._steps and now < self._read_anyway:
            return False
        self._steps, self._read_anyway = steps, now + READ_ANYWAY
        return True

    def read(self) -> None:
        """Take what steps have answered, and ask again."""
        found = False
        for entry in list(self.sites):
            site, sentinel = entry
            if site.is_gone:
                self.sites.remove(entry)
                sentinel.leave()
            elif not site.bad:
                found = self._read_one(site, sentinel) or found
        self._reads += found
        look_at_frozen()

    def _read_one(self, site: GradientSite, sentinel: Sentinel) -> bool:
        """A bad step is looked at now: it may be the last one."""
        answers = sentinel.collect()
        self._waiting += [(site, site.look(answer)) for answer in answers]
        too_many = sum(look.bytes for _, look in self._waiting) > MOST_WAITING_BYTES
        if too_many or any(answer.is_bad for answer in answers):
            self.work()
        if answers and not site.bad:
            sentinel.ask()
        return bool(answers)

    def work(self) -> None:
        """On what is waiting, in order."""
        began = time.thread_time()
        waiting, self._waiting = self._waiting, []
        rests = slices.Slices(math.inf, math.inf)
        for site, look in waiting:
            if not site.bad:
                guard(PROBE, site.take, look)
                rests.go_on()
        for site in self._remembered:
            if time.monotonic() > site.made + SOME_TIME:  # it costs as much as many looks; otherwise at the end
                guard(PROBE, site.ask_dependence, False)
        self._for_work.spend(time.thread_time() - began)

    def _finish(self) -> None:
        """At the interpreter's end: the thread rests for good, and what was answered last is read."""
        if state.current is None:  # a forked child: TensorFlow must not be asked there
            return
        slices.stop_pausing()
        if self._stop.locked():
            self._stop.release()
        if self.lock.acquire(timeout=LEAVE):
            guard(PROBE, self.read)
            guard(PROBE, self.read)  # one on a device asks once more before it calls a step bad
            guard(PROBE, self.work)
            for site in reversed(self._remembered):
                if guard(PROBE, site.ask_dependence, True):
                    break  # it takes a while, and the last training is the one that matters
