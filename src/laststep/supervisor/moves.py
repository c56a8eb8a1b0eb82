"""What several looks at a process from outside tell together: whether it moves, where it is, how fast it goes."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laststep import text as words
from laststep.analysis.stacks import EXECUTE, LONG_ENOUGH, Look, Thread, kind_of_wait
from laststep.recorder.frames import is_users

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
    look: Look


def keras_frame(main: Thread) -> Mapping[str, Any] | None:
    """The frame of Keras's own loop, the innermost one: evaluate inside fit is evaluate."""
    return next((f for f in main.frames if _is_keras(f)), None)


def _is_keras(frame: Mapping[str, Any]) -> bool:
    return frame.get("function") in _OF_KERAS and bool(_KERAS.search(str(frame.get("file"))))


def phase_of(look: Look) -> str:
    """The names that the record of a run from inside uses, where they are known; words of our own elsewhere."""
    main = look.main
    asked = [str(frame["function"]) for frame in main.frames if _is_keras(frame)]
    if look.doing == "trace":
        return "trace"
    if look.doing == "save":
        return "save"
    if asked and main.callback is not None:
        return "a callback"
    if asked[:1] == ["evaluate"] and "fit" in asked:
        return "validation"
    if asked[:1] == ["fit"]:
        return _place_in_epoch(keras_frame(main) or {})
    if asked:
        return asked[0]
    return "loop" if main.has(EXECUTE) or look.waits_for_data else "the program's own code"


def _place_in_epoch(frame: Mapping[str, Any]) -> str:
    """What a training step may wait for differs: the first one is built, the first of an epoch fills buffers."""
    told = frame.get("counters") or {}
    step = told.get("begin_step", told.get("step"))
    if step is None and "epoch" not in told:
        return "the start of fit"
    if step:
        return "step"
    return "first step" if told.get("epoch", 0) == told.get("initial_epoch", 0) else "epoch start"


def counters_of(look: Look) -> dict[str, int]:
    """Where the loop is: Keras's own counters, or those of the program's own loop."""
    for frame in look.main.frames:
        if frame.get("function") == "fit" and _is_keras(frame) and frame.get("counters"):
            return {"of_fit": 1, **frame["counters"]}
    for frame in look.main.frames:
        if frame.get("counters") and is_users(str(frame.get("file"))):
            return dict(frame["counters"])
    return {}


def signs(look: Look) -> tuple[Any, ...]:
    """What differs as soon as anything has moved: counters, the main thread's lines, those of its feeders."""
    counted = [tuple(sorted((f.get("counters") or {}).items())) for f in look.main.frames]
    return (counted, _lines(look.main), sorted(_lines(thread) for thread in look.feeders))


def _lines(thread: Thread) -> list[tuple[str, int]]:
    return [(str(frame.get("file")), frame.get("line") or 0) for frame in thread.frames]


def state_of(glimpses: Sequence[Glimpse], idle: bool, wakes: float) -> str:
    """moving; stuck: idle at one place all the while; busy: it computes at one place; waking: it waits there, and
    runs a little in between, as a slow loop does and one that asks again and again; unseen: too few looks."""
    looks = [glimpse.look for glimpse in glimpses]
    if len(looks) < FEWEST:
        return "unseen"
    if all(look.doing == "trace" for look in looks):
        return "busy"
    if any(signs(look) != signs(looks[0]) for look in looks):
        return "moving"
    if not idle:
        return "busy"
    return "stuck" if wakes <= SELDOM else "waking"


def quiet_since(glimpses: Sequence[Glimpse]) -> float:
    """For how many seconds, up to the last look, nothing has changed any more."""
    last = signs(glimpses[-1].look)
    same = list(itertools.takewhile(lambda glimpse: signs(glimpse.look) == last, reversed(glimpses)))
    return same[0].time - same[-1].time


def is_long_enough(look: Look, seconds: float) -> bool:
    """Whether that was long enough to call it likely: a sleep of half a minute is nothing strange."""
    kind = kind_of_wait({look.main.call, look.blocked.call})
    return bool(look.data.get("still")) and seconds >= LONG_ENOUGH[kind]


def profile(glimpses: Sequence[Glimpse]) -> list[dict[str, Any]]:
    """In how many of the looks the main thread was at what, the most frequent first."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for glimpse in glimpses:
        seen[_at(glimpse.look)] += 1
    most = seen.most_common(MOST_PLACES)
    return [{"times": times, "doing": doing, "at": at, "feeder": feeder} for (doing, at, feeder), times in most]


def _at(look: Look) -> tuple[str, str, str]:
    main = look.main
    inside = main.callback if look.doing == "callback" else main
    feeder = look.feeders[0].place if look.feeders and main.has(EXECUTE) else None
    doing = "keras" if look.doing == "user" and keras_frame(main) is not None else look.doing
    return doing, words.place(inside.place if inside else None), words.place(feeder)


def pace(glimpses: Sequence[Glimpse]) -> float | None:
    """Steps per second of fit, from the first look to the last; None where nothing was counted."""
    told = [(glimpse.time, counters_of(glimpse.look)) for glimpse in glimpses]
    points = [(time, *_position(counters)) for time, counters in told if "of_fit" in counters]
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
    told = f"epoch {epoch + 1}" + (f" of {epochs}" if epochs else "")
    if "epoch" not in counters:
        return f"before the first of {words.count(epochs, 'epoch')}" if epochs else ""
    if "begin_step" in counters or "step" in counters:
        told += f", batch {step + 1:,}" + (f" of {each:,}" if each else "")
    if rate:
        told += f"; {rate:.3g} steps/s" if rate >= 1 else f"; {words.span(1 / rate)} a step"
        left = (epochs - epoch) * each - step
        told += f", so about {words.span(left / rate)} to go, validation not counted" if each and epochs else ""
    return told
