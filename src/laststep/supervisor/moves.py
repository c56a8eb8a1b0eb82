"""What several snapshots of a process show together: whether it makes progress, where it is, how fast it is."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from laststep.analysis.stacks import EXECUTE, STALL_SECONDS, SnapshotView, ThreadView, kind_of_wait
from laststep.record.events.shared import Frame
from laststep.record.events.stacks import Activity
from laststep.text import format_count, format_duration, format_place

_KERAS = re.compile(r"keras/src/(?:backend/\w+/trainer|engine/training(?:_v1)?)\.py$")
_OF_KERAS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
MAX_PLACES = 4
MIN_OVERDUE_STEPS = 5.0  # that should have been done meanwhile, before the pace is taken to be over
MAX_STUCK_WAKEUPS = 1.0  # per second: a process that waits again and again with a timeout is stuck too
MIN_SNAPSHOTS = 3  # with fewer, the state is unknown


@dataclass(frozen=True)
class TimedView:
    """One snapshot, and when it was taken, by the monotonic clock."""

    time: float
    view: SnapshotView


def keras_frame(main: ThreadView) -> Frame | None:
    """The innermost frame of Keras's own loops: evaluate inside fit is evaluate."""
    return next((frame for frame in main.frames if _is_keras(frame)), None)


def _is_keras(frame: Frame) -> bool:
    return frame.function in _OF_KERAS and bool(_KERAS.search(frame.file))


def phase_of(view: SnapshotView) -> str:
    """By the names of the recorder's phases where there is one, otherwise in words."""
    main = view.main
    asked = [frame.function for frame in main.frames if _is_keras(frame)]
    if view.doing in ("trace", "save"):
        return view.doing
    if asked and main.callback is not None:
        return "a callback"
    if asked[:1] == ["evaluate"] and "fit" in asked:
        return "validation"
    if asked[:1] == ["fit"]:
        return _place_in_epoch(keras_frame(main) or Frame())
    if asked:
        return asked[0]
    return "loop" if main.has(EXECUTE) or view.waits_for_data else "the program's own code"


def _place_in_epoch(frame: Frame) -> str:
    """The first step is built, and the first one of an epoch fills buffers: they may take longer."""
    counters = frame.counters
    step = counters.get("begin_step", counters.get("step"))
    if step is None and "epoch" not in counters:
        return "the start of fit"
    if step:
        return "step"
    return "first step" if counters.get("epoch", 0) == counters.get("initial_epoch", 0) else "epoch start"


def counters_of(view: SnapshotView) -> dict[str, int]:
    """Where the loop is: Keras's own counters, or those of the program's own loop."""
    for frame in view.main.frames:
        if frame.function == "fit" and _is_keras(frame) and frame.counters:
            return {"of_fit": 1, **frame.counters}
    own = (frame.counters for frame in view.main.frames if frame.counters and frame.is_users_own)
    return dict(next(own, {}))


def signs(view: SnapshotView) -> tuple[object, ...]:
    """What changes with any progress: counters, the lines of the main thread and of the input pipeline's threads."""
    counted = [sorted(frame.counters.items()) for frame in view.main.frames]
    return (counted, _lines(view.main), sorted(_lines(thread) for thread in view.feeders))


def _lines(thread: ThreadView) -> list[tuple[str, int]]:
    return [(frame.file, frame.line) for frame in thread.frames]


def state_of(views: Sequence[TimedView], idle: bool, wakes: float) -> str:
    """moving; stuck: idle at the same place; busy: computing at the same place; waking: waiting there, but running a
    little in between, as a slow loop does, and one that polls; unseen: too few snapshots."""
    seen = [each.view for each in views]
    if len(seen) < MIN_SNAPSHOTS:
        return "unseen"
    if all(view.doing == "trace" for view in seen):
        return "busy"
    if any(signs(view) != signs(seen[0]) for view in seen):
        return "moving"
    if not idle:
        return "busy"
    return "stuck" if wakes <= MAX_STUCK_WAKEUPS else "waking"


def quiet_since(views: Sequence[TimedView]) -> float:
    """For how many seconds before the last snapshot nothing changed."""
    last = signs(views[-1].view)
    same = list(itertools.takewhile(lambda each: signs(each.view) == last, reversed(views)))
    return same[0].time - same[-1].time


def is_long_enough(view: SnapshotView, seconds: float) -> bool:
    """Whether a stall of so many seconds is likely: a sleep of half a minute is nothing unusual."""
    kind = kind_of_wait({view.main.call, view.blocked.call})
    return view.snapshot.still and seconds >= STALL_SECONDS[kind]


def profile(views: Sequence[TimedView]) -> tuple[Activity, ...]:
    """What the main thread was doing, and in how many of the snapshots, the most frequent first."""
    seen = Counter(_at(each.view) for each in views)
    return tuple(
        Activity(times=times, doing=doing, at=at, feeder=feeder)
        for (doing, at, feeder), times in seen.most_common(MAX_PLACES)
    )


def _at(view: SnapshotView) -> tuple[str, str, str]:
    main = view.main
    inside = main.callback if view.doing == "callback" else main
    feeder = view.feeders[0].place if view.feeders and main.has(EXECUTE) else None
    doing = "keras" if view.doing == "user" and keras_frame(main) is not None else view.doing
    return doing, format_place(inside.place if inside else None), format_place(feeder)


def pace(views: Sequence[TimedView]) -> float | None:
    """Steps per second of fit, from the first snapshot to the last; None where nothing was counted."""
    counted = [(each.time, counters_of(each.view)) for each in views]
    points = [(time, *_position(counters)) for time, counters in counted if "of_fit" in counters]
    steps = seconds = 0.0
    for (t0, epoch0, step0, each), (t1, epoch1, step1, _) in itertools.pairwise(points):
        if each or (epoch1 == epoch0 and step1 >= step0):
            steps += step1 - step0 + (epoch1 - epoch0) * each
            seconds += t1 - t0
    return steps / seconds if steps > 0 and seconds > 0 else None


def _position(counters: Mapping[str, int]) -> tuple[int, int, int]:
    """(epoch, step, steps of an epoch or 0), from zero."""
    step = counters.get("begin_step", counters.get("step", 0))
    return counters.get("epoch", 0), step, counters.get("steps_per_epoch", 0)


def progress(counters: Mapping[str, int], rate: float | None) -> str:
    """epoch 3 of 10, batch 120 of 200; 8.2 steps/s, about 4 min left"""
    if "of_fit" not in counters:
        named = [f"{name} {counters[name]:,}" for name in ("epoch", "step", "iteration", "i") if name in counters]
        return f"its own counters: {', '.join(named)}" if named else ""
    epoch, step, each = _position(counters)
    epochs = counters.get("epochs", 0)
    if "epoch" not in counters:
        return f"before the first of {format_count(epochs, 'epoch')}" if epochs else ""
    text = f"epoch {epoch + 1}" + (f" of {epochs}" if epochs else "")
    if "begin_step" in counters or "step" in counters:
        text += f", batch {step + 1:,}" + (f" of {each:,}" if each else "")
    if rate:
        text += f"; {rate:.3g} steps/s" if rate >= 1 else f"; {format_duration(1 / rate)} per step"
        left = (epochs - epoch) * each - step
        text += f", about {format_duration(left / rate)} left without validation" if each and epochs else ""
    return text
