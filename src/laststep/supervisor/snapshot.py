"""Take a look at a run that does not move: every thread's stack and what it is blocked in, children, pressure."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from laststep.supervisor import host
from laststep.supervisor.stacks import by_spy, read_stacks
from laststep.supervisor.syscalls import blocked_in

APART = 1.0  # seconds between two looks at the processor time and the frames
MOST_TASKS = 256
MOST_CHILDREN = 8
TELLING = {"read", "write", "recv", "send", "connect", "open", "lock-file", "sync"}


def take_look(pid: int, tree: list[int], folder: Path | None, *spy: str) -> dict[str, Any]:
    """About a second long; the process goes on, but for the milliseconds in which its stacks are read."""
    threads, because = read_stacks(pid, folder, *spy)
    tids = [thread["tid"] for thread in threads if thread.get("tid")]
    woke = {tid: _switches(pid, tid) for tid in tids}
    asleep = {tid: blocked_in(pid, tid).get("wakes") for tid in tids}
    before, began = _processor_times(pid), time.monotonic()
    time.sleep(APART)
    after, took = _processor_times(pid), time.monotonic() - began
    used = {tid: (after[tid] - before[tid]) / took for tid in after if tid in before}
    again, _ = by_spy(pid)
    for thread in threads:
        tid = thread.get("tid") or 0
        if tid:
            thread.update(_blocked(pid, tid), woke=_switches(pid, tid) - woke[tid])
        slept = asleep.get(tid)
        if "wakes" in thread and (slept is None or abs(slept - took - thread["wakes"]) > 0.3):
            del thread["wakes"]  # another sleep than a second ago: a loop of short ones has no end of its own
        thread["cpu"] = round(used.get(tid, 0.0), 3)
    return {
        "pid": pid,
        "state": blocked_in(pid, pid).get("state", ""),
        "threads": threads,
        "no_threads_because": because,
        "moves": _moves(threads, again),
        "native": _native(pid, {thread.get("tid") for thread in threads}, used),
        "children": [_child(child, *spy) for child in tree[:MOST_CHILDREN] if child != pid],
        "busy_threads": sum(1 for share in used.values() if share > 0.05),
        "pressure": host.pressure(),
        "memory": host.memory(),
    }


def _blocked(pid: int, tid: int) -> dict[str, Any]:
    """As blocked_in; a peer that is this very process is no network."""
    told = blocked_in(pid, tid)
    port = str(told.get("on", "")).rpartition(":")[2]
    if str(told.get("on", "")).startswith("socket ") and port.isdigit() and host.listener(int(port)) == pid:
        told["on"] = "a socket of its own"
    return told


def _switches(pid: int, tid: int) -> int:
    """How often the thread has gone to sleep by itself so far: one that receives something wakes up each time."""
    return int(host.status(pid, "voluntary_ctxt_switches", tid) or 0)


def _processor_times(pid: int) -> dict[int, float]:
    found = {}
    for task in list(Path(f"/proc/{pid}/task").glob("*"))[:MOST_TASKS]:
        try:
            fields = task.joinpath("stat").read_bytes().rpartition(b")")[2].split()
            found[int(task.name)] = (int(fields[11]) + int(fields[12])) / host.TICKS
        except (OSError, IndexError):
            continue
    return found


def _moves(threads: list[dict[str, Any]], again: list[dict[str, Any]]) -> bool | None:
    """Whether the main thread stands elsewhere a second later; None when that could not be seen."""
    one, two = (next((t["frames"] for t in of if t.get("current")), None) for of in (threads, again))
    if one is None or two is None:
        return None
    return [(f["file"], f["line"]) for f in one] != [(f["file"], f["line"]) for f in two]


def _native(pid: int, python: set[Any], used: dict[int, float]) -> list[dict[str, Any]]:
    """Threads without Python (TensorFlow's own) that are blocked in a file or a socket, or in the disk."""
    found = []
    for tid in used if None not in python else ():  # by signal alone nobody knows which are which
        told = blocked_in(pid, tid) if tid not in python else {}
        if told.get("call") in TELLING or told.get("state") == "D":
            found.append({"name": host.who(tid), **told})
    return found[:16]


def _child(pid: int, *spy: str) -> dict[str, Any]:
    before = host.cpu_seconds(pid)
    threads, _ = by_spy(pid, *spy)
    for thread in threads:
        thread.update(blocked_in(pid, thread["tid"]) if thread.get("tid") else {})
    time.sleep(0.1)
    after = host.cpu_seconds(pid)
    return {
        "pid": pid,
        "name": host.who(pid),
        "cpu": round(((after or 0) - (before or 0)) / 0.1, 2),
        **blocked_in(pid, pid),
        "threads": threads,
    }
