"""Training for a moment on one pipeline: through the program's own fit, timed by a callback, nothing else in it."""

from __future__ import annotations

import gc
import itertools
import statistics
import sys
import time
from typing import Any, NamedTuple

WARM = 0.4  # seconds of each turn that are not counted: the pipeline starts anew, and its buffers are filled
FEWEST = 4  # steps
MANY_EPOCHS = 5
STALL = 5.0  # times the middle epoch
KEPT = ("steps_per_epoch", "class_weight", "shuffle", "batch_size", "sample_weight", "y")


class TurnResult(NamedTuple):
    """What one turn gave: steps and the seconds they took; (seconds, steps) of a whole epoch, where one was seen."""

    steps: int
    seconds: float
    epoch: tuple[float, int] | None = None


class RepeatedFit:
    """The fit that the program asked for, to be called again and again."""

    def __init__(self, original: Any, model: Any, asked: dict[str, Any]) -> None:
        self.original, self.model, self.asked = original, model, asked
        self.steps_at_once = _steps_at_once(model)
        self.whole_epochs = False

    def turn(self, data: Any, seconds: float, more: dict[str, Any], longest: float | None = None) -> TurnResult:
        """Train on this data until so many seconds are counted."""
        clock = _clock_of(self.model)(seconds, self.whole_epochs, longest)
        given = {name: self.asked[name] for name in KEPT if self.asked.get(name) is not None}
        x = iter(data) if type(data).__name__ == "SharedGenerator" else data
        given.update({"verbose": 0, "epochs": 10**6, "callbacks": [clock], "x": x} | more)
        self.original(self.model, **{name: value for name, value in given.items() if value is not None})
        # Keras's iterators hold each other: until they are collected, their threads go on making batches for nobody.
        gc.collect()
        steps, spent = clock.counted()
        return TurnResult(steps * self.steps_at_once, spent, clock.last_epoch())


def _steps_at_once(model: Any) -> int:
    value = getattr(model, "steps_per_execution", None) or getattr(model, "_steps_per_execution", None) or 1
    return int(value.numpy()) if hasattr(value, "numpy") else int(value)


def _clock_of(model: Any) -> Any:
    """Our clock, as a callback of the library that the model belongs to."""
    tf_keras = any(kind.__module__.startswith("tf_keras.") for kind in type(model).__mro__)
    base = sys.modules["tf_keras.src.callbacks" if tf_keras else "keras.src.callbacks.callback"].Callback
    return type("Clock", (_Clock, base), {})


class _Clock:
    """Marks the beginning of each step: Keras then keeps its own way of ending them."""

    model: Any

    def __init__(self, seconds: float, whole_epochs: bool, longest: float | None) -> None:
        super().__init__()
        self.seconds, self.whole_epochs = seconds, whole_epochs
        self.longest = longest or 4 * (seconds + WARM)
        self.marks: list[float] = []
        self.first: int | None = None  # of the marks: where counting begins
        self.epochs: list[tuple[float, int]] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epochs.append((time.perf_counter(), len(self.marks)))
        if self.whole_epochs and len(self.epochs) > 1 and self.epochs[-1][0] - self.epochs[0][0] > self.seconds:
            self.model.stop_training = True
        if len(self.epochs) > 1 and self.epochs[-1][1] == self.epochs[-2][1]:
            self.model.stop_training = True  # an epoch without a step: the data is gone, and would be for ever
        self._end_if_late()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        now = time.perf_counter()
        self.marks.append(now)
        if self.first is None:
            # Not the first step of all, which waits for the pipeline to start (and, once, for TensorFlow to trace).
            warm = len(self.marks) > 2 and now - self.marks[1] >= min(WARM, self.longest / 4)
            self.first = len(self.marks) - 1 if warm else None
        elif not self.whole_epochs and now - self.marks[self.first] > self.seconds:
            self.model.stop_training = self.model.stop_training or len(self.marks) - self.first > FEWEST
        self._end_if_late()

    def _end_if_late(self) -> None:
        """Long steps: fewer of them, rather than many minutes."""
        if len(self.marks) > 3 and time.perf_counter() - self.marks[1] > self.longest:
            self.model.stop_training = True

    def counted(self) -> tuple[int, float]:
        if self.whole_epochs and len(self.epochs) > 1:
            steps = self.epochs[-1][1] - self.epochs[0][1]
            lengths = [after - before for (before, _), (after, _) in itertools.pairwise(self.epochs)]
            return steps, usual_length(lengths) * len(lengths)
        if self.first is None:
            return 0, 0.0
        return len(self.marks) - 1 - self.first, self.marks[-1] - self.marks[self.first]

    def last_epoch(self) -> tuple[float, int] | None:
        """(seconds, steps) of the last whole epoch; of the first one without its first step."""
        if len(self.epochs) < 2 or len(self.marks) < 2:
            return None
        (first, before), (last, after) = self.epochs[-2:]
        return (last - first if before else last - self.marks[1]), after - before


def usual_length(lengths: list[float]) -> float:
    """The mean epoch. TensorFlow often waits a little at an epoch's end, and that counts; a single stall does not."""
    if len(lengths) < MANY_EPOCHS:
        return statistics.fmean(lengths)
    return statistics.fmean(length for length in lengths if length <= STALL * statistics.median(lengths))
