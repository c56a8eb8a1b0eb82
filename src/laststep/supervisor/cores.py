"""Competition for the cores: how long the run's threads wait for one, and which other processes use them."""

from __future__ import annotations

import os

from laststep.record.sample import OtherLoad, OtherProcess
from laststep.supervisor import host

MIN_PRESSURE_PERCENT = 50.0  # of the time in which a task waited for a core
MIN_OTHERS_SHARE = 0.3  # of the cores in use by others: above that, the processes are found out
MAX_NAMED_PROCESSES = 4
MIN_NAMED_CORES = 0.05
MAX_PROCESSES = 5000

QueueTimes = dict[int, float]  # by thread: seconds that it was ready to run and had no core, so far


def queue_times(tree: list[int]) -> QueueTimes:
    return {tid: waited for pid in tree for tid, (_, waited) in host.queues(pid).items()}


def seconds_lost(before: QueueTimes | None, after: QueueTimes, seconds: float, ours: set[int]) -> float:
    """For how long the thread of the program that waited longest for a core has waited; `ours`: laststep's threads.

    Where the kernel does not count that: the share of the others if all got the same.
    """
    if not after:
        return seconds * (1.0 - _fair_share())
    if before is None:
        return 0.0
    waited = (waited - before.get(tid, 0.0) for tid, waited in after.items() if tid not in ours)
    return min(seconds, max(waited, default=0.0))


def _fair_share() -> float:
    pressed = host.pressure().get("cpu", 100.0) > MIN_PRESSURE_PERCENT
    load = os.getloadavg()[0] if pressed and hasattr(os, "getloadavg") else 0.0
    return min(1.0, host.cores() / load) if load else 1.0


class OtherLoadMeter:
    """What other processes use of the cores that the run may use; asked now and then."""

    def __init__(self) -> None:
        self._before: tuple[float, float, float] | None = None  # time, CPU seconds of all, of the run
        self._processes: tuple[float, dict[int, float]] = (0.0, {})

    def measure(self, now: float, pid: int, tree: list[int]) -> OtherLoad | None:
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
        top = self._top(now, cpus, {*tree, os.getpid()}) if used > MIN_OTHERS_SHARE * len(cpus) else ()
        return OtherLoad(of=len(cpus), used=round(min(used, len(cpus)), 2), top=top)

    def _top(self, now: float, cpus: set[int], own: set[int]) -> tuple[OtherProcess, ...]:
        """The processes that used most since the last time; none the first time."""
        (then, before), after = self._processes, host.cpu_of_all(cpus, MAX_PROCESSES)
        self._processes = (now, after)
        used = {pid: (after[pid] - before[pid]) / (now - then) for pid in after if pid in before and pid not in own}
        most = sorted(used.items(), key=lambda item: -item[1])[:MAX_NAMED_PROCESSES]
        return tuple(
            OtherProcess(pid=pid, name=host.printable_name(pid), cores=round(cores, 2))
            for pid, cores in most
            if cores >= MIN_NAMED_CORES
        )
