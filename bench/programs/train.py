"""A training that times its own steps, the same whether recorded or not: train.py JSON-PLAN, or train.py calibrate."""

from __future__ import annotations

import json
import sys
from typing import Any

import work

LENGTHS = {"1": 1500, "10": 200}
QUICK_LENGTHS = {"1": 600, "10": 60}


def calibrate(quick: bool) -> list[list[Any]]:
    """[mode, milliseconds, multiplications, steps] of each phase."""
    lengths = QUICK_LENGTHS if quick else LENGTHS
    return [
        [mode, ms, work.calibrate(mode, float(ms)), steps]
        for mode in ("fit", "loop-function")
        for ms, steps in lengths.items()
    ]


def train(plan: list[list[Any]]) -> dict[str, Any]:
    found = {}
    for mode, ms, times, steps in plan:
        chunk = work.make_chunk(mode, times)
        chunk(work.SKIP + 3)
        found[f"{mode} {ms} ms"] = chunk(steps)
    return found


if __name__ == "__main__":
    word = sys.argv[1]
    result = calibrate(word == "calibrate-quick") if word.startswith("calibrate") else train(json.loads(word))
    sys.stdout.write("\n" + json.dumps(result) + "\n")
