"""Notice that a run is stuck: what is normal is learned per phase, from the run itself."""

from __future__ import annotations

import ast
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laststep.analysis.stacks import LONG_ENOUGH, Look, Thread, kind_of_wait
from laststep.record.claim import claimant
from laststep.record.event import Event
from laststep.record.follow import Follower, Live
from laststep.record.journal import JournalWriter, read_recorders
from laststep.recorder.guard import attempt
from laststep.supervisor import cores, host
from laststep.supervisor.feeding import Feeding
from laststep.supervisor.ranks import Pace, on_this_machine
from laststep.supervisor.snapshot import take_look
from laststep.supervisor.stacks import by_spy

EVERY = 1.0
# Noticed within 10 s, or 5 times the slowest normal: a beat, a poll and the look itself take up to 2 s of that.
FLOOR, TIMES = 8.0, 4.0
BUSY_FLOOR = 60.0  # who computes may well be getting somewhere
FROZEN, FROZEN_FLOOR = 5.0, 15.0  # one call into C that lets no other thread run, not even our beat
LONG_SLEEP = 120.0  # who sleeps for longer is taken to be stuck
QUIET = 0.02  # cores: a process in which no Python runs
KERAS = ("fit", "evaluate", "predict", "train_on_batch", "fit_generator")  # on the stack while its phases last
# Phases of many moves, of which one or two tell what is normal; the others are known when they are over.
FEW_STEPS = 5  # in a phase, after which one knows what a step takes
REPEATED = ("step", "loop", "validation", "evaluate", "predict")
LOOKS = (20.0, 30.0, 60.0, 120.0)
LOOK_EVERY = 300.0
SETTLED = 2.0  # seconds without a move after which it is noted how long threads wait for a core
WINDOW = 6  # polls over which use is measured
GRACE = 10.0  # seconds between SIGTERM and SIGKILL


class Stalls:
    """A daemon thread beside the watcher: it polls a few bytes a second and looks closer only when nothing moves."""

    def __init__(
        self,
        pid: int,
        folder: Path,
        journal: JournalWriter,
        tree: Callable[[], list[int]],
        cards: Callable[[], list[dict[str, Any]]],
        tell: Callable[[], None],
        action: str = "warn",
        after: float = 0.0,
    ) -> None:
        self._pid = pid
        self._folder = folder
        self._journal = journal
        self._tree = tree
        self._cards = cards
        self._tell = tell
        self._action = action
        self._after = after
        self._follower = Follower(folder)
        self._feeding = Feeding(journal)
        self._pace = Pace(journal, self._workers)
        self._use: deque[tuple[float, dict[int, tuple[float, float]]]] = deque(maxlen=WINDOW)
        self._slowest: dict[str, float] = {}
        self._token: Any = None
        self._key = ""
        self._moved = self._polled = time.monotonic()
        self._looked = 0.0  # how long the last look took
        self._longest = 0.0  # without a move in the phase that goes on
        self._slept = False  # a sleep has been waited for already
        self._next_look = 0.0
        self._waits: cores.Waits | None = None  # for a core, when nothing had moved for some polls
        self._stuck = False
        self.stopped = False  # whether we ended the program because it was stuck
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="laststep-stall", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(0.3)

    def _run(self) -> None:
        while not self._stop.wait(EVERY):
            attempt(self.poll)

    def poll(self) -> None:
        now = time.monotonic()
        asleep = now - self._polled > 3 * EVERY + self._looked
        self._polled, self._looked = now, 0.0
        if asleep:  # we were stopped too (Ctrl-Z, a laptop's lid): that time does not count
            self._moved = now
            self._use.clear()
        live = self._follower.read()
        if live.beat is None:
            return
        self._use.append((time.monotonic(), {pid: _use(pid) for pid in self._tree()}))
        self._feeding.see(claimant(str(self._folder)) or self._pid, live)
        self._pace.see(live)
        self._looked = time.monotonic() - now
        key, token = phase_of(live), _token(live)
        if token != self._token:
            self._progress(live, token, key, now)
            return
        if self._waits is None and now - self._moved >= SETTLED:
            self._waits = cores.waits_of(self._tree())
        if not self._stuck and now - self._moved >= self._next_look:
            self._look(live, key)

    def _progress(self, live: Live, token: Any, key: str, now: float) -> None:
        waited = now - self._moved
        self._longest = max(self._longest, waited)
        if self._token is not None and (key != self._key or key in REPEATED):
            self._slowest[self._key] = max(self._slowest.get(self._key, 0.0), self._longest)
            self._longest = 0.0
        if key in ("step", "loop") and _steps_here(live) >= FEW_STEPS:
            self._slowest.setdefault(key, 0.0)  # they came faster than we look
        if self._stuck:
            self._journal.write("moving-again", {"after": round(waited, 1), "phase": self._key})
        self._token, self._key, self._moved, self._stuck = token, key, now, False
        self._slept, self._waits = False, None
        self._next_look = self._after or max(FLOOR, TIMES * self._slowest.get(key, 0.0))

    def _look(self, live: Live, key: str) -> None:
        recorded = claimant(str(self._folder)) or self._pid
        used = self._used()
        quiet = len(self._use) == WINDOW and used["cpu"] < QUIET
        told = take_look(recorded, self._tree(), self._folder if quiet else None)
        self._looked = time.monotonic() - self._polled
        if self._stop.is_set() or _token(self._follower.read()) != self._token:
            return  # it has ended, or moved while we looked
        if told["state"] == "T":
            self._moved = time.monotonic()  # somebody stopped it: that is no normal to learn from
            self._journal.write("look", told | {"phase": key, "seconds": 0.0})
            return
        seconds = time.monotonic() - self._moved
        told |= {
            "phase": key,
            "seconds": round(seconds, 1),
            "slowest": self._slowest.get(key),
            "step": live.beat.step if live.beat else 0,
            "waiting": live.beat.waiting if live.beat else 0.0,
            "beat_age": round(time.time() - live.beat.time, 1) if live.beat else None,
            "peers": self._peers(recorded),
            "gpu_busy": self._gpu_busy(),
            "lost": self._lost(told, seconds),
        } | used
        look = Look(told)
        if look.is_ours:
            self._moved = time.monotonic()  # that time is ours
            self._waits = None
            self._journal.write("look", told | {"ours": True})
            return
        wakes = look.blocked.wakes
        if not self._after and not self._slept and wakes is not None and wakes < LONG_SLEEP:
            self._slept = True  # on purpose, and it will be over: then one sees
            self._journal.write("look", told)
            self._next_look = seconds + max(wakes, 0.0) + 2 * EVERY
            return
        patience = self._patience(key, look)
        counted = seconds if self._after else look.received
        stuck = patience is not None and counted >= patience
        self._journal.write("stall" if stuck else "look", told)
        self._next_look = _next(seconds, patience and patience * seconds / max(counted, 0.01))
        if stuck:
            self._stuck = True
            self._act()

    def _lost(self, told: dict[str, Any], seconds: float) -> float:
        """The part of this time in which the program was ready to run and had no core."""
        ours = {int(thread["tid"]) for thread in told["threads"] if thread.get("tid") and Thread(thread).ours}
        return round(cores.lost(self._waits, cores.waits_of(self._tree()), seconds, ours), 1)

    def _workers(self) -> list[str]:
        setup = self._last_told("setup")
        return list(setup.get("workers") or []) if setup is not None else []

    def _peers(self, own: int) -> list[dict[str, Any]]:
        """The other ranks of this training that run on this machine, and where they stand."""
        others = {rank: pid for rank, pid in on_this_machine(self._workers()).items() if pid != own}
        return [{"rank": rank, "pid": pid, "threads": by_spy(pid)[0]} for rank, pid in others.items()]

    def _patience(self, key: str, look: Look) -> float | None:
        """After how many seconds without a move this is stuck; None: it may take as long as it takes."""
        if not look.threads or look.awaits_a_person:
            return None  # nobody can see inside, or somebody is asked
        if self._after:
            return self._after
        if key == "" or not self._goes_on(key, look):
            return None
        normal = self._slowest.get(key)
        if look.idle:
            blind = not any(thread.call for thread in look.threads if thread.place)
            # The first time of a phase nobody knows what is normal: it depends on what it is in.
            first = max(LONG_ENOUGH.values()) if blind else LONG_ENOUGH[_in_what(look)]
            return max(first if blind or normal is None else FLOOR, TIMES * (normal or 0.0))
        if normal is None or look.doing in ("trace", "execute") or look.data.get("moves"):
            return None
        age = float(look.data.get("beat_age") or 0.0)
        frozen = age * (look.received / look.seconds if look.seconds else 1.0) > FROZEN
        return max(FROZEN_FLOOR if frozen else BUSY_FLOOR, TIMES * normal)

    def _goes_on(self, key: str, look: Look) -> bool:
        """Whether training is meant to go on: fit is on a stack, or the main thread stands in the loop around it."""
        if key not in ("loop", "between", "start"):
            return key in ("trace", "save") or any(thread.has(*KERAS) for thread in look.threads)
        if key == "between" and look.main.waits_for in ("queue", "event", "pipe", ""):
            # Between two fits a program may well wait for work; not for a lock, a file or a child.
            return look.main.call == "open" and self._still_in_loop(look)
        return self._still_in_loop(look)

    def _gpu_busy(self) -> int:
        return max((int(card.get("busy") or 0) for card in self._cards()), default=0)

    def _still_in_loop(self, look: Look) -> bool:
        """A hand-written loop has no end that we are told of: the main thread must stand in its lines."""
        places = [self._last_told("loop"), self._last_told("fit")]
        wheres = [where for event in places if event is not None for where in event.get("stack") or []]
        return any(in_loop(where, look.main.frames) for where in wheres)

    def _last_told(self, kind: str) -> Event | None:
        """The last event of a kind from inside; the steps need not be read for it."""
        told = (event for event in read_recorders(self._folder) if event.kind == kind)
        return max(told, key=lambda event: event.time, default=None)

    def _used(self) -> dict[str, float]:
        if len(self._use) < 2:
            return {"cpu": 1.0, "io": 0.0}  # not known: not idle
        (t0, before), (t1, after) = self._use[0], self._use[-1]
        both = [pid for pid in after if pid in before]  # a child that is new brings its whole past
        cpu, io = (sum(after[pid][what] - before[pid][what] for pid in both) / (t1 - t0) for what in (0, 1))
        return {"cpu": round(cpu, 3), "io": round(io)}

    def _act(self) -> None:
        attempt(self._tell)
        if self._action in ("stop", "restart"):
            self._end()

    def _end(self) -> None:
        self.stopped = True
        for number, wait in ((signal.SIGTERM, GRACE), (signal.SIGKILL, 0.0)):
            self._journal.write("signal", {"signal": number.name, "by": "laststep", "to_group": False})
            try:
                os.kill(self._pid, number)
            except ProcessLookupError:
                return
            if self._stop.wait(wait):
                return


def phase_of(live: Live) -> str:
    """The phase for which normal is learned; "" where nothing is known."""
    now, done = live.now, live.beat.step if live.beat else 0
    if now is None:
        return "loop" if done else ""
    if now.phase == "step":
        return "step" if done > now.number else ("epoch start" if done else "first step")
    if now.phase == "" or (now.phase in ("between", "evaluate", "predict") and done > now.number):
        return "loop" if done else ""
    return now.phase


def _token(live: Live) -> Any:
    """What changes with every move."""
    return (live.now, live.beat.step, live.beat.pulse) if live.beat else None


def _steps_here(live: Live) -> int:
    """How many steps are complete since the phase began."""
    return (live.beat.step if live.beat else 0) - (live.now.number if live.now else 0)


def in_loop(where: dict[str, Any], frames: list[dict[str, Any]]) -> bool:
    """Whether one of these frames stands in the loop that encloses the line; a loop nobody can read is none."""
    lines = [frame["line"] for frame in frames if frame.get("file") == where.get("file") and frame.get("line")]
    try:
        tree = ast.parse(Path(str(where.get("file"))).read_bytes())
    except (OSError, ValueError, SyntaxError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)) and node.lineno <= int(where["line"]) <= (node.end_lineno or 0):
            if any(node.lineno <= line <= (node.end_lineno or 0) for line in lines):
                return True
    return False


def _in_what(look: Look) -> str:
    """What an idle process is in, as far as it tells how long one would wait before calling it stuck."""
    if look.blocked.wakes is not None:
        return ""  # for so long that nobody means it
    return kind_of_wait({thread.call for thread in look.threads if thread.place and not thread.ours})


def _next(seconds: float, patience: float | None) -> float:
    planned = next((at for at in LOOKS if at > seconds), seconds + LOOK_EVERY)
    return min(planned, patience) if patience is not None and patience > seconds else planned


def _use(pid: int) -> tuple[float, float]:
    """(processor seconds, bytes read and written) of a process so far."""
    return host.cpu_seconds(pid) or 0.0, host.moved_bytes(pid)
