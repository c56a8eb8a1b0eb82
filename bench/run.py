"""Measure what laststep costs and keeps: bench/run.py [--quick] [--only NAME …]; results in bench/results/."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import answer
import diagnosis
import kills
import leaks
import logs
import million
import sentinel
import stalls
import startup
import steps_inside
import steps_process
import tune
from figures import Row

RESULTS = Path(__file__).resolve().parent / "results"
MEASUREMENTS: dict[str, ModuleType] = {
    "kills": kills,
    "million": million,
    "startup": startup,
    "answer": answer,
    "diagnosis": diagnosis,
    "logs": logs,
    "leaks": leaks,
    "sentinel": sentinel,
    "tune": tune,
    "stalls": stalls,
    "steps-process": steps_process,
    "steps-inside": steps_inside,
}
VERDICT = {True: "met", False: "NOT MET", None: ""}


def main() -> int:
    asked = read_arguments()
    results = kept_results()
    for name in asked.only or MEASUREMENTS:
        began = time.perf_counter()
        found = MEASUREMENTS[name].measure(asked.quick)
        table = MEASUREMENTS[name].rows(found)
        results[name] = {
            "found": found,
            "rows": [row.as_dict() for row in table],
            "quick": asked.quick,
            "seconds": round(time.perf_counter() - began, 1),
            "where": where(),
        }
        write(results)
        sys.stdout.write(f"\n{name} ({results[name]['seconds']} s)\n{as_table(table)}\n")
        sys.stdout.flush()
    return 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: an impression, not a result")
    parser.add_argument("--only", action="append", choices=list(MEASUREMENTS), help="this measurement alone")
    return parser.parse_args()


def kept_results() -> dict[str, Any]:
    """What earlier calls measured: --only replaces its own part."""
    try:
        return dict(json.loads((RESULTS / "bench.json").read_text()))
    except (OSError, ValueError):
        return {}


def where() -> dict[str, Any]:
    return {
        "time": time.strftime("%Y-%m-%d %H:%M"),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "system": platform.release(),
    }


def write(results: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bench.json").write_text(json.dumps(results, indent=1) + "\n")
    parts = ["# What laststep costs and keeps\n\nEach ratio is the median over interleaved rounds; ± is twice its\n"
             "standard error. A verdict is left open where the rounds can't tell.\n"]  # fmt: skip
    for name, result in results.items():
        table = as_table([Row(**row) for row in result["rows"]])
        place = result["where"]
        kind = "quick, " if result["quick"] else ""
        around = f"{place['cores']} cores, load {place['load']:.1f}, {place['time']}"
        head = f"## {name}\n{kind}{result['seconds']} s, {around}"
        parts.append(f"{head}\n\n{table}\n")
    (RESULTS / "bench.md").write_text("\n".join(parts))


def as_table(table: list[Row]) -> str:
    lines = ["| what | measured | spread | target | |", "|---|---|---|---|---|"]
    for row in table:
        verdict = VERDICT[row.met] if row.met is not None or not row.target else "open"
        lines.append(f"| {row.what} | {row.measured} | {row.spread} | {row.target} | {verdict} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
