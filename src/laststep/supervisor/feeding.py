"""Where the input pipeline's Python stands while steps wait for data: a few quick looks, when the wait is large."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace

from laststep.analysis.stacks import ITERATOR, SnapshotView, count_places
from laststep.record.decode import encode
from laststep.record.events.stacks import Snapshot
from laststep.record.events.supervisor import Feeding, SeenLine
from laststep.record.follow import Live
from laststep.record.journal import JournalWriter
from laststep.supervisor.stacks import by_spy

WINDOW = 12  # beats
SHARE, EACH = 0.3, 0.004  # of the time, and seconds in each step, from which on a look is worth its while
LOOKS, APART = 10, 0.15
AGAIN = (60.0, 600.0)  # seconds until the next series of looks
MOST_SERIES = 1 + len(AGAIN)


class FeedingWatcher:
    """Told of each beat; looks at the stacks three times in a run at most."""

    def __init__(self, journal: JournalWriter) -> None:
        self._journal = journal
        self._beats: deque[tuple[float, int, float]] = deque(maxlen=WINDOW)
        self._series = 0
        self._next = 0.0

    def see(self, pid: int, live: Live) -> None:
        if live.beat is None or live.now is None or live.now.phase not in ("step", "between", ""):
            self._beats.clear()
            return
        self._beats.append((live.beat.time, live.beat.step, live.beat.waited))
        waits = self._waits()
        if waits is not None and self._series < MOST_SERIES and time.monotonic() >= self._next:
            self._next = time.monotonic() + (*AGAIN, 0.0)[self._series]
            self._series += 1
            self._journal.write(Feeding.KIND, encode(replace(waits, looks=LOOKS, lines=self._look(pid))))

    def _waits(self) -> Feeding | None:
        (t0, step0, waited0), (t1, step1, waited1) = (*self._beats, (0.0, 0, 0.0), (0.0, 0, 0.0))[0], self._beats[-1]
        steps, seconds, waited = step1 - step0, t1 - t0, waited1 - waited0
        if len(self._beats) < WINDOW or steps <= 0 or waited < SHARE * seconds or waited / steps < EACH:
            return None
        return Feeding(share=round(waited / seconds, 3), each=round(waited / steps, 6), steps=steps)

    def _look(self, pid: int) -> tuple[SeenLine, ...]:
        places = []
        for _ in range(LOOKS):
            view = SnapshotView(Snapshot(threads=by_spy(pid)[0], waiting=1.0, seconds=1.0))
            feeder = view.blocked
            places.append(feeder.place if feeder is not view.main or view.main.runs(ITERATOR) else None)
            time.sleep(APART)
        return count_places(places)
