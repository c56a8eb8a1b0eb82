"""A training that times its own steps, the same whether recorded or not: train.py MODE MULTIPLICATIONS SECONDS.

`train.py calibrate MODE MILLISECONDS` finds how many multiplications make a step of that length.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import work

FIRST = 3.0  # seconds


def train(mode: str, times: int, seconds: float) -> dict[str, Any]:
    ends: list[float] = []
    cpu: list[float] = []

    def ended() -> bool:
        ends.append(time.perf_counter())
        cpu.append(time.process_time())
        return ends[-1] - ends[0] > seconds

    work.train_until(mode, times, ended)
    split = int(np.searchsorted(np.array(ends) - ends[0], FIRST))
    return {"first": _window(ends[:split], cpu[:split]), "all": _window(ends, cpu)}


def _window(ends: list[float], cpu: list[float]) -> dict[str, float]:
    steps = len(ends) - 1
    median = float(np.median(np.diff(ends)))
    return {"median": median, "mean": (ends[-1] - ends[0]) / steps, "cpu": (cpu[-1] - cpu[0]) / steps}


if __name__ == "__main__":
    first, second, third = sys.argv[1:]
    if first == "calibrate":
        result: Any = work.calibrate(second, float(third))
    else:
        result = train(first, int(second), float(third))
    sys.stdout.write("\n" + json.dumps(result) + "\n")
