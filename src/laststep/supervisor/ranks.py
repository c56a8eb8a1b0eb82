"""The ranks of a training on this machine: which processes they are, and which one the others wait for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from laststep.analysis.stacks import SnapshotView, count_places
from laststep.record.decode import encode
from laststep.record.events.stacks import Snapshot
from laststep.record.events.supervisor import Pace, RankPace
from laststep.record.follow import Live
from laststep.record.journal import JournalWriter
from laststep.record.place import Place
from laststep.supervisor import host
from laststep.supervisor.stacks import by_spy

MAX_RANKS = 8
SETTLING_BEATS = 5  # in steps, before ranks are compared
SNAPSHOTS = 20  # one per second: what is done only once, such as a checkpoint, does not show
MIN_BUSY_CORES = 0.5
MAX_JITTER_SECONDS = 0.4
PAUSES = (60, 600)  # heartbeats until the next series of snapshots; after the last series there are no more


class _Work(NamedTuple):
    """Whether a rank was busy at one moment, and at which line where that is known."""

    busy: bool
    place: Place | None = None


def on_this_machine(workers: Sequence[str]) -> dict[int, int]:
    """Rank → process, by the ports that TF_CONFIG gives them."""
    found: dict[int, int] = {}
    for rank, address in enumerate(workers[: 2 * MAX_RANKS] if len(workers) > 1 else []):
        port = address.rpartition(":")[2]
        pid = host.listener(int(port)) if port.isdigit() else None
        if pid is not None and len(found) < MAX_RANKS:
            found[rank] = pid
    return found


class PaceWatcher:
    """Is given each heartbeat; while steps run it takes snapshots of all ranks together, a few times in a run."""

    def __init__(self, journal: JournalWriter, workers: Callable[[], Sequence[str]]) -> None:
        self._journal = journal
        self._workers = workers
        self._beats = 0
        self._pauses = [0, *PAUSES]
        self._ranks: dict[int, int] = {}
        self._cpu: dict[int, float] = {}
        self._snapshots: list[dict[int, _Work]] = []

    def see(self, live: Live) -> None:
        in_step = live.now is None or live.now.phase in ("step", "between", "")
        self._beats = self._beats + 1 if in_step else 0
        if not self._pauses or self._beats <= SETTLING_BEATS + self._pauses[0]:
            return
        if not self._ranks and not self._begin():
            self._pauses = []
            return
        time.sleep(random.uniform(0.0, MAX_JITTER_SECONDS))  # steps may be as regular as the heartbeats
        self._snapshots.append({rank: self._work(pid) for rank, pid in self._ranks.items()})
        if len(self._snapshots) > SNAPSHOTS:  # the first one only has the CPU times to start from
            self._write()

    def _begin(self) -> bool:
        """Whether there are ranks to compare: two or more on this machine."""
        self._ranks = on_this_machine(self._workers())
        self._cpu, self._snapshots = {}, []
        return len(self._ranks) > 1

    def _work(self, pid: int) -> _Work:
        """A rank that is not busy waits, or cannot be seen."""
        now = host.cpu_seconds(pid) or 0.0
        used, self._cpu[pid] = now - self._cpu.get(pid, now), now
        view = SnapshotView(Snapshot(threads=by_spy(pid)[0]))
        if not view.main.frames:
            return _Work(False)
        doer = next(iter(view.feeders), None) if view.main.in_tensorflow else view.main
        return _Work(True, doer.place) if doer is not None else _Work(used >= MIN_BUSY_CORES)

    def _write(self) -> None:
        snapshots = self._snapshots[1:]
        ranks = []
        for rank, pid in self._ranks.items():
            work = [snapshot[rank] for snapshot in snapshots if snapshot[rank].busy]
            lines = count_places(each.place for each in work)
            ranks.append(RankPace(rank=rank, pid=pid, at_work=len(work), lines=lines))
        self._journal.write(Pace.KIND, encode(Pace(snapshots=len(snapshots), ranks=tuple(ranks))))
        self._ranks, self._beats, self._pauses = {}, 0, self._pauses[1:]
