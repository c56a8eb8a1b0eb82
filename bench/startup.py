"""What laststep adds to a start: `python -c …` bare, under `laststep run`, and with the recorder alone, in turns.

`first statement` is the time from the launch to the program's first own statement; `whole` that of the whole command
(with --quiet: the end is in it, the answer is not); `CPU` the processor time of all its processes, which other programs
on the machine hardly change. The recorder's share is a launch with the recorder's environment and no supervisor.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import figures
from children import environment, recorded
from figures import Row

from laststep.supervisor.command import recorded_environment

TARGET_MS = 150
SAY_TIME = [sys.executable, "-c", "import time; print(time.time())"]


def measure(quick: bool) -> dict[str, Any]:
    arms: dict[str, list[tuple[float, float, float]]] = {"bare": [], "recorder": [], "laststep": []}
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        _once(recorded(SAY_TIME, home), environment())  # so that everything is compiled
        for number in range(6 if quick else 40):
            folder = Path(home) / f"alone-{number}"
            folder.mkdir()
            inside = {**environment(), **_added(folder)}
            arms["bare"].append(_once(SAY_TIME, environment()))
            arms["recorder"].append(_once(SAY_TIME, inside))
            arms["laststep"].append(_once(recorded(SAY_TIME, home), environment()))
    return {
        f"{arm} {what}": figures.summary(
            [(ours[index] - bare[index]) * 1000 for ours, bare in zip(arms[arm], arms["bare"], strict=True)]
        )
        for arm in ("recorder", "laststep")
        for index, what in enumerate(("first statement", "whole", "CPU"))
    } | {"bare whole": figures.summary([whole * 1000 for _, whole, _ in arms["bare"]])}


def _added(folder: Path) -> dict[str, str]:
    ours = recorded_environment(folder)
    return {name: ours[name] for name in ("LASTSTEP_RECORD", "PYTHONPATH", "LASTSTEP_PYTHONPATH") if name in ours}


def _once(command: list[str], env: dict[str, str]) -> tuple[float, float, float]:
    """Seconds to the first statement, to the end, and of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, clock = time.time(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, env=env, check=True)
    whole = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return float(done.stdout) - began, whole, cpu


def rows(found: dict[str, Any]) -> list[Row]:
    bare = found["bare whole"]["median"]
    names = {"recorder": "recorder alone", "laststep": "laststep run"}
    table = []
    for name, values in found.items():
        arm, _, what = name.partition(" ")
        if arm == "bare":
            continue
        table.append(
            Row(
                f"start-up: {names[arm]}, {what} (bare {bare:.0f} ms)",
                f"{values['median']:+.0f} ms ± {values['margin']:.0f}",
                f"IQR {values['low']:+.0f} … {values['high']:+.0f} ms, n={values['rounds']}",
                f"≤ {TARGET_MS} ms" if what == "first statement" else "",
                _met(values) if what == "first statement" else None,
            )
        )
    return table


def _met(values: dict[str, Any]) -> bool | None:
    if values["median"] + values["margin"] <= TARGET_MS:
        return True
    return False if values["median"] - values["margin"] > TARGET_MS else None
