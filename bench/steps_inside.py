"""Step time bare, recorded and with TensorBoard, taking turns inside one process (bench/programs/inside.py)."""

from __future__ import annotations

import statistics
import sys
import tempfile
from typing import Any

import figures
from children import program, recorded, run_command
from figures import Row

MODES = ("fit", "fit-eager", "loop-function", "loop-eager")
# (milliseconds a step, rounds, steps in a chunk)
FULL = ((1, 80, 50), (10, 32, 16), (100, 8, 7))
QUICK = ((1, 32, 40), (10, 10, 12))


def measure(quick: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mode in MODES:
        for milliseconds, rounds, steps in QUICK if quick else FULL:
            with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
                child = run_command(recorded(program("inside.py", mode, milliseconds, rounds, steps), home))
            compared = found[f"{mode} {milliseconds} ms"] = _compare(child["arms"])
            compared["supervisor_share"] = child["supervisor_share"]
            compared["own_us"] = child["own_us"]
            sys.stderr.write(f"{mode} {milliseconds} ms: {figures.percent(compared['laststep']['median'])}\n")
    return found


def _compare(arms: dict[str, Any]) -> dict[str, Any]:
    bare = arms["bare"]
    compared: dict[str, Any] = {"bare_ms": figures.summary([value * 1000 for value in bare["median"]])}
    for arm, values in arms.items():
        if arm != "bare":
            compared[arm] = {name: figures.ratios(values[name], bare[name]) for name in ("median", "mean", "cpu")}
            added = [(one - other) * 1e6 for one, other in zip(values["median"], bare["median"], strict=True)]
            compared[arm]["added_us"] = figures.summary(added)
    return compared


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for name, compared in found.items():
        step = compared["bare_ms"]["median"]
        limit = figures.step_limit(step)
        share = compared["own_us"] / step / 10
        table.append(
            Row(
                f"{name} (bare {step:.2f} ms), time inside laststep's own code",
                f"{compared['own_us']:.1f} µs a step, {share:.2f} %",
                "",
                f"≤ {limit * 100:g} %",
                share <= limit * 100,
            )
        )
        for arm in [arm for arm in compared if arm not in ("bare_ms", "own_us", "supervisor_share")]:
            ratio = compared[arm]["median"]
            ours = arm == "laststep"
            added = compared[arm]["added_us"]
            table.append(
                Row(
                    f"{name} (bare {step:.2f} ms), {arm}",
                    f"{figures.percent(ratio)}; {added['median']:+.0f} µs ± {added['margin']:.0f}",
                    f"{figures.percent_spread(ratio)}; CPU {figures.percent(compared[arm]['cpu'])}",
                    f"≤ {limit * 100:g} %" if ours else "",
                    figures.within(ratio, limit) if ours else None,
                )
            )
    shares = [compared["supervisor_share"] * 100 for compared in found.values()]
    what = "the supervisor's share of one core (CPU time)"
    table.append(Row(what, f"{statistics.median(shares):.2f} %", f"{min(shares):.2f} … {max(shares):.2f} %"))
    return table
