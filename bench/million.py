"""The folder after a million steps, and the microseconds that one recorded step takes by itself."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

from children import program, recorded, run_command
from figures import Row

from laststep.record.folder import list_runs, size_of
from laststep.record.run import Run

TARGET = 64_000_000


def measure(quick: bool) -> dict[str, Any]:
    steps = 200_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        found: dict[str, Any] = run_command(recorded(program("million.py", steps), home))
        folder = list_runs(home)[0]
        kept = {step.number for step in Run.load(Path(folder)).steps}
        newest = max(kept)
        found |= {
            "steps": steps,
            "ended_bytes": size_of(folder),
            "kept": len(kept),
            "newest_missing": sum(1 for number in range(newest - 65535, newest + 1) if number not in kept),
        }
    found["keras_us"] = statistics.median(found["keras_us"])
    return found


def rows(found: dict[str, Any]) -> list[Row]:
    size = f"{found['living_bytes'] / 1e6:.1f} MB living, {found['ended_bytes'] / 1e6:.1f} MB after the end"
    largest = max(found["living_bytes"], found["ended_bytes"])
    return [
        Row(
            f"folder after {found['steps']:,} steps",
            size,
            f"{found['kept']:,} steps kept",
            "≤ 64 MB",
            largest <= TARGET,
        ),
        Row("newest 65,536 steps missing", str(found["newest_missing"]), "", "0", found["newest_missing"] == 0),
        Row("laststep.step()", f"{found['step_us']:.2f} µs"),
        Row("the Keras hooks of a step, by themselves, caches warm", f"{found['keras_us']:.2f} µs"),
    ]
