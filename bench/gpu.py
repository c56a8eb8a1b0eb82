"""What recording costs on a GPU: whole processes in turns, bare, bare again, and recorded. Writes docs/gpu.md.

    python bench/gpu.py [--rounds N] [--smoke]

Where TensorFlow sees no GPU it says so and measures nothing; --smoke tries the programs on any machine, for no result.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import figures
from children import finish, program, recorded, start_anywhere

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "gpu.md"
# What a step of each size takes and may cost more: in share of it, or in microseconds, whichever is more.
SMALL = ["fit", "fit jit", "fit mixed_float16", "fit steps_per_execution=4", "fit Embedding", "fit prefetch_to_device",
         "tf.function loop", "eager loop"]  # fmt: skip
LARGE = ["fit", "fit mixed_float16"]
SHARE_SHORT, SHARE_LONG, MICROSECONDS, LONG = 0.02, 0.005, 20.0, 10_000.0
ARMS = ("bare", "control", "laststep")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--smoke", action="store_true")
    asked = parser.parse_args()
    sizes = {"smoke": SMALL} if asked.smoke else {"small": SMALL, "large": LARGE}
    first = finish(start_anywhere(program("gpu_steps.py", "small")))
    if not first["cards"] and not asked.smoke:
        sys.stdout.write("bench/gpu.py: TensorFlow sees no GPU here, so nothing was measured\n")
        return 0
    found = {size: measure(size, kinds, asked.rounds) for size, kinds in sizes.items()}
    text = page(first, found, asked.rounds)
    sys.stdout.write(text)
    if not asked.smoke:
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / "gpu.json").write_text(json.dumps({"where": first, "found": found}, indent=1) + "\n")
        PAGE.write_text(text)
    return 0


def measure(size: str, kinds: list[str], rounds: int) -> dict[str, dict[str, list[float]]]:
    """{kind: {arm: microseconds of each round}}."""
    found: dict[str, dict[str, list[float]]] = {kind: {arm: [] for arm in ARMS} for kind in kinds}
    command = program("gpu_steps.py", size, *kinds)
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        for _ in range(rounds):
            for arm in random.sample(ARMS, len(ARMS)):
                steps = finish(start_anywhere(recorded(command, home) if arm == "laststep" else command))["steps"]
                for kind in kinds:
                    found[kind][arm].append(steps[kind])
    return found


def page(where: dict[str, Any], found: dict[str, Any], rounds: int) -> str:
    cards = ", ".join(where["cards"]) or "no GPU"
    lines = [
        "# What recording costs on a GPU",
        "",
        f"Written by `bench/gpu.py` on {time.strftime('%Y-%m-%d')}: {cards}, TensorFlow {where['tensorflow']},",
        f"{rounds} rounds of whole processes in random order. The control is the bare program once more: it shows the",
        "noise of the method.",
        "",
        "| step | bare | recorded | cost | control | limit | |",
        "|---|---|---|---|---|---|---|",
    ]
    for size, kinds in found.items():
        lines += [row(f"{kind}, {size} model", arms) for kind, arms in kinds.items()]
    return "\n".join(lines) + "\n"


def row(name: str, arms: dict[str, list[float]]) -> str:
    bare = figures.summary(arms["bare"])["median"]
    cost, control = (figures.ratios(arms[arm], arms["bare"]) for arm in ("laststep", "control"))
    limit = SHARE_LONG if bare >= LONG else max(SHARE_SHORT, MICROSECONDS / bare)
    verdict = {True: "met", False: "NOT MET", None: "open"}[figures.within(cost, limit)]
    with_us = figures.summary(arms["laststep"])["median"]
    return (
        f"| {name} | {bare:,.0f} µs | {with_us:,.0f} µs | {figures.percent(cost)} | {figures.percent(control)} "
        f"| ≤ {limit * 100:.1f} % | {verdict} |"
    )


if __name__ == "__main__":
    sys.exit(main())
