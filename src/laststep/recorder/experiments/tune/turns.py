"""Training briefly on one pipeline: through the program's own fit, timed by a callback."""

from __future__ import annotations

import gc
import itertools
import statistics
import sys
import time
from typing import Any, NamedTuple

WARM_UP_SECONDS = 0.4  # at the start of each turn, not counted: the pipeline restarts and fills its buffers
MIN_STEPS = 4  # in a turn
MIN_EPOCHS_FOR_STALL = 5  # from so many epochs on, a single stall is left out
STALL_FACTOR = 5.0  # times the median epoch
KEPT_ARGUMENTS = ("steps_per_epoch", "class_weight", "shuffle", "batch_size", "sample_weight", "y")


class TurnResult(NamedTuple):
    """Steps and the seconds they took; (seconds, steps) of a whole epoch, if there was one."""

    steps: int
    seconds: float
    epoch: tuple[float, int] | None = None


class RepeatedFit:
    """The program's fit, to be called repeatedly."""

    def __init__(self, original: Any, model: Any, arguments: dict[str, Any]) -> None:
        self.original, self.model, self.arguments = original, model, arguments
        self.steps_per_execution = _steps_per_execution(model)
        self.whole_epochs = False

    def turn(
        self, data: Any, seconds: float, other_arguments: dict[str, Any], max_seconds: float | None = None
    ) -> TurnResult:
        """Train on this data until this many seconds are counted."""
        clock = _clock_class(self.model)(seconds, self.whole_epochs, max_seconds)
        fit_arguments = {name: self.arguments[name] for name in KEPT_ARGUMENTS if self.arguments.get(name) is not None}
        x = iter(data) if type(data).__name__ == "SharedGenerator" else data
        fit_arguments.update({"verbose": 0, "epochs": 10**6, "callbacks": [clock], "x": x} | other_arguments)
        self.original(self.model, **{name: value for name, value in fit_arguments.items() if value is not None})
        # Keras's iterators reference each other: until they are collected, their threads keep producing batches.
        gc.collect()
        steps, spent = clock.counted()
        return TurnResult(steps * self.steps_per_execution, spent, clock.last_epoch())


def _steps_per_execution(model: Any) -> int:
    value = getattr(model, "steps_per_execution", None) or getattr(model, "_steps_per_execution", None) or 1
    return int(value.numpy()) if hasattr(value, "numpy") else int(value)


def _clock_class(model: Any) -> Any:
    """Our clock, as a callback class of the library that the model belongs to."""
    tf_keras = any(kind.__module__.startswith("tf_keras.") for kind in type(model).__mro__)
    base = sys.modules["tf_keras.src.callbacks" if tf_keras else "keras.src.callbacks.callback"].Callback
    return type("Clock", (_Clock, base), {})


class _Clock:
    """Records the beginning of each step, so that Keras's own way of ending steps is unchanged."""

    model: Any

    def __init__(self, seconds: float, whole_epochs: bool, max_seconds: float | None) -> None:
        super().__init__()
        self.seconds, self.whole_epochs = seconds, whole_epochs
        self.max_seconds = max_seconds or 4 * (seconds + WARM_UP_SECONDS)
        self.marks: list[float] = []
        self.first: int | None = None  # index of the mark at which counting begins
        self.epochs: list[tuple[float, int]] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epochs.append((time.perf_counter(), len(self.marks)))
        if self.whole_epochs and len(self.epochs) > 1 and self.epochs[-1][0] - self.epochs[0][0] > self.seconds:
            self.model.stop_training = True
        if len(self.epochs) > 1 and self.epochs[-1][1] == self.epochs[-2][1]:
            self.model.stop_training = True  # an epoch without a step: the data is exhausted for good
        self._end_if_late()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        now = time.perf_counter()
        self.marks.append(now)
        if self.first is None:
            # Not the very first step, which waits for the pipeline to start (and once for TensorFlow to trace).
            is_warm = len(self.marks) > 2 and now - self.marks[1] >= min(WARM_UP_SECONDS, self.max_seconds / 4)
            self.first = len(self.marks) - 1 if is_warm else None
        elif not self.whole_epochs and now - self.marks[self.first] > self.seconds:
            self.model.stop_training = self.model.stop_training or len(self.marks) - self.first > MIN_STEPS
        self._end_if_late()

    def _end_if_late(self) -> None:
        """If steps are long: fewer of them instead of many minutes."""
        if len(self.marks) > 3 and time.perf_counter() - self.marks[1] > self.max_seconds:
            self.model.stop_training = True

    def counted(self) -> tuple[int, float]:
        if self.whole_epochs and len(self.epochs) > 1:
            steps = self.epochs[-1][1] - self.epochs[0][1]
            lengths = [after - before for (before, _), (after, _) in itertools.pairwise(self.epochs)]
            return steps, typical_length(lengths) * len(lengths)
        if self.first is None:
            return 0, 0.0
        return len(self.marks) - 1 - self.first, self.marks[-1] - self.marks[self.first]

    def last_epoch(self) -> tuple[float, int] | None:
        """(seconds, steps) of the last whole epoch; for the first epoch, without its first step."""
        if len(self.epochs) < 2 or len(self.marks) < 2:
            return None
        (first, before), (last, after) = self.epochs[-2:]
        return (last - first if before else last - self.marks[1]), after - before


def typical_length(lengths: list[float]) -> float:
    """The mean epoch. TensorFlow often waits a little at the end of an epoch, which counts; a single stall does not."""
    if len(lengths) < MIN_EPOCHS_FOR_STALL:
        return statistics.fmean(lengths)
    return statistics.fmean(length for length in lengths if length <= STALL_FACTOR * statistics.median(lengths))
