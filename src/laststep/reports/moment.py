"""Where a run is at this moment: its phase, since when nothing moved, what is unusual about it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from laststep.analysis.unseen import unseen_of
from laststep.record.events.process import Exiting, Raised, RecorderStart
from laststep.record.events.stacks import Stall
from laststep.record.events.supervisor import MovingAgain
from laststep.record.follow import Live
from laststep.record.run import Run
from laststep.record.sample import LastBeat
from laststep.record.steps import Beat, Now
from laststep.reports.unseen import sentence
from laststep.text import format_count, format_duration

MIN_WAIT_SECONDS = 2.0  # a shorter wait for data is not shown
QUIET_SECONDS = 10.0  # without a sign of life, after which that is shown
PHASES = {
    "step": "training",
    "between": "between two parts of training",
    "validation": "in validation",
    "epoch-end": "at the end of an epoch (callbacks)",
    "start": "fit is starting",
    "evaluate": "in evaluate",
    "predict": "in predict",
    "trace": "TensorFlow is tracing a function",
    "save": "saving the model",
    "exit": "exiting",
}


def finite(value: float | None) -> float | None:
    """None unless it is a finite number: the record may be damaged, or come from another person."""
    return float(value) if value is not None and -1e300 < value < 1e300 else None


def last_move(run: Run, live: Live) -> float:
    """The time of the last sign of life from inside; 0.0: not known."""
    times = [step.time for step in (run.steps[-1:] if live.step is None else [live.step])]
    mark = live.now or run.now
    times += [mark.time] if mark else []
    return max([*times, _last_change(run, live)])


def _last_change(run: Run, live: Live) -> float:
    """The time since which neither steps nor other signs of life have been counted; 0.0 if they never changed."""
    before = (sample.inside for sample in reversed(run.samples) if sample.inside is not None)
    beats: Iterable[Beat | LastBeat] = itertools.chain([live.beat] if live.beat is not None else [], before)
    now, since = None, 0.0
    for beat in beats:
        counted = beat.step, beat.pulse
        if now is not None and counted != now:
            return since
        now, since = counted, finite(beat.time) or 0.0
    return 0.0


def stuck_seconds(run: Run, moved: float, at: float) -> float | None:
    """Seconds without progress, if the supervisor reported a stall and nothing has moved since."""
    stall, again = run.last(Stall), run.last(MovingAgain)
    if not run.alive or stall is None or moved > stall.time or (again is not None and again.time >= stall.time):
        return None
    return max(0.0, at - (moved or stall.time))


def phase_of(run: Run, live: Live, moved: float, at: float) -> str:
    error = next((event for event in run.all(Raised) if event.left == "program"), None)
    leaving = run.last(Exiting) or error
    if leaving is not None:
        after = f"exiting after {error.type.rpartition('.')[2]}" if error is not None else "exiting"
        return after + (f" for {format_duration(at - leaving.time)}" if at - leaving.time > 1 else "")
    now = live.now or run.now
    if now is None and (run.steps or live.step):
        now = Now("step", 0, 0.0)  # a hand-written loop reports its steps and no phase
    if now is None:
        unseen = unseen_of(run)
        inside = "no training seen yet" if run.has(RecorderStart) else "starting"
        return f"laststep can't record inside: {unseen.because}" if unseen is not None else inside
    phase = PHASES.get(now.phase, "in the program's own code")
    if now.phase == "between" and all(fit.ended for fit in run.fits):
        phase = "after fit, in the program's own code"
    return phase + _since(run, now, live, moved, at)


def what_was_unseen(run: Run) -> str:
    unseen = unseen_of(run)
    return sentence(unseen) if unseen is not None else ""


def _since(run: Run, now: Now, live: Live, moved: float, at: float) -> str:
    """How long this phase has lasted, or what is unusual about it."""
    beat = live.beat
    if beat is not None and at - beat.time > QUIET_SECONDS:
        return f", no heartbeat for {format_duration(at - beat.time)}: suspended, or the GIL is held"
    if beat is not None and beat.waiting > MIN_WAIT_SECONDS:
        calls = _calls_since_step(run, live)
        so_far = f" ({format_count(calls, 'call')} of its Python so far)" if calls else ""
        return f", waiting for data for {format_duration(beat.waiting + max(0.0, at - beat.time))}{so_far}"
    if now.phase == "step":
        return f", no step for {format_duration(at - moved)}" if at - moved > QUIET_SECONDS else ""
    return f" for {format_duration(at - now.time)}" if at - now.time > 1 else ""


def _calls_since_step(run: Run, live: Live) -> int:
    """How often the pipeline has called the program's Python since the last step; 0 where that is not counted."""
    before = 0
    for sample in reversed(run.samples):
        if sample.inside is not None and live.beat is not None and sample.inside.step != live.beat.step:
            before = sample.inside.calls
            break
    return max(0, live.calls - before)
