"""Whole processes in turns: `python train.py` against `laststep run python train.py`, supervisor and relay included.

The program times its own steps: those of its first 3 seconds, and all of 20. A pair runs at the same time, each side
with one core to itself (the supervisor on the same core as its program: the worst case), and the sides change cores
each time: what else slows the machine slows both. Pairs of the bare program against itself are the control.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import figures
from children import begin, finish, program, recorded, run_command
from figures import Row

KINDS = (("fit", 1), ("loop-function", 1), ("fit", 10))
PAIRS, CONTROLS = 4, 2
WINDOWS = {"first": "the first 3 s", "all": "20 s"}


def measure(quick: bool) -> dict[str, Any]:
    pairs, controls, seconds = (2, 1, 6) if quick else (PAIRS, CONTROLS, 20)
    found = {}
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        for mode, milliseconds in KINDS:
            times = run_command(program("train.py", "calibrate", mode, milliseconds))
            bare = program("train.py", mode, times, seconds)
            arms = {"laststep": (recorded(bare, home), pairs), "control": (bare, controls)}
            found[f"{mode} {milliseconds} ms"] = {
                arm: [_pair(bare, command, number) for number in range(rounds)]
                for arm, (command, rounds) in arms.items()
            }
    return {name: {arm: _compare(runs) for arm, runs in arms.items()} for name, arms in found.items()}


def _pair(bare: list[str], other: list[str], number: int) -> tuple[Any, Any]:
    cores = sorted(os.sched_getaffinity(0))[:2]
    started = [begin(command, cores[(number + side) % len(cores)]) for side, command in enumerate((bare, other))]
    one, two = (finish(process) for process in started)
    return one, two


def _compare(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    compared: dict[str, Any] = {}
    for window in WINDOWS:
        bare, other = ([pair[side][window] for pair in pairs] for side in (0, 1))
        compared[window] = {"bare_ms": figures.summary([run["median"] * 1000 for run in bare])}
        for field in ("median", "mean", "cpu"):
            compared[window][field] = figures.ratios([run[field] for run in other], [run[field] for run in bare])
    return compared


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for name, arms in found.items():
        table += [_row(name, arm, window, arms[arm][window]) for arm in arms for window in WINDOWS]
    return table


def _row(name: str, arm: str, window: str, compared: dict[str, Any]) -> Row:
    step = compared["bare_ms"]["median"]
    limit = figures.step_limit(step)
    what = "bare against bare" if arm == "control" else "whole process"
    return Row(
        f"{name} (bare {step:.2f} ms), {what}, {WINDOWS[window]}",
        f"{figures.percent(compared['mean'])}; CPU {figures.percent(compared['cpu'])}",
        f"{figures.percent_spread(compared['mean'])}; median step {figures.percent(compared['median'])}",
        "" if arm == "control" else f"≤ {limit * 100:.1f} %",
        None if arm == "control" else figures.within(compared["mean"], limit),
    )
