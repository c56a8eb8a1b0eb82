"""The ranks of a training that run on this machine: which they are, and for which of them the others wait."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from laststep.analysis.stacks import Look, Place, count_places
from laststep.record.follow import Live
from laststep.record.journal import JournalWriter
from laststep.supervisor import host
from laststep.supervisor.stacks import by_spy

MOST = 8
SETTLED = 5  # beats in steps before anybody is compared
LOOKS = 20  # one a second: what is done once, a checkpoint say, is no pace
AT_WORK = 0.5  # cores
AT_MOST_LATE = 0.4  # seconds
REST = (60, 600)  # seconds until the next series of looks; after the last one no more


def on_this_machine(workers: list[str]) -> dict[int, int]:
    """Rank → process, by the ports that TF_CONFIG gives them."""
    found: dict[int, int] = {}
    for rank, address in enumerate(workers[: 2 * MOST] if len(workers) > 1 else []):
        port = address.rpartition(":")[2]
        pid = host.listener(int(port)) if port.isdigit() else None
        if pid is not None and len(found) < MOST:
            found[rank] = pid
    return found


class Pace:
    """Told of each beat; while steps go by it looks at all ranks together, a few times in a run."""

    def __init__(self, journal: JournalWriter, workers: Callable[[], list[str]]) -> None:
        self._journal = journal
        self._workers = workers
        self._beats = 0
        self._rest = [0, *REST]
        self._ranks: dict[int, int] = {}
        self._cpu: dict[int, float] = {}
        self._looks: list[dict[int, Place | None]] = []

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

    def _at_work(self, pid: int) -> Place | None:
        """Where a rank is at work, {} for somewhere inside TensorFlow; None: it waits, or cannot be seen."""
        now = host.cpu_seconds(pid) or 0.0
        used, self._cpu[pid] = now - self._cpu.get(pid, now), now
        look = Look({"threads": by_spy(pid)[0]})
        if not look.main.frames:
            return None
        doer = next(iter(look.feeders), None) if look.main.in_tensorflow else look.main
        if doer is not None:
            return doer.place or {}
        return {} if used >= AT_WORK else None

    def _tell(self) -> None:
        looks = self._looks[1:]
        ranks = []
        for rank, pid in self._ranks.items():
            places = [look[rank] for look in looks if look[rank] is not None]
            ranks.append({"rank": rank, "pid": pid, "at_work": len(places), "lines": count_places(places)})
        self._journal.write("pace", {"looks": len(looks), "ranks": ranks})
        self._ranks, self._beats, self._rest = {}, 0, self._rest[1:]
