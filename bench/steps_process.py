"""Whole processes in turns: `python train.py` against `laststep run python train.py`, supervisor and relay included.

The program times its own steps. A pair runs at the same time, each side with one core to itself (the supervisor on the
same core as its program: the worst case), and the sides change cores each time. What else slows the machine slows both.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import figures
from children import begin, finish, program, recorded, run_command
from figures import Row


def measure(quick: bool) -> dict[str, Any]:
    plan = run_command(program("train.py", "calibrate-quick" if quick else "calibrate"))
    pairs = 2 if quick else 10
    cores = sorted(os.sched_getaffinity(0))[:2]
    arms: dict[str, list[Any]] = {"bare": [], "laststep": []}
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        command = program("train.py", json.dumps(plan))
        commands = {"bare": command, "laststep": recorded(command, home)}
        for number in range(pairs):
            started = {arm: begin(commands[arm], cores[(number + side) % len(cores)]) for side, arm in enumerate(arms)}
            for arm in arms:
                arms[arm].append(finish(started[arm]))
    return {name: _compare(name, arms) for name in arms["bare"][0]}


def _compare(name: str, arms: dict[str, list[Any]]) -> dict[str, Any]:
    compared: dict[str, Any] = {"bare_ms": figures.summary([run[name]["median"] * 1000 for run in arms["bare"]])}
    for field in ("median", "mean", "cpu"):
        bare, ours = ([run[name][field] for run in arms[arm]] for arm in ("bare", "laststep"))
        compared[field] = figures.ratios(ours, bare)
    return compared


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for name, compared in found.items():
        step = compared["bare_ms"]["median"]
        limit = figures.step_limit(step)
        table.append(
            Row(
                f"{name} (bare {step:.2f} ms), whole process",
                figures.percent(compared["median"]),
                f"{figures.percent_spread(compared['median'])}; CPU {figures.percent(compared['cpu'])}",
                f"≤ {limit * 100:g} %",
                figures.within(compared["median"], limit),
            )
        )
    return table
