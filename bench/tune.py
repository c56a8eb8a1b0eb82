"""Gains predicted by `laststep tune` against the real gain of the changed program.

Each case of bench/programs/pipelines.py is recorded, tuned, and then run with and without the change, in turns.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from children import LASTSTEP, environment, program, recorded, run_command
from figures import Row

# case → the name in `laststep tune` of the change that the program can make
CASES = {
    "python that waits": "run the map in parallel",
    "python that computes": "run the map in parallel",
    "random pictures": "run the map in parallel",
    "random pictures, shuffled": "run the map in parallel",
    "a heavy map, every epoch": "keep the result in memory",
    "pictures decoded, every epoch": "keep the result in memory",
    "one row at a time": "map whole batches",
    "compressed shards": "read several files at once",
    "shards one after the other": "read several files at once",
    "no prefetch": "fetch the next batch meanwhile",
    "a PyDataset that waits": "2 threads make batches",
}
TARGET = 0.8


def measure(quick: bool) -> dict[str, Any]:
    return {case: one(case, change, 1 if quick else 3) for case, change in CASES.items()}


def one(case: str, change: str, rounds: int) -> dict[str, Any]:
    command = program("pipelines.py", case)
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        foretold = tuned(command, Path(home), change)
    pairs = [(run_command(command)["seconds"], run_command([*command, "changed"])["seconds"]) for _ in range(rounds)]
    real = statistics.median(before / after for before, after in pairs)
    inside = bool(foretold) and foretold[0] <= real <= foretold[1]
    return {"foretold": foretold, "real": real, "inside": inside, "seconds": pairs}


def tuned(command: list[str], home: Path, change: str) -> list[float] | None:
    """The predicted range for this change; None if there is none."""
    subprocess.run(recorded(command, home), env=environment(), capture_output=True, check=True)
    command = [*LASTSTEP, "tune", "--json", "--dir", str(home)]
    answer = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    changes = json.loads(answer.stdout)["changes"]
    return next((found["gain"] for found in changes if found["change"] == change), None)


def rows(found: dict[str, Any]) -> list[Row]:
    table = [
        Row(f"{case}: {CASES[case]}", f"{one['real']:.2f} times as fast", _range(one["foretold"]), "in the range",
            one["inside"])
        for case, one in found.items()
    ]  # fmt: skip
    share = statistics.fmean(one["inside"] for one in found.values())
    return [*table, Row("all of them", f"{share:.0%} in the range", f"n={len(found)}", "≥ 80 %", share >= TARGET)]


def _range(foretold: list[float] | None) -> str:
    return f"predicted {foretold[0]:.2f} … {foretold[1]:.2f}" if foretold else "no prediction"
