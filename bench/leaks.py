"""Forecast against real exhaustion of memory, and false alarms of healthy programs: real processes in real limits.

Each leaking program is killed by its control group. Its record is then cut at 30 % of the time from the first step to
the end, and the forecast from that part is compared with what happened. The healthy programs run for a while in the
same limit; nothing may be announced, and no rule about leaks may fire.
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
from laststep.record.events.supervisor import Forecast
from laststep.record.folder import list_runs
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose

LIMIT_MB = 500
LEAKED_MB = 470  # until the end
FITS = ("epochs", "steps", "validation", "cached")  # of Keras, which needs more memory before it begins
HEALTHY_FITS = ("healthy", "healthy cached", "healthy validation")
FIT_LIMIT_MB = 1100
PARALLEL_RUNS = 6
OBSERVED_SHARE = 0.3  # of the time until the end
MAX_ERROR = 0.2  # of the forecast
STEPS_PER_SECOND = 18


def measure(quick: bool) -> dict[str, Any]:
    leaks, healthy = shapes("LEAKS") + list(FITS), shapes("HEALTHY") + list(HEALTHY_FITS)
    seconds = 45 if quick else 120
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home, ThreadPoolExecutor(PARALLEL_RUNS) as pool:
        dying = [pool.submit(leaking, Path(home), shape, seconds) for shape in leaks]
        living = [pool.submit(alarms, Path(home), shape, seconds) for shape in healthy]
        found = {"leaks": [job.result() for job in dying], "healthy": [job.result() for job in living]}
    return {"seconds": seconds, **found}


def shapes(which: str) -> list[str]:
    """The names of the shapes in the program that leaks."""
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
    size = LEAKED_MB / seconds / STEPS_PER_SECOND
    is_fit = shape in FITS + HEALTHY_FITS
    words = ("leak_fit.py", shape, size) if is_fit else ("leak.py", shape, size, most)
    command = recorded(program(*words), place)
    with limited(FIT_LIMIT_MB if is_fit else LIMIT_MB) as group:
        enter = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group), *command]
        subprocess.run(enter, env=environment(), capture_output=True)
    (folder,) = list_runs(str(place))
    return Run.load(folder)


def leaking(home: Path, shape: str, seconds: int) -> dict[str, Any]:
    run = run_in_limit(home, shape, seconds, 20 * seconds)
    begun, died = run.steps[0].time, run.steps[-1].time
    now = begun + OBSERVED_SHARE * (died - begun)
    seen = [sample for sample in run.samples if sample.time <= now]
    leak = find_leak(seen, [event for event in run.events if event.time <= now])
    projection = leak.projection if leak else None
    announced = run.first(Forecast)
    findings = diagnose(run).findings
    return {
        "shape": shape,
        "seconds": died - begun,
        "killed": run.signal == "SIGKILL",
        "left": died - now,
        "projected": projection.seconds if projection else None,
        "error": projection.seconds / (died - now) - 1 if projection else None,
        "step error": _step_error(run, now, projection.step) if projection else None,
        "announced at": (announced.time - begun) / (died - begun) if announced else None,
        "announced error": announced.seconds / (died - announced.time) - 1 if announced and announced.seconds else None,
        "owner": announced.keeps if announced else None,
        "first": findings[0].rule if findings else None,
        "where": bool(findings and findings[0].where),
    }


def _step_error(run: Run, now: float, projected: int | None) -> float | None:
    """In steps: independent of how fast the machine was."""
    done = max(step.number for step in run.steps if step.time <= now)
    left = run.steps[-1].number - done
    return (projected - done) / left - 1 if projected and left else None


def alarms(home: Path, shape: str, seconds: int) -> dict[str, Any]:
    run = run_in_limit(home, shape, seconds, seconds)
    found = [finding.rule for finding in diagnose(run).findings if finding.symptom == "leaked"]
    return {"shape": shape, "announced": len(run.all(Forecast)), "found": found, "code": run.exit_code}


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for leak in found["leaks"]:
        error = "none yet" if leak["error"] is None else f"{leak['error'] * 100:+.0f} %"
        announced = "not announced"
        if leak["announced error"] is not None:
            announced = f"announced at {leak['announced at'] * 100:.0f} %, {leak['announced error'] * 100:+.0f} %"
        steps = f"{leak['step error'] * 100:+.0f} % in steps; " if leak["step error"] is not None else ""
        spread = f"{steps}{announced}; {leak['owner'] or 'no owner'}; {leak['first']}"
        met = leak["error"] is not None and abs(leak["error"]) <= MAX_ERROR
        table.append(Row(f"forecast at 30 %: {leak['shape']}", error, spread, "≤ 20 %", met))
    errors = [abs(leak["error"]) for leak in found["leaks"] if leak["error"] is not None]
    if errors:
        worst = f"worst {max(errors) * 100:.0f} %, {len(errors)} of {len(found['leaks'])}"
        table.append(Row("forecast at 30 %: median error", f"{statistics.median(errors) * 100:.0f} %", worst))
    step_errors = [abs(leak["step error"]) for leak in found["leaks"] if leak["step error"] is not None]
    if step_errors:
        worst = f"worst {max(step_errors) * 100:.0f} %"
        table.append(Row("the same in steps", f"{statistics.median(step_errors) * 100:.0f} %", worst))
    false = [one["shape"] for one in found["healthy"] if one["announced"] or one["found"]]
    share = f"{len(false)} of {len(found['healthy'])}"
    table.append(Row("false alarms in healthy programs", share, ", ".join(false), "0", not false))
    return table
