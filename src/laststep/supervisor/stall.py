"""Notice that a run is stuck: what is normal is learned per phase, from the run itself."""

from __future__ import annotations

import ast
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from laststep.analysis.stacks import LONG_ENOUGH, SnapshotView, ThreadView, kind_of_wait
from laststep.record.claim import claimant
from laststep.record.decode import encode
from laststep.record.event import Event
from laststep.record.events.shared import Frame
from laststep.record.events.stacks import Peer, Snapshot, Stall
from laststep.record.events.supervisor import MovingAgain, SignalReceived
from laststep.record.events.training import FitStart, LoopSeen, Setup
from laststep.record.follow import Follower, Live
from laststep.record.journal import JournalWriter, read_recorders
from laststep.record.place import Place
from laststep.record.sample import GpuState
from laststep.recorder.guard import attempt
from laststep.supervisor import cores, host
from laststep.supervisor.feeding import FeedingWatcher
from laststep.supervisor.ranks import PaceWatcher, on_this_machine
from laststep.supervisor.snapshot import take_snapshot
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


E = TypeVar("E", bound=Event)


class Use(NamedTuple):
    """Of a process so far."""

    cpu: float  # processor seconds
    io: float  # bytes read and written


class StallWatcher:
    """A daemon thread beside the watcher: it polls a few bytes a second and looks closer only when nothing moves."""

    def __init__(
        self,
        pid: int,
        folder: Path,
        journal: JournalWriter,
        tree: Callable[[], list[int]],
        cards: Callable[[], Sequence[GpuState]],
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
        self._feeding = FeedingWatcher(journal)
        self._pace = PaceWatcher(journal, self._workers)
        self._use: deque[tuple[float, dict[int, Use]]] = deque(maxlen=WINDOW)
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
            self._write(MovingAgain(after=round(waited, 1), phase=self._key))
        self._token, self._key, self._moved, self._stuck = token, key, now, False
        self._slept, self._waits = False, None
        self._next_look = self._after or max(FLOOR, TIMES * self._slowest.get(key, 0.0))

    def _write(self, event: Event) -> None:
        self._journal.write(event.KIND, encode(event))

    def _look(self, live: Live, key: str) -> None:
        recorded = claimant(str(self._folder)) or self._pid
        used = self._used()
        quiet = len(self._use) == WINDOW and used.cpu < QUIET
        snapshot = take_snapshot(recorded, self._tree(), self._folder if quiet else None)
        self._looked = time.monotonic() - self._polled
        if self._stop.is_set() or _token(self._follower.read()) != self._token:
            return  # it has ended, or moved while we looked
        if snapshot.state == "T":
            self._moved = time.monotonic()  # somebody stopped it: that is no normal to learn from
            self._write(replace(snapshot, phase=key, seconds=0.0))
            return
        seconds = time.monotonic() - self._moved
        view = SnapshotView(
            replace(
                snapshot,
                phase=key,
                seconds=round(seconds, 1),
                slowest=self._slowest.get(key),
                step=live.beat.step if live.beat else 0,
                waiting=live.beat.waiting if live.beat else 0.0,
                beat_age=round(time.time() - live.beat.time, 1) if live.beat else None,
                peers=self._peers(recorded),
                gpu_busy=self._gpu_busy(),
                lost=self._lost(snapshot, seconds),
                cpu=round(used.cpu, 3),
                io=round(used.io),
            )
        )
        self._judge(view, key, seconds)

    def _judge(self, view: SnapshotView, key: str, seconds: float) -> None:
        """Whether that is stuck, and when to look again."""
        if view.is_ours:
            self._moved = time.monotonic()  # that time is ours
            self._waits = None
            self._write(replace(view.snapshot, ours=True))
            return
        wakes = view.blocked.wakes
        if not self._after and not self._slept and wakes is not None and wakes < LONG_SLEEP:
            self._slept = True  # on purpose, and it will be over: then one sees
            self._write(view.snapshot)
            self._next_look = seconds + max(wakes, 0.0) + 2 * EVERY
            return
        patience = self._patience(key, view)
        counted = seconds if self._after else view.received
        stuck = patience is not None and counted >= patience
        self._write(Stall.of(view.snapshot) if stuck else view.snapshot)
        self._next_look = _next(seconds, patience and patience * seconds / max(counted, 0.01))
        if stuck:
            self._stuck = True
            self._act()

    def _lost(self, snapshot: Snapshot, seconds: float) -> float:
        """The part of this time in which the program was ready to run and had no core."""
        ours = {thread.tid for thread in snapshot.threads if thread.tid and ThreadView(thread).ours}
        return round(cores.lost(self._waits, cores.waits_of(self._tree()), seconds, ours), 1)

    def _workers(self) -> tuple[str, ...]:
        setup = self._last_recorded(Setup)
        return setup.workers if setup is not None else ()

    def _peers(self, own: int) -> tuple[Peer, ...]:
        """The other ranks of this training that run on this machine, and where they stand."""
        others = {rank: pid for rank, pid in on_this_machine(self._workers()).items() if pid != own}
        return tuple(Peer(rank=rank, pid=pid, threads=by_spy(pid)[0]) for rank, pid in others.items())

    def _patience(self, key: str, view: SnapshotView) -> float | None:
        """After how many seconds without a move this is stuck; None: it may take as long as it takes."""
        if not view.threads or view.awaits_a_person:
            return None  # nobody can see inside, or somebody is asked
        if self._after:
            return self._after
        if key == "" or not self._goes_on(key, view):
            return None
        normal = self._slowest.get(key)
        if view.idle:
            blind = not any(thread.call for thread in view.threads if thread.place)
            # The first time of a phase nobody knows what is normal: it depends on what it is in.
            first = max(LONG_ENOUGH.values()) if blind else LONG_ENOUGH[_in_what(view)]
            return max(first if blind or normal is None else FLOOR, TIMES * (normal or 0.0))
        if normal is None or view.doing in ("trace", "execute") or view.snapshot.moves:
            return None
        age = view.snapshot.beat_age or 0.0
        frozen = age * (view.received / view.seconds if view.seconds else 1.0) > FROZEN
        return max(FROZEN_FLOOR if frozen else BUSY_FLOOR, TIMES * normal)

    def _goes_on(self, key: str, view: SnapshotView) -> bool:
        """Whether training is meant to go on: fit is on a stack, or the main thread stands in the loop around it."""
        if key not in ("loop", "between", "start"):
            return key in ("trace", "save") or any(thread.has(*KERAS) for thread in view.threads)
        if key == "between" and view.main.waits_for in ("queue", "event", "pipe", ""):
            # Between two fits a program may well wait for work; not for a lock, a file or a child.
            return view.main.call == "open" and self._still_in_loop(view)
        return self._still_in_loop(view)

    def _gpu_busy(self) -> int:
        return max((card.busy or 0 for card in self._cards()), default=0)

    def _still_in_loop(self, view: SnapshotView) -> bool:
        """A hand-written loop has no end that we are told of: the main thread must stand in its lines."""
        loop, fit = self._last_recorded(LoopSeen), self._last_recorded(FitStart)
        lines = [*(loop.stack if loop is not None else ()), *(fit.stack if fit is not None else ())]
        return any(in_loop(line, view.main.frames) for line in lines)

    def _last_recorded(self, kind: type[E]) -> E | None:
        """The last event of a kind from inside; the steps need not be read for it."""
        recorded = (event for event in read_recorders(self._folder) if isinstance(event, kind))
        return max(recorded, key=lambda event: event.time, default=None)

    def _used(self) -> Use:
        """Cores, and bytes per second."""
        if len(self._use) < 2:
            return Use(1.0, 0.0)  # not known: not idle
        (t0, before), (t1, after) = self._use[0], self._use[-1]
        both = [pid for pid in after if pid in before]  # a child that is new brings its whole past
        cpu = sum(after[pid].cpu - before[pid].cpu for pid in both)
        io = sum(after[pid].io - before[pid].io for pid in both)
        return Use(cpu / (t1 - t0), io / (t1 - t0))

    def _act(self) -> None:
        attempt(self._tell)
        if self._action in ("stop", "restart"):
            self._end()

    def _end(self) -> None:
        self.stopped = True
        for number, wait in ((signal.SIGTERM, GRACE), (signal.SIGKILL, 0.0)):
            self._write(SignalReceived(signal=number.name, by="laststep"))
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


def in_loop(where: Place, frames: Sequence[Frame]) -> bool:
    """Whether one of these frames stands in the loop that encloses the line; a loop nobody can read is none."""
    lines = [frame.line for frame in frames if frame.file == where.file and frame.line]
    try:
        tree = ast.parse(Path(where.file).read_bytes())
    except (OSError, ValueError, SyntaxError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)) and node.lineno <= where.line <= (node.end_lineno or 0):
            if any(node.lineno <= line <= (node.end_lineno or 0) for line in lines):
                return True
    return False


def _in_what(view: SnapshotView) -> str:
    """What an idle process is in, as far as it tells how long one would wait before calling it stuck."""
    if view.blocked.wakes is not None:
        return ""  # for so long that nobody means it
    return kind_of_wait({thread.call for thread in view.threads if thread.place and not thread.ours})


def _next(seconds: float, patience: float | None) -> float:
    planned = next((at for at in LOOKS if at > seconds), seconds + LOOK_EVERY)
    return min(planned, patience) if patience is not None and patience > seconds else planned


def _use(pid: int) -> Use:
    return Use(host.cpu_seconds(pid) or 0.0, host.moved_bytes(pid))
