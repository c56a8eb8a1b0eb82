"""What the sentinel in a traced step costs while nothing is requested or bad (bench/programs/sentinel.py)."""

from __future__ import annotations

from typing import Any

import figures
from children import program, run_command
from figures import Row

LIMIT = 10  # microseconds: half of the 2 % of a step of 1 ms that the whole recorder may take


def measure(quick: bool) -> dict[str, Any]:
    builds, rounds = (5, 20) if quick else (15, 40)
    found = {}
    for kind in ("fit", "loop", "xla"):
        child = run_command(program("sentinel.py", kind, builds, rounds))
        found[kind] = {"bare": figures.summary(child["bare"])} | {
            arm: figures.summary([one - other for one, other in zip(child[arm], child["bare"], strict=True)])
            for arm in ("control", "sentinel")
        }
    return found


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for kind, arms in found.items():
        for arm in ("control", "sentinel"):
            added = arms[arm]
            table.append(
                Row(
                    f"{kind}, {arm}: added to a step of {arms['bare']['median']:.0f} µs (CPU time)",
                    f"{added['median']:+.1f} µs ± {added['margin']:.1f}",
                    f"IQR {added['low']:+.1f} … {added['high']:+.1f} µs, n={added['rounds']}",
                    f"≤ {LIMIT} µs" if arm == "sentinel" else "",
                    added["median"] <= LIMIT if arm == "sentinel" else None,
                )
            )
    return table
