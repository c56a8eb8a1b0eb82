"""Forecasts of memory's end against the real end, and alarms in healthy programs: real processes in real limits.

Each leaking program is killed by its control group. Its record is then cut at 30 % of the way (of the time from the
first step to the end), and the forecast that can be made from that part is compared with what happened. The healthy
ones run for a while in the same limit; nothing may be said, and no rule of the leaks may fire.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from children import PROGRAMS, environment, program, recorded
from figures import Row

from laststep.analysis.leaks import find_leak
from laststep.record.events.supervisor import Forecast as ForecastEvent
from laststep.record.folder import list_runs
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose

LIMIT_MB = 500
HEADROOM_MB = 470  # of it, for the program
FITS = ("epochs", "steps", "validation", "cached")  # of Keras, which needs more memory at its start
HEALTHY_FITS = ("healthy", "healthy cached", "healthy validation")
LIMIT_OF_FIT = 1100
AT_ONCE = 6
WAY = 0.3
TARGET = 0.2
STEPS_PER_SECOND = 18


def measure(quick: bool) -> dict[str, Any]:
    leaks, healthy = shapes("LEAKS") + list(FITS), shapes("HEALTHY") + list(HEALTHY_FITS)
    seconds = 45 if quick else 120
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home, ThreadPoolExecutor(AT_ONCE) as pool:
        dying = [pool.submit(leaking, Path(home), shape, seconds) for shape in leaks]
        living = [pool.submit(alarms, Path(home), shape, seconds) for shape in healthy]
        found = {"leaks": [job.result() for job in dying], "healthy": [job.result() for job in living]}
    return {"seconds": seconds, **found}


def shapes(which: str) -> list[str]:
    """The names in the program, which runs in another process."""
    names: dict[str, Any] = {"__name__": "leak"}
    exec(compile((PROGRAMS / "leak.py").read_text(), "leak.py", "exec"), names)
    return list(names[which])


@contextlib.contextmanager
def limited(megabytes: int) -> Iterator[Path]:
    root = Path("/sys/fs/cgroup")
    version1 = (root / "memory/memory.limit_in_bytes").exists()
    folder = (root / "memory" if version1 else root) / f"laststep-bench-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    try:
        (folder / ("memory.limit_in_bytes" if version1 else "memory.max")).write_text(str(megabytes * 10**6))
        yield folder / "cgroup.procs"
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def run_in_limit(home: Path, shape: str, seconds: int, most: int) -> Run:
    place = home / shape.replace(" ", "-")
    size = HEADROOM_MB / seconds / STEPS_PER_SECOND
    is_fit = shape in FITS + HEALTHY_FITS
    words = ("leak_fit.py", shape, size) if is_fit else ("leak.py", shape, size, most)
    command = recorded(program(*words), place)
    with limited(LIMIT_OF_FIT if is_fit else LIMIT_MB) as group:
        enter = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group), *command]
        subprocess.run(enter, env=environment(), capture_output=True)
    (folder,) = list_runs(str(place))
    return Run.load(folder)


def leaking(home: Path, shape: str, seconds: int) -> dict[str, Any]:
    run = run_in_limit(home, shape, seconds, 20 * seconds)
    begun, died = run.steps[0].time, run.steps[-1].time
    now = begun + WAY * (died - begun)
    seen = [sample for sample in run.samples if sample["t"] <= now]
    leak = find_leak(seen, [event for event in run.events if event.time <= now])
    forecast = leak.forecast if leak else None
    event = run.first(ForecastEvent)
    findings = diagnose(run).findings
    return {
        "shape": shape,
        "seconds": died - begun,
        "killed": run.signal == "SIGKILL",
        "left": died - now,
        "foretold": forecast.seconds if forecast else None,
        "error": forecast.seconds / (died - now) - 1 if forecast else None,
        "step error": _step_error(run, now, forecast.step) if forecast else None,
        "said at": (event.time - begun) / (died - begun) if event else None,
        "said error": event.seconds / (died - event.time) - 1 if event and event.seconds is not None else None,
        "keeps": event.keeps if event else None,
        "first": findings[0].rule if findings else None,
        "where": bool(findings and findings[0].where),
    }


def _step_error(run: Run, now: float, predicted: int | None) -> float | None:
    """In steps, so that other programs that slow the machine down do not matter."""
    done = max(step.number for step in run.steps if step.time <= now)
    left = run.steps[-1].number - done
    return (predicted - done) / left - 1 if predicted and left else None


def alarms(home: Path, shape: str, seconds: int) -> dict[str, Any]:
    run = run_in_limit(home, shape, seconds, seconds)
    found = [finding.rule for finding in diagnose(run).findings if finding.symptom == "leaked"]
    return {"shape": shape, "said": len(run.all(ForecastEvent)), "found": found, "code": run.exit_code}


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for leak in found["leaks"]:
        error = "none yet" if leak["error"] is None else f"{leak['error'] * 100:+.0f} %"
        said = "not said"
        if leak["said at"]:
            said = f"said at {leak['said at'] * 100:.0f} %, {leak['said error'] * 100:+.0f} %"
        steps = f"{leak['step error'] * 100:+.0f} % in steps; " if leak["step error"] is not None else ""
        spread = f"{steps}{said}; {leak['keeps'] or 'no owner'}; {leak['first']}"
        met = leak["error"] is not None and abs(leak["error"]) <= TARGET
        table.append(Row(f"forecast at 30 %: {leak['shape']}", error, spread, "≤ 20 %", met))
    errors = [abs(leak["error"]) for leak in found["leaks"] if leak["error"] is not None]
    if errors:
        worst = f"worst {max(errors) * 100:.0f} %, {len(errors)} of {len(found['leaks'])}"
        table.append(Row("forecast at 30 %: median error", f"{statistics.median(errors) * 100:.0f} %", worst))
    steps = [abs(leak["step error"]) for leak in found["leaks"] if leak["step error"] is not None]
    if steps:
        worst = f"worst {max(steps) * 100:.0f} %"
        table.append(Row("the same in steps", f"{statistics.median(steps) * 100:.0f} %", worst))
    false = [one["shape"] for one in found["healthy"] if one["said"] or one["found"]]
    shown = f"{len(false)} of {len(found['healthy'])}"
    table.append(Row("false alarms in healthy programs", shown, ", ".join(false), "0", not false))
    return table
