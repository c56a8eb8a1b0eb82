"""Take a snapshot: every thread's stack and what it is blocked in, child processes, pressure on the machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from laststep.record.decode import decode
from laststep.record.events.stacks import ChildProcess, Snapshot, Task, ThreadStack
from laststep.record.sample import HostMemory, Pressure
from laststep.supervisor import host
from laststep.supervisor.stacks import Threads, by_spy, package_of, read_stacks
from laststep.supervisor.syscalls import blocked_in

SECONDS_APART = 1.0  # two readings of CPU time and frames
CHILD_SECONDS_APART = 0.1
MAX_SLEEP_DIFFERENCE = 0.3  # seconds by which the end of one sleep may differ between two readings
MIN_BUSY_CORES = 0.05
MAX_TASKS = 256
MAX_CHILDREN = 8
MAX_NATIVE = 16
BLOCKING_CALLS = {"read", "write", "recv", "send", "connect", "open", "lock-file", "sync"}


@dataclass(frozen=True)
class _Second:
    """What the kernel counted over about a second, by thread."""

    woke: Mapping[int, int]  # at its beginning
    due: Mapping[int, float | None]  # when the sleep at its beginning is over, by the monotonic clock
    cores: Mapping[int, float]


def take_snapshot(pid: int, tree: list[int], folder: Path | None, *spy: str) -> Snapshot:
    """It takes about a second. The process keeps running while its stacks are read."""
    threads, because = read_stacks(pid, folder, *spy)
    second = _count_for_a_second(pid, [thread.tid for thread in threads if thread.tid])
    again, _ = by_spy(pid)
    return Snapshot(
        pid=pid,
        state=blocked_in(pid, pid).state,
        threads=tuple(_with_counts(pid, thread, second) for thread in threads),
        no_threads_because=because,
        moves=_moves(threads, again),
        native=_native(pid, threads, second),
        children=tuple(_child(child, package_of(threads), *spy) for child in tree[:MAX_CHILDREN] if child != pid),
        busy_threads=sum(1 for cores in second.cores.values() if cores > MIN_BUSY_CORES),
        pressure=decode(Pressure, host.pressure()),
        memory=decode(HostMemory, host.memory()),
    )


def _count_for_a_second(pid: int, tids: list[int]) -> _Second:
    woke = {tid: _switches(pid, tid) for tid in tids}
    due = {tid: _due(blocked_in(pid, tid)) for tid in tids}
    before, began = _processor_times(pid), time.monotonic()
    time.sleep(SECONDS_APART)
    after, took = _processor_times(pid), time.monotonic() - began
    return _Second(woke, due, {tid: (after[tid] - before[tid]) / took for tid in after if tid in before})


def _with_counts(pid: int, thread: ThreadStack, second: _Second) -> ThreadStack:
    if not thread.tid:
        return thread
    task = _blocked(pid, thread.tid)
    wakes, due, before = task.wakes, _due(task), second.due[thread.tid]
    if due is None or before is None or abs(due - before) > MAX_SLEEP_DIFFERENCE:
        wakes = None  # another sleep than a second ago: a loop of short ones has no end of its own
    woke = _switches(pid, thread.tid) - second.woke[thread.tid]
    return replace(_with_task(thread, task), wakes=wakes, woke=woke, cpu=round(second.cores.get(thread.tid, 0.0), 3))


def _due(task: Task) -> float | None:
    return time.monotonic() + task.wakes if task.wakes is not None else None


def _with_task(thread: ThreadStack, task: Task) -> ThreadStack:
    return replace(thread, state=task.state, call=task.call, on=task.on, wakes=task.wakes)


def _blocked(pid: int, tid: int) -> Task:
    """As blocked_in; a peer that is the process itself is not the network."""
    task = blocked_in(pid, tid)
    port = task.on.rpartition(":")[2]
    if task.on.startswith("socket ") and port.isdigit() and host.listener(int(port)) == pid:
        return replace(task, on="a socket of its own")
    return task


def _switches(pid: int, tid: int) -> int:
    """How often the thread has gone to sleep so far: one that receives data wakes up each time."""
    return int(host.status(pid, "voluntary_ctxt_switches", tid) or 0)


def _processor_times(pid: int) -> dict[int, float]:
    found = {}
    for task in list(Path(f"/proc/{pid}/task").glob("*"))[:MAX_TASKS]:
        try:
            fields = task.joinpath("stat").read_bytes().rpartition(b")")[2].split()
            found[int(task.name)] = (int(fields[11]) + int(fields[12])) / host.TICKS
        except (OSError, IndexError):
            continue
    return found


def _moves(threads: Threads, again: Threads) -> bool | None:
    """Whether the main thread is elsewhere a second later; None where that could not be seen."""
    one, two = (next((thread.frames for thread in of if thread.current), None) for of in (threads, again))
    if one is None or two is None:
        return None
    return [(frame.file, frame.line) for frame in one] != [(frame.file, frame.line) for frame in two]


def _native(pid: int, threads: Threads, second: _Second) -> tuple[Task, ...]:
    """Threads without Python (TensorFlow's own) that are blocked in a file or a socket, or in a disk."""
    python = {thread.tid for thread in threads}
    if None in python:  # faulthandler does not say which threads these are
        return ()
    found = []
    for tid in second.cores:
        task = blocked_in(pid, tid) if tid not in python else Task()
        if task.call in BLOCKING_CALLS or task.state == "D":
            found.append(replace(task, name=host.who(tid)))
    return tuple(found[:MAX_NATIVE])


def _child(pid: int, package: str, *spy: str) -> ChildProcess:
    before = host.cpu_seconds(pid)
    threads, _ = by_spy(pid, *spy, package=package)
    threads = tuple(_with_task(thread, blocked_in(pid, thread.tid)) if thread.tid else thread for thread in threads)
    time.sleep(CHILD_SECONDS_APART)
    after, task = host.cpu_seconds(pid), blocked_in(pid, pid)
    return ChildProcess(
        name=host.who(pid),
        state=task.state,
        call=task.call,
        on=task.on,
        wakes=task.wakes,
        pid=pid,
        cpu=round(((after or 0) - (before or 0)) / CHILD_SECONDS_APART, 2),
        threads=threads,
    )
