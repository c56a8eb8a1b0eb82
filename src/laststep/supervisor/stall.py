"""Notice that a run is stuck. What is normal is learned per phase, from the run itself."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from laststep.analysis.pipeline import drops_everything, endless_filter, stages_of
from laststep.analysis.stacks import STALL_FACTOR, STALL_SECONDS, SnapshotView, ThreadView
from laststep.record.claim import claimant
from laststep.record.decode import encode
from laststep.record.event import Event
from laststep.record.events.shared import Stage
from laststep.record.events.stacks import Peer, Snapshot, Stall
from laststep.record.events.supervisor import MovingAgain, SignalReceived
from laststep.record.events.training import DatasetSeen, FitStart, LoopSeen, Setup
from laststep.record.follow import Follower, Live
from laststep.record.journal import JournalWriter, read_recorders
from laststep.record.place import Place
from laststep.record.sample import GpuState
from laststep.record.steps import Now
from laststep.recorder.guard import attempt
from laststep.supervisor import cores, host
from laststep.supervisor.feeding import FeedingWatcher, lines_gone_round
from laststep.supervisor.handover import HandoverWatcher
from laststep.supervisor.loops import in_body_of_for, in_loop
from laststep.supervisor.ranks import PaceWatcher, on_this_machine
from laststep.supervisor.snapshot import take_snapshot
from laststep.supervisor.stacks import by_spy

POLL_SECONDS = 1.0
# A stall is noticed within 10 s or 5 times the slowest step: heartbeat, poll and snapshot take up to 2 s of that.
MIN_STALL_SECONDS = 8.0
MIN_BUSY_STALL_SECONDS = 60.0  # a program that computes may well get somewhere
MIN_FIRST_ELEMENT_SECONDS = 300.0  # of Python that computes before it hands over its first element: it may load data
MIN_FIRST_FILTER_SECONDS = 120.0  # of a pipeline without Python, in the first step, with a filter that may drop all
MIN_FROZEN_SECONDS = 5.0  # without a heartbeat: a call into C lets no other thread run
MIN_FROZEN_STALL_SECONDS = 15.0
MAX_QUIET_CORES = 0.02  # of a process in which no Python runs
KERAS_LOOPS = ("fit", "evaluate", "predict", "train_on_batch", "fit_generator")  # on the stack while their phases last
MIN_STEPS = 5  # in a phase, after which it is known what a step takes
# Phases of many steps, of which one or two show what is normal; of the others that is known when they are over.
REPEATED_PHASES = ("step", "loop", "validation", "evaluate", "predict")
SNAPSHOTS_AT = (20.0, 30.0, 60.0, 120.0)  # seconds without progress
SNAPSHOT_EVERY = 300.0  # seconds, after these
QUEUE_TIMES_AFTER = 2.0  # seconds without progress, when it is noted how long threads have waited for a core
USE_WINDOW = 6  # polls over which CPU time and I/O are measured
KILL_AFTER = 10.0  # seconds after SIGTERM

E = TypeVar("E", bound=Event)
Token = tuple[Now | None, int, int] | None


class Use(NamedTuple):
    """Of a process so far; or per second."""

    cpu: float  # CPU seconds, or cores
    io: float  # bytes read and written


class StallWatcher:
    """A daemon thread that polls a few bytes a second, and takes a snapshot only when there is no progress."""

    def __init__(
        self,
        pid: int,
        folder: Path,
        journal: JournalWriter,
        tree: Callable[[], list[int]],
        cards: Callable[[], Sequence[GpuState]],
        on_stall: Callable[[], None],
        action: str = "warn",
        after: float = 0.0,
    ) -> None:
        self._pid = pid
        self._folder = folder
        self._journal = journal
        self._tree = tree
        self._cards = cards
        self._on_stall = on_stall
        self._action = action
        self._after = after
        self._follower = Follower(folder)
        self._feeding = FeedingWatcher(journal)
        self._handover = HandoverWatcher()
        self._pace = PaceWatcher(journal, self._workers)
        self._use: deque[tuple[float, dict[int, Use]]] = deque(maxlen=USE_WINDOW)
        self._slowest: dict[str, float] = {}
        self._token: Token = None
        self._key = ""
        self._progressed = self._polled = time.monotonic()
        self._spent = 0.0  # seconds that the last poll took
        self._longest = 0.0  # seconds without progress in the present phase
        self._slept = False  # a sleep was waited for already
        self._first = 0.0  # seconds that what it was blocked in may take: the longest since the last progress
        self._next_snapshot = 0.0
        self._max_silence: float | None = None  # seconds without a call by the input pipeline, for another snapshot
        self._queue_times: cores.QueueTimes | None = None  # when there had been no progress for some polls
        self._stuck = False
        self.stopped = False  # whether laststep ended the program because it was stuck
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="laststep-stall", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(0.3)

    def _run(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            attempt(self.poll)

    def poll(self) -> None:
        now = time.monotonic()
        asleep = now - self._polled > 3 * POLL_SECONDS + self._spent
        self._polled, self._spent = now, 0.0
        if asleep:  # laststep was stopped too (Ctrl-Z, a closed laptop): that time does not count
            self._progressed = now
            self._use.clear()
        live = self._follower.read()
        if live.beat is None:
            return
        self._use.append((time.monotonic(), {pid: _use(pid) for pid in self._tree()}))
        self._feeding.see(claimant(str(self._folder)) or self._pid, live)
        self._pace.see(live)
        self._handover.see(live, now)
        self._spent = time.monotonic() - now
        key, token = phase_of(live), _token(live)
        if token != self._token:
            self._note_progress(live, token, key, now)
            return
        if self._queue_times is None and now - self._progressed >= QUEUE_TIMES_AFTER:
            self._queue_times = cores.queue_times(self._tree())
        if not self._stuck and (now - self._progressed >= self._next_snapshot or self._is_silent(now)):
            self._take_snapshot(live, key)

    def _is_silent(self, now: float) -> bool:
        """A pipeline that did hand elements over has not done so for as long as a stall takes."""
        return self._max_silence is not None and (self._handover.age(now) or 0.0) >= self._max_silence

    def _note_progress(self, live: Live, token: Token, key: str, now: float) -> None:
        waited = now - self._progressed
        self._longest = max(self._longest, waited)
        traces = self._key == "first step" and key == "trace"  # and goes on with the same step
        if self._token is not None and not traces and (key != self._key or key in REPEATED_PHASES):
            self._slowest[self._key] = max(self._slowest.get(self._key, 0.0), self._longest)
            self._longest = 0.0
        if key in ("step", "loop") and _steps_here(live) >= MIN_STEPS:
            self._slowest.setdefault(key, 0.0)  # they were faster than a poll
        if self._stuck:
            self._write(MovingAgain(after=round(waited, 1), phase=self._key))
        self._token, self._key, self._progressed, self._stuck = token, key, now, False
        self._slept, self._first, self._queue_times, self._max_silence = False, 0.0, None, None
        self._handover.note_progress()
        self._next_snapshot = self._after or max(MIN_STALL_SECONDS, STALL_FACTOR * self._slowest.get(key, 0.0))

    def _write(self, event: Event) -> None:
        self._journal.write(event.KIND, encode(event))

    def _take_snapshot(self, live: Live, key: str) -> None:
        recorded = claimant(str(self._folder)) or self._pid
        used = self._used()
        quiet = len(self._use) == USE_WINDOW and used.cpu < MAX_QUIET_CORES
        snapshot = take_snapshot(recorded, self._tree(), self._folder if quiet else None)
        self._spent = time.monotonic() - self._polled
        if self._stop.is_set() or _token(self._follower.read()) != self._token:
            return  # it has ended, or made progress meanwhile
        if snapshot.state == "T":
            self._progressed = time.monotonic()  # it was stopped (SIGSTOP): nothing to learn from
            self._write(replace(snapshot, phase=key, seconds=0.0))
            return
        seconds = time.monotonic() - self._progressed
        view = SnapshotView(
            replace(
                snapshot,
                phase=key,
                goes_on=self._has_more_to_do(key, SnapshotView(snapshot)),
                seconds=round(seconds, 1),
                slowest=self._slowest.get(key),
                step=live.beat.step if live.beat else 0,
                waiting=live.beat.waiting if live.beat else 0.0,
                calls=self._handover.calls,
                call_age=self._handover.age(time.monotonic()),
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
        """Whether that is a stall, and when to take the next snapshot."""
        if view.is_held_by_laststep:
            self._progressed = time.monotonic()  # the program is not to blame for that time
            self._queue_times = None
            self._write(replace(view.snapshot, ours=True))
            return
        if not self._after and not self._slept and view.wakes_by_itself:
            self._slept = True
            self._write(view.snapshot)
            self._next_snapshot = seconds + max(view.blocked.wakes or 0.0, 0.0) + 2 * POLL_SECONDS
            return
        patience = self._patience(key, view)
        counted = seconds if self._after else self._counted(key, view)
        stuck = patience is not None and counted >= patience
        self._write(Stall.of(self._with_lines(view)) if stuck else view.snapshot)
        yields = counted < view.received and not self._after
        self._max_silence = _next_silence(view.snapshot.call_age or 0.0, patience) if yields else None
        self._next_snapshot = _next(seconds, patience and not yields and patience * seconds / max(counted, 0.01))
        if stuck:
            self._stuck = True
            self._act()

    def _counted(self, key: str, view: SnapshotView) -> float:
        """The seconds without a sign of life; that elements are handed over is none where a filter drops them all."""
        return view.received if drops_everything(view, self._stages(key)) else view.silence

    def _with_lines(self, view: SnapshotView) -> Snapshot:
        """Of Python that computes or polls, one stack shows a line by chance: a few quick snapshots show the loop."""
        if view.blocked is view.main or not view.blocked.goes_on:
            return view.snapshot
        return replace(view.snapshot, lines=lines_gone_round(view.snapshot.pid))

    def _stages(self, key: str) -> tuple[Stage, ...]:
        return stages_of(self._last_recorded(FitStart), self._last_recorded(DatasetSeen), key)

    def _lost(self, snapshot: Snapshot, seconds: float) -> float:
        """The part of this time in which the program was ready to run and had no core."""
        ours = {thread.tid for thread in snapshot.threads if thread.tid and ThreadView(thread).is_laststeps}
        return round(cores.seconds_lost(self._queue_times, cores.queue_times(self._tree()), seconds, ours), 1)

    def _workers(self) -> tuple[str, ...]:
        setup = self._last_recorded(Setup)
        return setup.workers if setup is not None else ()

    def _peers(self, own: int) -> tuple[Peer, ...]:
        """The other ranks of this training on this machine, with their stacks."""
        others = {rank: pid for rank, pid in on_this_machine(self._workers()).items() if pid != own}
        return tuple(Peer(rank=rank, pid=pid, threads=by_spy(pid)[0]) for rank, pid in others.items())

    def _patience(self, key: str, view: SnapshotView) -> float | None:
        """After how many seconds without progress this is a stall; None: it may take any time."""
        if not view.threads or view.waits_for_typing:
            return None
        if self._after:
            return self._after
        if key == "" or not self._goes_on(key, view):
            return None
        normal = self._slowest.get(key)
        if view.idle:
            unknown = not any(thread.call for thread in view.threads if thread.place)
            # The first time in a phase nothing is known of what is normal: it depends on the call it is blocked in.
            first = max(STALL_SECONDS.values()) if unknown else STALL_SECONDS[view.kind_of_wait]
            self._first = max(self._first, first)
            least = self._first if unknown or normal is None else MIN_STALL_SECONDS
            return max(least, STALL_FACTOR * max(normal or 0.0, self._handover.longest))
        if normal is None and view.doing == "input" and not view.snapshot.moves:
            return self._patience_with_first_batch(key, view)
        if normal is None or view.doing in ("trace", "execute") or view.snapshot.moves:
            return None
        age = view.snapshot.beat_age or 0.0
        frozen = age * (view.received / view.seconds if view.seconds else 1.0) > MIN_FROZEN_SECONDS
        least = MIN_FROZEN_STALL_SECONDS if frozen else MIN_BUSY_STALL_SECONDS
        return max(least, STALL_FACTOR * max(normal, self._handover.longest))

    def _patience_with_first_batch(self, key: str, view: SnapshotView) -> float | None:
        """No batch came before, and the pipeline computes: it is known only whether its Python hands elements over."""
        stages = self._stages(key)
        if drops_everything(view, stages):
            return MIN_BUSY_STALL_SECONDS
        if view.feeders:
            # The first call asks for a number of the iterator; those that run now have handed over nothing yet.
            handed_over = self._handover.total > 1 + len(view.feeders)
            least = MIN_BUSY_STALL_SECONDS if handed_over else MIN_FIRST_ELEMENT_SECONDS
            return max(least, STALL_FACTOR * self._handover.longest)
        never = not self._handover.total and view.phase == "first step" and endless_filter(stages) is not None
        return MIN_FIRST_FILTER_SECONDS if never else None

    def _goes_on(self, key: str, view: SnapshotView) -> bool:
        """Whether training is to continue, without anybody who gives the program work."""
        if key == "between" and view.main.waits_for in ("queue", "event", "pipe", ""):
            # Between two fits a program may well wait for work, but not for a lock, a file or a child.
            return view.main.call == "open" and self._still_in_loop(view)
        return self._is_in_training(key, view)

    def _has_more_to_do(self, key: str, view: SnapshotView) -> bool:
        """The same where somebody ends it: in the body of a `for`, work was there; `while True` may wait for some."""
        if key == "between" and view.main.waits_for in ("queue", "event", "pipe", ""):
            return any(in_body_of_for(line, view.main.frames) for line in self._lines_that_train())
        in_fit = key == "start" and any(thread.has(*KERAS_LOOPS) for thread in view.threads)
        return in_fit or (key != "" and self._is_in_training(key, view))

    def _is_in_training(self, key: str, view: SnapshotView) -> bool:
        """fit is on a stack, or the main thread is in the loop around it."""
        if key not in ("loop", "between", "start"):
            return key in ("trace", "save") or any(thread.has(*KERAS_LOOPS) for thread in view.threads)
        return self._still_in_loop(view)

    def _gpu_busy(self) -> int:
        return max((card.busy or 0 for card in self._cards()), default=0)

    def _still_in_loop(self, view: SnapshotView) -> bool:
        """The end of a hand-written loop is not recorded: the main thread must be within its lines."""
        return any(in_loop(line, view.main.frames) for line in self._lines_that_train())

    def _lines_that_train(self) -> list[Place]:
        loop, fit = self._last_recorded(LoopSeen), self._last_recorded(FitStart)
        return [*(loop.stack if loop is not None else ()), *(fit.stack if fit is not None else ())]

    def _last_recorded(self, kind: type[E]) -> E | None:
        """The last event of a kind from the recorder; the steps need not be read for it."""
        recorded = (event for event in read_recorders(self._folder) if isinstance(event, kind))
        return max(recorded, key=lambda event: event.time, default=None)

    def _used(self) -> Use:
        """Cores, and bytes per second."""
        if len(self._use) < 2:
            return Use(1.0, 0.0)  # not known yet: not idle
        (t0, before), (t1, after) = self._use[0], self._use[-1]
        both = [pid for pid in after if pid in before]  # the counts of a new child began before the window
        cpu = sum(after[pid].cpu - before[pid].cpu for pid in both)
        io = sum(after[pid].io - before[pid].io for pid in both)
        return Use(cpu / (t1 - t0), io / (t1 - t0))

    def _act(self) -> None:
        attempt(self._on_stall)
        if self._action in ("stop", "restart"):
            self._end()

    def _end(self) -> None:
        self.stopped = True
        for number, wait in ((signal.SIGTERM, KILL_AFTER), (signal.SIGKILL, 0.0)):
            self._write(SignalReceived(signal=number.name, by="laststep"))
            try:
                os.kill(self._pid, number)
            except ProcessLookupError:
                return
            if self._stop.wait(wait):
                return


def phase_of(live: Live) -> str:
    """The phase for which the normal time is learned; "" where nothing is known."""
    now, done = live.now, live.beat.step if live.beat else 0
    if now is None:
        return "loop" if done else ""
    if now.phase == "step":
        return "step" if done > now.number else ("epoch start" if done else "first step")
    if now.phase == "" or (now.phase in ("between", "evaluate", "predict") and done > now.number):
        return "loop" if done else ""
    return now.phase


def _token(live: Live) -> Token:
    """What changes with all progress."""
    return (live.now, live.beat.step, live.beat.pulse) if live.beat else None


def _steps_here(live: Live) -> int:
    """How many steps were completed since the phase began."""
    return (live.beat.step if live.beat else 0) - (live.now.number if live.now else 0)


def _next(seconds: float, patience: float | None) -> float:
    planned = next((at for at in SNAPSHOTS_AT if at > seconds), seconds + SNAPSHOT_EVERY)
    return min(planned, patience) if patience is not None and patience > seconds else planned


def _next_silence(age: float, patience: float | None) -> float:
    """The time without a call of the pipeline's Python after which to look again."""
    enough = patience or MIN_BUSY_STALL_SECONDS
    return enough if age < enough else 2 * age


def _use(pid: int) -> Use:
    return Use(host.cpu_seconds(pid) or 0.0, host.moved_bytes(pid))
