"""Who gets the cores: how long the run's threads wait for one, and who else uses them."""

from __future__ import annotations

import os

from laststep.record.sample import OtherLoad, OtherProcess
from laststep.supervisor import host

PRESSED = 50.0  # per cent of the time in which somebody waited for a core
SNAPSHOT_FROM = 0.3  # of the cores in use by others: then it is worth a look at who they are
MOST_OTHERS = 4
LEAST = 0.05  # cores
MOST_PROCESSES = 5000

Waits = dict[int, float]  # thread → seconds that it was ready to run and had no core, so far


def waits_of(tree: list[int]) -> Waits:
    return {tid: waited for pid in tree for tid, (_, waited) in host.queues(pid).items()}


def lost(before: Waits | None, after: Waits, seconds: float, ours: set[int]) -> float:
    """The seconds for which that thread of the program waited for a core that waited longest.

    Where the kernel keeps no such count: the part that would fall to the others if all got the same.
    """
    if not after:
        return seconds * (1.0 - _fair_share())
    if before is None:
        return 0.0
    waited = (waited - before.get(tid, 0.0) for tid, waited in after.items() if tid not in ours)
    return min(seconds, max(waited, default=0.0))


def _fair_share() -> float:
    pressed = host.pressure().get("cpu", 100.0) > PRESSED
    load = os.getloadavg()[0] if pressed and hasattr(os, "getloadavg") else 0.0
    return min(1.0, host.cores() / load) if load else 1.0


class Others:
    """What other processes take of the cores that the run may use; told now and then, with the time."""

    def __init__(self) -> None:
        self._before: tuple[float, float, float] | None = None  # when, processor seconds of all, of the run
        self._processes: tuple[float, dict[int, float]] = (0.0, {})

    def see(self, now: float, pid: int, tree: list[int]) -> OtherLoad | None:
        """Since the last time; None where it can't be known."""
        if os.environ.get("LASTSTEP_OTHERS") == "0":
            return None
        cpus = host.allowed_cores(pid)
        busy = host.busy_seconds(cpus)
        own = sum(host.family_seconds(one) for one in {*tree, os.getpid()})
        before, self._before = self._before, (now, busy, own) if busy is not None else None
        if busy is None or before is None or now <= before[0]:
            return None
        used = max(0.0, (busy - before[1]) - max(0.0, own - before[2])) / (now - before[0])
        top = self._top(now, cpus, {*tree, os.getpid()}) if used > SNAPSHOT_FROM * len(cpus) else ()
        return OtherLoad(of=len(cpus), used=round(min(used, len(cpus)), 2), top=top)

    def _top(self, now: float, cpus: set[int], own: set[int]) -> tuple[OtherProcess, ...]:
        """Who: between the last time that it was asked and now; nobody the first time."""
        (then, before), after = self._processes, host.cpu_of_all(cpus, MOST_PROCESSES)
        self._processes = (now, after)
        used = {pid: (after[pid] - before[pid]) / (now - then) for pid in after if pid in before and pid not in own}
        most = sorted(used.items(), key=lambda item: -item[1])[:MOST_OTHERS]
        return tuple(
            OtherProcess(pid=pid, name=host.printable_name(pid), cores=round(cores, 2))
            for pid, cores in most
            if cores >= LEAST
        )
