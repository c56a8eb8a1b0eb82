"""Where a run that does not move is stuck, decided once for all the rules about it: the first sign wins."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from laststep import text as words
from laststep.analysis.cores import overload_of
from laststep.analysis.finding import Evidence
from laststep.analysis.stacks import FORMS, Look, Thread
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.torn import tidy

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


def stall_of(run: Run) -> Event | None:
    """The stall that was not over when the run ended, or now."""
    last = _tidied(run.last("stall"))
    if last is None:
        return None
    moves = [event.time for kind in ("moving-again", "epoch", "fit", "fit-end") for event in run.all(kind)[-1:]]
    return None if max([*moves, *(step.time for step in run.steps[-1:])], default=0.0) > last.time else last


def _tidied(event: Event | None) -> Event | None:
    return dataclasses.replace(event, raw=tidy(event.raw, FORMS)) if event is not None else None


def last_look(run: Run) -> tuple[Event, Look] | None:
    """The last look at a run that did not move, where nothing has moved since: at its end, or now."""
    event = _tidied(next((event for event in reversed(run.events) if event.kind in ("look", "stall")), None))
    if event is None:
        return None
    moved = max([step.time for step in run.steps[-1:]] + [again.time for again in run.all("moving-again")], default=0.0)
    ended = run.exit_code == 0 or any(fit.ended for fit in run.fits[-1:])
    return None if moved > event.time or ended else (event, Look(event.raw))


def stuck(run: Run, name: str) -> tuple[Event, Look] | None:
    """The stall, if this rule is the one that explains it."""
    event = stall_of(run)
    if event is None:
        return None
    look = Look(event.raw)
    return (event, look) if cause_of(look, run) == name else None


def cause_of(look: Look, run: Run) -> str:
    if float((look.data.get("pressure") or {}).get("memory") or 0.0) > THRASHING:
        return "memory-thrashing"
    if look.is_starved and overload_of(run) is not None:
        return "machine-overloaded"
    if on_disk(look) is not None:
        return "disk-stalled"
    if deadlock(look):
        return "deadlocked"
    if ranks(run) > 1 and look.main.has("quick_execute") and not look.waits_for_data:
        return "waiting-for-rank"
    if look.main.callback is not None:
        return "callback-blocked"
    if look.waits_for_data:
        return "input-blocked"
    if look.main.place is not None and look.doing in ("user", "save"):
        return "python-blocked"
    return ""


def on_disk(look: Look) -> dict[str, Any] | None:
    """A thread that the kernel holds in its disk: uninterruptible."""
    threads = [*look.data.get("native", []), *look.data.get("threads", [])]
    return next((told for told in threads if told.get("state") == "D"), None) if look.idle else None


def deadlock(look: Look) -> list[tuple[str, Thread]]:
    """The threads that wait for each other, [] when that is not what it looks like."""
    blocked = look.blocked
    child = _stuck_child(look)
    if child is not None and blocked.waits_for in CHILD_WAITS:
        return [("this process", blocked), (f"its child {child[0]}", child[1])]
    waiting = [thread for thread in [blocked, *look.others] if thread.place and thread.waits_for in MUTUAL]
    running = [thread for thread in look.others if thread.place and not thread.waits_for]
    lines = {(thread.place["file"], thread.place["line"]) for thread in waiting if thread.place}
    if blocked in waiting and len(lines) > 1 and not running:
        return [(thread.name or "a thread", thread) for thread in waiting]
    alone = look.doing == "user" and look.main.waits_for in ("lock", "queue.join", "future", "thread", "pool")
    return [("the main thread", look.main)] if alone and not running else []


def _stuck_child(look: Look) -> tuple[int, Thread] | None:
    """A child that does nothing: it waits for a lock that nobody in it holds, or for this process to read."""
    for child in look.data.get("children", []):
        threads = [Thread(told) for told in child.get("threads", [])]
        held = [thread for thread in threads if _holds_up(thread) and _is_at_work(thread)]
        if held and float(child.get("cpu") or 0.0) < 0.2:
            return int(child["pid"]), held[0]
    return None


def _is_at_work(thread: Thread) -> bool:
    """In a line of the user's, after its start: below that a forked child still has the lines of its parent."""
    inside = list(itertools.takewhile(lambda frame: frame.get("function") not in STARTS, thread.frames))
    return bool(inside) and Thread({"frames": inside}).place is not None


def _holds_up(thread: Thread) -> bool:
    """Waits for a lock, or for somebody to read what it writes into a full pipe."""
    return thread.waits_for == "lock" or (thread.call == "write" and thread.on == "pipe")


def ranks(run: Run) -> int:
    """How many processes train together, by TF_CONFIG."""
    setup = run.last("setup")
    return max(1, len(setup.get("workers") or [])) if setup is not None else 1


def since(event: Event, look: Look) -> Evidence:
    """How long nothing moved, against what was normal."""
    normal = event.get("slowest")
    usual = f"; the longest it had taken before was {words.span(float(normal))}" if normal else ""
    phase = {"step": "a training step", "first step": "the first step", "epoch start": "the first step of an epoch"}
    phase |= {"loop": "the training loop", "between": "the program's own code between two trainings"}
    phase |= {"epoch-end": "at the end of an epoch", "save": "the writing of a checkpoint"}
    where = phase.get(look.phase, look.phase)
    if event.get("watched"):
        ran = "; the main thread did not run once" if event.get("still") else ""
        says = f"nothing moved in {where} for as long as laststep looked ({words.span(look.seconds)}){ran}"
        return Evidence(says, (event,))
    at = "" if where.startswith("at ") else "in "
    return Evidence(f"nothing moved for {words.span(look.seconds)} {at}{where}{usual}", (event,))


def standing(event: Event, thread: Thread, who: str) -> Evidence:
    """Where a thread stands and what it waits for."""
    place = thread.place
    at = f" at {words.place(place)}" if place else ""
    return Evidence(f"{who} stands{at}{what_it_does(thread)}", (event,))


def what_it_does(thread: Thread) -> str:
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


def used(event: Event, look: Look) -> Evidence:
    """What was used meanwhile."""
    cores = f"{look.cpu:.1f} cores" if look.cpu >= 0.05 else "no processor time"
    moved = words.size(float(event.get("io") or 0))
    return Evidence(f"meanwhile the program used {cores} and moved {moved}/s", (event,))


def never_stuck(run: Run) -> str:
    if run.has("attach"):
        return "it moved or computed while laststep looked" if stall_of(run) is None else "it stands elsewhere"
    over = run.last("moving-again")
    if over is not None:
        return f"it stood still for {words.span(float(over.get('after') or 0))} once and went on by itself"
    return "it was never stuck" if run.steps else "no training was seen that could be stuck"
