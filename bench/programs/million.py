"""Say many steps in a recorded process, then how long one took and how large the folder is: million.py STEPS."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import laststep
from laststep.record.folder import size_of
from laststep.recorder import state
from laststep.recorder.probes.keras_fit import Callback

CALLS = 20000


class Nothing:
    """The same two calls with nothing in them."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        return None

    on_train_batch_end = on_train_batch_begin


def microseconds(callback: Any) -> float:
    logs = {"loss": 0.5, "accuracy": 0.5}
    began = time.perf_counter()
    for batch in range(CALLS):
        callback.on_train_batch_begin(batch)
        callback.on_train_batch_end(batch, logs)
    return (time.perf_counter() - began) / CALLS * 1e6


def begun(recorder: state.Recorder) -> Callback:
    """A callback in the state that a fit's beginning leaves it in."""
    callback = Callback(recorder)
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    return callback


def hook_cost(callback: Callable[[], Any]) -> list[float]:
    return [microseconds(callback()) - microseconds(Nothing()) for _ in range(9)]


def main(steps: int) -> dict[str, Any]:
    recorder = state.current
    assert recorder is not None
    began = time.perf_counter()
    for number in range(steps):
        laststep.step(loss=number)
    seconds = time.perf_counter() - began
    assert recorder.count == steps
    return {
        "step_us": seconds / steps * 1e6,
        "living_bytes": size_of(Path(recorder.folder)),
        "keras_us": hook_cost(lambda: begun(recorder)),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]))) + "\n")
