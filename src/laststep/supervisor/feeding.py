"""Where the input pipeline's Python is while steps wait for data: a few quick snapshots, when the wait is long."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace

from laststep.analysis.stacks import ITERATOR, SnapshotView, count_places, moving_lines
from laststep.record.decode import encode
from laststep.record.events.shared import SeenLine
from laststep.record.events.stacks import Snapshot
from laststep.record.events.supervisor import Feeding
from laststep.record.follow import Live
from laststep.record.journal import JournalWriter
from laststep.supervisor.stacks import by_spy

WINDOW_BEATS = 12
MIN_WAIT_SHARE = 0.3  # of the time
MIN_WAIT_SECONDS = 0.004  # per step
SNAPSHOTS = 10  # in a series
SECONDS_APART = 0.15
PAUSES = (60.0, 600.0)  # seconds until the next series
MAX_SERIES = 1 + len(PAUSES)


class FeedingWatcher:
    """Is given each heartbeat; takes three series of snapshots in a run at most."""

    def __init__(self, journal: JournalWriter) -> None:
        self._journal = journal
        self._beats: deque[tuple[float, int, float]] = deque(maxlen=WINDOW_BEATS)
        self._series = 0
        self._next = 0.0

    def see(self, pid: int, live: Live) -> None:
        if live.beat is None or live.now is None or live.now.phase not in ("step", "between", ""):
            self._beats.clear()
            return
        self._beats.append((live.beat.time, live.beat.step, live.beat.waited))
        waits = self._waits()
        if waits is not None and self._series < MAX_SERIES and time.monotonic() >= self._next:
            self._next = time.monotonic() + (*PAUSES, 0.0)[self._series]
            self._series += 1
            self._journal.write(Feeding.KIND, encode(replace(waits, snapshots=SNAPSHOTS, lines=self._find_lines(pid))))

    def _waits(self) -> Feeding | None:
        (t0, step0, waited0), (t1, step1, waited1) = (*self._beats, (0.0, 0, 0.0), (0.0, 0, 0.0))[0], self._beats[-1]
        steps, seconds, waited = step1 - step0, t1 - t0, waited1 - waited0
        if (
            len(self._beats) < WINDOW_BEATS
            or steps <= 0
            or waited < MIN_WAIT_SHARE * seconds
            or waited / steps < MIN_WAIT_SECONDS
        ):
            return None
        return Feeding(share=round(waited / seconds, 3), each=round(waited / steps, 6), steps=steps)

    def _find_lines(self, pid: int) -> tuple[SeenLine, ...]:
        places = []
        for _ in range(SNAPSHOTS):
            view = SnapshotView(Snapshot(threads=by_spy(pid)[0], waiting=1.0, seconds=1.0))
            feeder = view.blocked
            places.append(feeder.place if feeder is not view.main or view.main.runs(ITERATOR) else None)
            time.sleep(SECONDS_APART)
        return count_places(places)


def lines_gone_round(pid: int) -> tuple[SeenLine, ...]:
    """The lines between which the pipeline's Python goes round while it hands nothing over."""
    stacks = []
    for _ in range(SNAPSHOTS):
        view = SnapshotView(Snapshot(threads=by_spy(pid)[0], waiting=1.0, seconds=1.0))
        stacks.append(view.blocked.frames if view.blocked is not view.main else ())
        time.sleep(SECONDS_APART)
    return moving_lines(stacks)
