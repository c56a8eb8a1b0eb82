"""The ranks of a training that run on this machine: which they are, and for which of them the others wait."""

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

MOST = 8
SETTLED = 5  # beats in steps before anybody is compared
LOOKS = 20  # one a second: what is done once, a checkpoint say, is no pace
AT_WORK = 0.5  # cores
AT_MOST_LATE = 0.4  # seconds
REST = (60, 600)  # seconds until the next series of looks; after the last one no more


class _Work(NamedTuple):
    """What a rank was doing at one moment, and at which line where that is known."""

    at_work: bool
    place: Place | None = None


def on_this_machine(workers: Sequence[str]) -> dict[int, int]:
    """Rank → process, by the ports that TF_CONFIG gives them."""
    found: dict[int, int] = {}
    for rank, address in enumerate(workers[: 2 * MOST] if len(workers) > 1 else []):
        port = address.rpartition(":")[2]
        pid = host.listener(int(port)) if port.isdigit() else None
        if pid is not None and len(found) < MOST:
            found[rank] = pid
    return found


class PaceWatcher:
    """Told of each beat; while steps go by it looks at all ranks together, a few times in a run."""

    def __init__(self, journal: JournalWriter, workers: Callable[[], Sequence[str]]) -> None:
        self._journal = journal
        self._workers = workers
        self._beats = 0
        self._rest = [0, *REST]
        self._ranks: dict[int, int] = {}
        self._cpu: dict[int, float] = {}
        self._looks: list[dict[int, _Work]] = []

    def see(self, live: Live) -> None:
        in_step = live.now is None or live.now.phase in ("step", "between", "")
        self._beats = self._beats + 1 if in_step else 0
        if not self._rest or self._beats <= SETTLED + self._rest[0]:
            return
        if not self._ranks and not self._begin():
            self._rest = []
            return
        time.sleep(random.uniform(0.0, AT_MOST_LATE))  # steps may come as regularly as our beats
        self._looks.append({rank: self._at_work(pid) for rank, pid in self._ranks.items()})
        if len(self._looks) > LOOKS:  # the first one only tells where processor times begin
            self._tell()

    def _begin(self) -> bool:
        """Whether there is anybody to compare: two ranks on this machine."""
        self._ranks = on_this_machine(self._workers())
        self._cpu, self._looks = {}, []
        return len(self._ranks) > 1

    def _at_work(self, pid: int) -> _Work:
        """It waits, or cannot be seen, where it is not at work."""
        now = host.cpu_seconds(pid) or 0.0
        used, self._cpu[pid] = now - self._cpu.get(pid, now), now
        view = SnapshotView(Snapshot(threads=by_spy(pid)[0]))
        if not view.main.frames:
            return _Work(False)
        doer = next(iter(view.feeders), None) if view.main.in_tensorflow else view.main
        return _Work(True, doer.place) if doer is not None else _Work(used >= AT_WORK)

    def _tell(self) -> None:
        looks = self._looks[1:]
        ranks = []
        for rank, pid in self._ranks.items():
            work = [look[rank] for look in looks if look[rank].at_work]
            lines = count_places(each.place for each in work)
            ranks.append(RankPace(rank=rank, pid=pid, at_work=len(work), lines=lines))
        self._journal.write(Pace.KIND, encode(Pace(looks=len(looks), ranks=tuple(ranks))))
        self._ranks, self._beats, self._rest = {}, 0, self._rest[1:]
