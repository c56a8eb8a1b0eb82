"""How soon a hang is reported, and with which cause: every scenario of tests/ that really hangs, under `laststep run`.

Counted from the last move that the program itself wrote down (a step, the beginning of a phase) until the lines with
the cause have arrived on stderr. The promise: within 10 s, or 5 times the slowest normal of that phase, and 5 s more.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from children import LASTSTEP
from figures import Row

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from laststep.record.events.stacks import Stall
from laststep.record.folder import list_runs
from laststep.record.follow import Follower
from laststep.record.run import Run
from tests import harness

AT_ONCE = 4  # a program that hangs leaves its core to the others
FLOOR, TIMES, CAUSE = 10.0, 5.0, 5.0
NOTICE = b"laststep: no progress"


def measure(quick: bool) -> dict[str, Any]:
    harness.default_signals()
    asked = [each for each in harness.all_scenarios() if each.stall and not each.needs and not each.memory]
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home, ThreadPoolExecutor(AT_ONCE) as pool:
        chosen = asked[::5] if quick else asked
        hung = pool.map(lambda one: hang(one, Path(home)), chosen)
        return dict(zip((each.name for each in chosen), hung, strict=True))


def hang(asked: harness.Scenario, home: Path) -> dict[str, Any]:
    cwd = home / asked.name
    cwd.mkdir()
    (cwd / "train.py").write_text(asked.source)
    environ = harness.environment(cwd, cwd / "runs") | dict(asked.env)
    command = [*LASTSTEP, "run", "--on-stall", "stop", sys.executable, "train.py"]
    pipe = subprocess.PIPE
    started = subprocess.Popen(command, cwd=cwd, env=environ, stdout=subprocess.DEVNULL, stderr=pipe)
    assert started.stderr is not None
    noticed = next((time.time() for line in started.stderr if line.startswith(NOTICE)), None)
    started.stderr.read()
    started.wait()
    folder = list_runs(str(cwd / "runs"))[0]
    run, now = Run.load(folder), Follower(folder).read().now
    stall = run.last(Stall)
    moved = max(mark.time for mark in (now, *run.steps[-1:]) if mark is not None)
    answer = subprocess.run([*LASTSTEP, "why", "--json"], cwd=cwd, env=environ, capture_output=True, check=True)
    first = next(iter(json.loads(answer.stdout)["findings"]), {"rule": ""})
    slowest = (stall.slowest if stall else None) or 0.0
    return {
        "after": noticed - moved if noticed else None,
        "limit": max(FLOOR, TIMES * slowest) + CAUSE,
        "phase": stall.phase if stall else "",
        "right": first["rule"] == asked.expect,
    }


def rows(found: dict[str, Any]) -> list[Row]:
    noticed = {name: one for name, one in found.items() if one["after"] is not None}
    late = [name for name, one in found.items() if name not in noticed or one["after"] > one["limit"]]
    wrong = [name for name, one in found.items() if not one["right"]]
    seconds = [one["after"] for one in noticed.values()]
    spread = f"median {statistics.median(seconds):.1f} s, slowest {max(seconds):.1f} s"
    return [
        Row("hangs reported with their cause after the last move", f"{len(found) - len(late)} of {len(found)} in time",
            f"{spread}; late: {', '.join(late) or 'none'}", "within max(10 s, 5 × slowest) + 5 s", not late),
        Row("the cause is right", f"{len(found) - len(wrong)} of {len(found)}", ", ".join(wrong), "all", not wrong),
    ]  # fmt: skip
