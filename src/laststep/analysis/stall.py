"""Why a run that makes no progress is stuck, decided once for all rules about it: the first cause that fits counts."""

from __future__ import annotations

import itertools
import math

from laststep.analysis.cores import overload_of
from laststep.analysis.finding import Evidence
from laststep.analysis.hang import hang_of, stall_of, until_the_end
from laststep.analysis.stacks import MAX_IDLE_CORES, SnapshotView, ThreadView
from laststep.record.events.shared import users_line
from laststep.record.events.stacks import Attached, Snapshot, Task
from laststep.record.events.supervisor import MovingAgain
from laststep.record.events.training import Setup
from laststep.record.run import Run, view
from laststep.text import format_duration, format_place, format_short_duration, format_size

MIN_THRASHING_PERCENT = 40.0  # of the time in which tasks waited for memory
MAX_STUCK_CHILD_CORES = 0.2
MIN_COMPUTING_CORES = 0.5
CHILD_WAITS = ("pool", "queue", "pipe", "process", "event", "future", "lock")
PROCESS_STARTS = ("_bootstrap", "worker", "spawn_main")  # functions of multiprocessing
THREAD_WAITS = ("lock", "queue.join", "future", "thread", "pool")  # that only another thread can end
PHASES = {
    **{"step": "in a training step", "first step": "in the first step", "epoch start": "in the first step of an epoch"},
    **{"loop": "in the training loop", "between": "in the program's own code between two fits"},
    **{"epoch-end": "at the end of an epoch", "save": "while a checkpoint is written", "": "before the first step"},
    **{"start": "at the start of fit", "the start of fit": "at the start of fit", "trace": "while a graph is traced"},
}
WAITS = {
    **{"lock": "a lock", "queue": "a queue", "queue.join": "a queue to be emptied", "event": "an event"},
    **{"future": "the result of another thread", "thread": "a thread to end", "pool": "the result of a pool"},
    **{"pipe": "another process", "process": "a child process to end"},
}
SOCKET = "socket "


def last_snapshot(run: Run) -> SnapshotView | None:
    """The last snapshot of a run that made no progress, where it has made none since: at its end, or now."""
    last = next((event for event in reversed(run.events) if isinstance(event, Snapshot)), None)
    if last is None:
        return None
    moved = max([step.time for step in run.steps[-1:]] + [again.time for again in run.all(MovingAgain)], default=0.0)
    ended = run.exit_code == 0 or any(fit.ended for fit in run.fits[-1:])
    return None if moved > last.time or ended else SnapshotView(last)


def stuck(run: Run, name: str) -> SnapshotView | None:
    """What made no progress, where this rule is the one that explains it."""
    hang = hang_of(run)
    if hang is None or cause_of(SnapshotView(hang), run) != name:
        return None
    return SnapshotView(until_the_end(run, hang))


def cause_of(view: SnapshotView, run: Run) -> str:
    if (view.snapshot.pressure.memory or 0.0) > MIN_THRASHING_PERCENT:
        return "memory-thrashing"
    if view.is_starved and overload_of(run) is not None:
        return "machine-overloaded"
    if on_disk(view) is not None:
        return "disk-stalled"
    if deadlock(view):
        return "deadlocked"
    if ranks(run) > 1 and view.main.has("quick_execute") and not view.waits_for_data:
        return "waiting-for-rank"
    if view.main.callback is not None:
        return "callback-blocked"
    if view.waits_for_data:
        return "input-blocked"
    if view.main.place is not None and view.doing in ("user", "save"):
        return "python-blocked"
    return ""


def on_disk(view: SnapshotView) -> Task | None:
    """A thread in uninterruptible sleep: the kernel waits for a disk."""
    tasks = (*view.snapshot.native, *view.snapshot.threads)
    return next((task for task in tasks if task.state == "D"), None) if view.idle else None


def deadlock(view: SnapshotView) -> list[tuple[str, ThreadView]]:
    """The threads that wait for each other, with their names; [] where there is no deadlock."""
    blocked = view.blocked
    child = _stuck_child(view)
    if child is not None and blocked.waits_for in CHILD_WAITS:
        return [("this process", blocked), (f"its child {child[0]}", child[1])]
    waiting = [thread for thread in [blocked, *view.others] if thread.place and thread.waits_for in THREAD_WAITS]
    running = [thread for thread in view.others if thread.place and not thread.waits_for]
    lines = {(thread.place.file, thread.place.line) for thread in waiting if thread.place}
    if blocked in waiting and len(lines) > 1 and not running:
        return [(thread.name or "a thread", thread) for thread in waiting]
    alone = view.doing == "user" and view.main.waits_for in THREAD_WAITS
    return [("the main thread", view.main)] if alone and not running else []


def _stuck_child(view: SnapshotView) -> tuple[int, ThreadView] | None:
    """A child that does nothing: it waits for a lock that no thread in it holds, or for this process to read."""
    for child in view.snapshot.children:
        threads = [ThreadView(thread) for thread in child.threads]
        held = [thread for thread in threads if _holds_up(thread) and _is_at_work(thread)]
        if held and child.cpu < MAX_STUCK_CHILD_CORES:
            return child.pid, held[0]
    return None


def _is_at_work(thread: ThreadView) -> bool:
    """In the user's own code, after its start: below that a forked child still has its parent's frames."""
    inside = itertools.takewhile(lambda frame: frame.function not in PROCESS_STARTS, thread.frames)
    return users_line(inside) is not None


def _holds_up(thread: ThreadView) -> bool:
    """It waits for a lock, or writes into a pipe that is full."""
    return thread.waits_for == "lock" or (thread.call == "write" and thread.on == "pipe")


def ranks(run: Run) -> int:
    """How many processes train together, by TF_CONFIG."""
    setup = run.last(Setup)
    return max(1, len(setup.workers)) if setup is not None else 1


def since(view: SnapshotView) -> Evidence:
    """How long there was no progress, against what was normal."""
    snapshot = view.snapshot
    where = PHASES.get(view.phase, f"in {view.phase}")
    if snapshot.watched:
        ran = "; the main thread did not run at all" if snapshot.still else ""
        says = f"no progress {where} while laststep watched ({format_duration(view.seconds)}){ran}"
        return Evidence(says, (snapshot,))
    usual = f"; the longest before was {format_duration(snapshot.slowest)}" if snapshot.slowest else ""
    return Evidence(f"no progress for {format_duration(view.seconds)} {where}{usual}", (snapshot,))


def position(view: SnapshotView, thread: ThreadView, name: str) -> Evidence:
    """Where a thread is, and what it waits for."""
    at = f"at {format_place(thread.place)}" if thread.place else ""
    parts = [part for part in (at, activity(thread)) if part]
    return Evidence(f"{name} is {', '.join(parts) or 'in library code'}", (view.snapshot,))


def activity(thread: ThreadView) -> str:
    """What a thread is doing, after the word "is"; "" where that is not known."""
    if thread.waits_for:
        return f"waiting for {WAITS[thread.waits_for]}"
    if thread.on.startswith(SOCKET):
        return f"waiting for {thread.on.removeprefix(SOCKET)} over the network"
    if thread.polls:
        return "sleeping shortly again and again"
    if thread.call == "sleep":
        return f"sleeping for another {format_duration(thread.wakes)}" if thread.wakes else "sleeping"
    if thread.on == "pipe":
        return (
            "writing to a full pipe that no process reads"
            if thread.call == "write"
            else "reading from a pipe without data"
        )
    if thread.on:
        return f"opening {thread.on}, which does not return" if thread.call == "open" else f"waiting for {thread.on}"
    return "computing" if thread.cpu > MIN_COMPUTING_CORES else ""


def used(view: SnapshotView) -> Evidence:
    """CPU time and I/O meanwhile."""
    cores = f"{view.cpu:.1f} cores" if view.cpu >= MAX_IDLE_CORES else "no CPU time"
    io = format_size(view.snapshot.io)
    return Evidence(f"meanwhile the program used {cores} and read or wrote {io}/s", (view.snapshot,))


def never_stuck(run: Run) -> str:
    if run.has(Attached):
        if stall_of(run) is None:
            return "it made progress or was computing while laststep watched"
        return "it is stuck for another reason"
    if hang_of(run) is not None:
        return "it was stuck for another reason"
    over = run.last(MovingAgain)
    if over is not None:
        return f"it made no progress for {format_duration(over.after)} once, then went on by itself"
    if not run.steps:
        return "no training was seen that could get stuck"
    longest = longest_step(run)
    return f"it was never stuck: its longest step took {format_short_duration(longest)}" if longest else NEVER_STUCK


NEVER_STUCK = "it was never stuck while laststep watched"


@view
def longest_step(run: Run) -> float:
    """0 where no step was timed."""
    return max((step.duration for step in run.steps if 0 < step.duration < math.inf), default=0.0)
