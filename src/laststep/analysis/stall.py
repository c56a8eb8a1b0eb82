"""Where a run that does not move is stuck, decided once for all the rules about it: the first sign wins."""

from __future__ import annotations

import itertools

from laststep import text as words
from laststep.analysis.cores import overload_of
from laststep.analysis.finding import Evidence
from laststep.analysis.stacks import SnapshotView, ThreadView
from laststep.record.event import Event
from laststep.record.events.shared import users_line
from laststep.record.events.stacks import Attached, Snapshot, Stall, Task
from laststep.record.events.supervisor import MovingAgain
from laststep.record.events.training import Epoch, FitEnd, FitStart, Setup
from laststep.record.run import Run

SEEN = ("recorder", "attach")  # who sees that nothing moves: one inside from the start, or one who came later
THRASHING = 40.0  # per cent of the time in which somebody waited for memory
CHILD_WAITS = ("pool", "queue", "pipe", "process", "event", "future", "lock")
STARTS = ("_bootstrap", "worker", "spawn_main")  # of multiprocessing
MUTUAL = (
    "lock",
    "queue.join",
    "future",
    "thread",
    "pool",
)  # what another thread gives; a queue may be filled by anybody
SOCKET = "socket "
DEATHS = ("interrupted", "terminated", "killed-by-signal", "time-limit-reached", "finished-short", "script-exited")


def stall_of(run: Run) -> Stall | None:
    """The stall that was not over when the run ended, or now."""
    last = run.last(Stall)
    if last is None:
        return None
    kinds: tuple[type[Event], ...] = (MovingAgain, Epoch, FitStart, FitEnd)
    moves = [event.time for kind in kinds for event in run.all(kind)[-1:]]
    return None if max([*moves, *(step.time for step in run.steps[-1:])], default=0.0) > last.time else last


def last_snapshot(run: Run) -> SnapshotView | None:
    """The last snapshot of a run that did not move, where nothing has moved since: at its end, or now."""
    last = next((event for event in reversed(run.events) if isinstance(event, Snapshot)), None)
    if last is None:
        return None
    moved = max([step.time for step in run.steps[-1:]] + [again.time for again in run.all(MovingAgain)], default=0.0)
    ended = run.exit_code == 0 or any(fit.ended for fit in run.fits[-1:])
    return None if moved > last.time or ended else SnapshotView(last)


def stuck(run: Run, name: str) -> SnapshotView | None:
    """The stall, if this rule is the one that explains it."""
    stall = stall_of(run)
    if stall is None:
        return None
    view = SnapshotView(stall)
    return view if cause_of(view, run) == name else None


def cause_of(view: SnapshotView, run: Run) -> str:
    if (view.snapshot.pressure.memory or 0.0) > THRASHING:
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
    """A thread that the kernel holds in its disk: uninterruptible."""
    tasks = (*view.snapshot.native, *view.snapshot.threads)
    return next((task for task in tasks if task.state == "D"), None) if view.idle else None


def deadlock(view: SnapshotView) -> list[tuple[str, ThreadView]]:
    """The threads that wait for each other, [] when that is not what it looks like."""
    blocked = view.blocked
    child = _stuck_child(view)
    if child is not None and blocked.waits_for in CHILD_WAITS:
        return [("this process", blocked), (f"its child {child[0]}", child[1])]
    waiting = [thread for thread in [blocked, *view.others] if thread.place and thread.waits_for in MUTUAL]
    running = [thread for thread in view.others if thread.place and not thread.waits_for]
    lines = {(thread.place.file, thread.place.line) for thread in waiting if thread.place}
    if blocked in waiting and len(lines) > 1 and not running:
        return [(thread.name or "a thread", thread) for thread in waiting]
    alone = view.doing == "user" and view.main.waits_for in ("lock", "queue.join", "future", "thread", "pool")
    return [("the main thread", view.main)] if alone and not running else []


def _stuck_child(view: SnapshotView) -> tuple[int, ThreadView] | None:
    """A child that does nothing: it waits for a lock that nobody in it holds, or for this process to read."""
    for child in view.snapshot.children:
        threads = [ThreadView(thread) for thread in child.threads]
        held = [thread for thread in threads if _holds_up(thread) and _is_at_work(thread)]
        if held and child.cpu < 0.2:
            return child.pid, held[0]
    return None


def _is_at_work(thread: ThreadView) -> bool:
    """In a line of the user's, after its start: below that a forked child still has the lines of its parent."""
    inside = itertools.takewhile(lambda frame: frame.function not in STARTS, thread.frames)
    return users_line(inside) is not None


def _holds_up(thread: ThreadView) -> bool:
    """Waits for a lock, or for somebody to read what it writes into a full pipe."""
    return thread.waits_for == "lock" or (thread.call == "write" and thread.on == "pipe")


def ranks(run: Run) -> int:
    """How many processes train together, by TF_CONFIG."""
    setup = run.last(Setup)
    return max(1, len(setup.workers)) if setup is not None else 1


def since(view: SnapshotView) -> Evidence:
    """How long nothing moved, against what was normal."""
    snapshot = view.snapshot
    usual = f"; the longest it had taken before was {words.span(snapshot.slowest)}" if snapshot.slowest else ""
    phase = {"step": "a training step", "first step": "the first step", "epoch start": "the first step of an epoch"}
    phase |= {"loop": "the training loop", "between": "the program's own code between two trainings"}
    phase |= {"epoch-end": "at the end of an epoch", "save": "the writing of a checkpoint"}
    where = phase.get(view.phase, view.phase)
    if snapshot.watched:
        ran = "; the main thread did not run once" if snapshot.still else ""
        says = f"nothing moved in {where} for as long as laststep looked ({words.span(view.seconds)}){ran}"
        return Evidence(says, (snapshot,))
    at = "" if where.startswith("at ") else "in "
    return Evidence(f"nothing moved for {words.span(view.seconds)} {at}{where}{usual}", (snapshot,))


def standing(view: SnapshotView, thread: ThreadView, who: str) -> Evidence:
    """Where a thread stands and what it waits for."""
    at = f" at {words.place(thread.place)}" if thread.place else ""
    return Evidence(f"{who} stands{at}{what_it_does(thread)}", (view.snapshot,))


def what_it_does(thread: ThreadView) -> str:
    kinds = {
        **{"lock": "a lock", "queue": "a queue", "queue.join": "a queue to be emptied", "event": "an event"},
        **{"future": "a result of another thread", "thread": "a thread to end", "pool": "a pool's result"},
        **{"pipe": "another process", "process": "a child process to end"},
    }
    if thread.waits_for:
        return f": it waits for {kinds[thread.waits_for]}"
    if thread.on.startswith(SOCKET):
        return f": it waits for {thread.on.removeprefix(SOCKET)} over the network"
    if thread.call == "sleep":
        return f": it sleeps for another {words.span(thread.wakes)}" if thread.wakes else ": it sleeps"
    if thread.on == "pipe":
        what = "somebody to read what it writes" if thread.call == "write" else "somebody to write"
        return f": it waits for {what}"
    if thread.on:
        return f": it waits for {thread.on}" if thread.call != "open" else f": it opens {thread.on} and gets no answer"
    return ": it computes" if thread.cpu > 0.5 else ""


def used(view: SnapshotView) -> Evidence:
    """What was used meanwhile."""
    cores = f"{view.cpu:.1f} cores" if view.cpu >= 0.05 else "no processor time"
    moved = words.size(view.snapshot.io)
    return Evidence(f"meanwhile the program used {cores} and moved {moved}/s", (view.snapshot,))


def never_stuck(run: Run) -> str:
    if run.has(Attached):
        return "it moved or computed while laststep looked" if stall_of(run) is None else "it stands elsewhere"
    over = run.last(MovingAgain)
    if over is not None:
        return f"it stood still for {words.span(over.after)} once and went on by itself"
    return "it was never stuck" if run.steps else "no training was seen that could be stuck"
