"""What several looks at a process from outside tell together: whether it moves, where it is, how fast it goes."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from laststep import text as words
from laststep.analysis.stacks import EXECUTE, LONG_ENOUGH, SnapshotView, ThreadView, kind_of_wait
from laststep.record.events.shared import Frame
from laststep.record.events.stacks import Activity

_KERAS = re.compile(r"keras/src/(?:backend/\w+/trainer|engine/training(?:_v1)?)\.py$")
_OF_KERAS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
MOST_PLACES = 4
OVERDUE = 5.0  # steps that should have been done meanwhile, before a pace is called over
SELDOM = 1.0  # wake-ups per second: one that waits with a timeout of some seconds, again and again, is stuck too
FEWEST = 3  # looks from which anything is concluded


@dataclass(frozen=True)
class Glimpse:
    """One look at the stacks, and when."""

    time: float
    view: SnapshotView


def keras_frame(main: ThreadView) -> Frame | None:
    """The frame of Keras's own loop, the innermost one: evaluate inside fit is evaluate."""
    return next((frame for frame in main.frames if _is_keras(frame)), None)


def _is_keras(frame: Frame) -> bool:
    return frame.function in _OF_KERAS and bool(_KERAS.search(frame.file))


def phase_of(view: SnapshotView) -> str:
    """The names that the record of a run from inside uses, where they are known; words of our own elsewhere."""
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
    """What a training step may wait for differs: the first one is built, the first of an epoch fills buffers."""
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
    """What differs as soon as anything has moved: counters, the main thread's lines, those of its feeders."""
    counted = [sorted(frame.counters.items()) for frame in view.main.frames]
    return (counted, _lines(view.main), sorted(_lines(thread) for thread in view.feeders))


def _lines(thread: ThreadView) -> list[tuple[str, int]]:
    return [(frame.file, frame.line) for frame in thread.frames]


def state_of(glimpses: Sequence[Glimpse], idle: bool, wakes: float) -> str:
    """moving; stuck: idle at one place all the while; busy: it computes at one place; waking: it waits there, and
    runs a little in between, as a slow loop does and one that asks again and again; unseen: too few looks."""
    views = [glimpse.view for glimpse in glimpses]
    if len(views) < FEWEST:
        return "unseen"
    if all(view.doing == "trace" for view in views):
        return "busy"
    if any(signs(view) != signs(views[0]) for view in views):
        return "moving"
    if not idle:
        return "busy"
    return "stuck" if wakes <= SELDOM else "waking"


def quiet_since(glimpses: Sequence[Glimpse]) -> float:
    """For how many seconds, up to the last look, nothing has changed any more."""
    last = signs(glimpses[-1].view)
    same = list(itertools.takewhile(lambda glimpse: signs(glimpse.view) == last, reversed(glimpses)))
    return same[0].time - same[-1].time


def is_long_enough(view: SnapshotView, seconds: float) -> bool:
    """Whether that was long enough to call it likely: a sleep of half a minute is nothing strange."""
    kind = kind_of_wait({view.main.call, view.blocked.call})
    return view.snapshot.still and seconds >= LONG_ENOUGH[kind]


def profile(glimpses: Sequence[Glimpse]) -> tuple[Activity, ...]:
    """In how many of the looks the main thread was at what, the most frequent first."""
    seen = Counter(_at(glimpse.view) for glimpse in glimpses)
    return tuple(
        Activity(times=times, doing=doing, at=at, feeder=feeder)
        for (doing, at, feeder), times in seen.most_common(MOST_PLACES)
    )


def _at(view: SnapshotView) -> tuple[str, str, str]:
    main = view.main
    inside = main.callback if view.doing == "callback" else main
    feeder = view.feeders[0].place if view.feeders and main.has(EXECUTE) else None
    doing = "keras" if view.doing == "user" and keras_frame(main) is not None else view.doing
    return doing, words.place(inside.place if inside else None), words.place(feeder)


def pace(glimpses: Sequence[Glimpse]) -> float | None:
    """Steps per second of fit, from the first look to the last; None where nothing was counted."""
    counted = [(glimpse.time, counters_of(glimpse.view)) for glimpse in glimpses]
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
    """epoch 3 of 10, batch 120 of 200; 8.2 steps a second; about 4 min to go"""
    if "of_fit" not in counters:
        named = [f"{name} is {counters[name]:,}" for name in ("epoch", "step", "iteration", "i") if name in counters]
        return f"by its own variables, {' and '.join(named)}" if named else ""
    epoch, step, each = _position(counters)
    epochs = counters.get("epochs", 0)
    text = f"epoch {epoch + 1}" + (f" of {epochs}" if epochs else "")
    if "epoch" not in counters:
        return f"before the first of {words.count(epochs, 'epoch')}" if epochs else ""
    if "begin_step" in counters or "step" in counters:
        text += f", batch {step + 1:,}" + (f" of {each:,}" if each else "")
    if rate:
        text += f"; {rate:.3g} steps/s" if rate >= 1 else f"; {words.span(1 / rate)} a step"
        left = (epochs - epoch) * each - step
        text += f", so about {words.span(left / rate)} to go, validation not counted" if each and epochs else ""
    return text
