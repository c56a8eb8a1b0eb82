"""Whether a run made no progress at its end, or now, and since when: a stall, or what somebody ended before."""

from __future__ import annotations

from dataclasses import replace

from laststep.analysis.finding import Confidence
from laststep.analysis.memory import memory_kill
from laststep.analysis.signals import ended_by_somebody
from laststep.analysis.stacks import STALL_FACTOR, STALL_SECONDS, SnapshotView
from laststep.analysis.still import still_since
from laststep.record.event import Event
from laststep.record.events.stacks import Attached, Snapshot, Stall
from laststep.record.events.supervisor import MovingAgain
from laststep.record.events.training import Epoch, FitEnd, FitStart
from laststep.record.run import Run, view

MIN_HANG_SECONDS = min(STALL_SECONDS.values())  # without progress before somebody ended it


def stall_of(run: Run) -> Stall | None:
    """The stall that was not over when the run ended, or now."""
    last = run.last(Stall)
    return None if last is None or _last_move(run) > last.time else last


@view
def hang_of(run: Run) -> Snapshot | None:
    """The stall, or the last snapshot before somebody ended a run that had made no progress for a while."""
    stall, ended = stall_of(run), ended_by_somebody(run)
    if ended is None or run.has(Attached):
        return stall
    last = stall or _last_snapshot(run, ended)
    if last is None or last.time > ended:
        return stall
    seconds = last.seconds + ended - last.time
    if stall is None and not _is_hang(run, SnapshotView(last), seconds):
        return None
    likely = isinstance(last, Stall) or seconds >= STALL_SECONDS[SnapshotView(last).kind_of_wait]
    return Stall.of(last) if likely else last


def until_the_end(run: Run, snapshot: Snapshot) -> Snapshot:
    """The same with the time that passed until somebody ended the run: it made no progress in that time either."""
    ended = ended_by_somebody(run)
    if ended is None or run.has(Attached) or not snapshot.seconds or ended <= snapshot.time:
        return snapshot
    longer = ended - snapshot.time
    lost = snapshot.lost * (1 + longer / snapshot.seconds)
    waiting = snapshot.waiting + longer if snapshot.waiting else 0.0
    seconds = round(snapshot.seconds + longer, 1)
    return replace(snapshot, seconds=seconds, waiting=waiting, lost=lost)


def how_sure(view: SnapshotView) -> Confidence:
    """A stall is likely; what somebody ended before laststep was sure of it is possible."""
    return Confidence.LIKELY if isinstance(view.snapshot, Stall) else Confidence.POSSIBLE


def _last_move(run: Run) -> float:
    kinds: tuple[type[Event], ...] = (MovingAgain, Epoch, FitStart, FitEnd)
    moves = [event.time for kind in kinds for event in run.all(kind)[-1:]]
    return max([*moves, *(step.time for step in run.steps[-1:])], default=0.0)


def _last_snapshot(run: Run, ended: float) -> Snapshot | None:
    """The last one before that; None where the run made progress since."""
    looks = [event for event in run.all(Snapshot) if event.time <= ended]
    return looks[-1] if looks and _last_move(run) <= looks[-1].time else None


def _is_hang(run: Run, view: SnapshotView, seconds: float) -> bool:
    """It was idle, had more to do, would not have woken up by itself, and this took far longer than ever before."""
    snapshot, since = view.snapshot, still_since(run)
    if not (snapshot.goes_on and view.threads and view.idle) or snapshot.ours or snapshot.state == "T":
        return False
    if view.wakes_by_itself or view.waits_for_typing or memory_kill(run) is not None:
        return False
    went_on = since is not None and since > snapshot.time
    return not went_on and seconds >= max(MIN_HANG_SECONDS, STALL_FACTOR * (snapshot.slowest or 0.0))
