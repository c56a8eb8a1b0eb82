"""Spoiled folders, logs and profiles without end: python -m tests.fuzz --seconds 120 --seed 1 [--only 1:17]."""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.cases import run_case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seed", default=None, help="the same seed tries the same cases (default: the time)")
    parser.add_argument("--only", help="one case again, by the name that was printed")
    asked = parser.parse_args()
    seed = asked.seed or str(int(time.time()))
    until, number = time.monotonic() + asked.seconds, 0
    broke, kinds, slowest, peak = [], collections.Counter[str](), 0.0, 0
    with tempfile.TemporaryDirectory(prefix="laststep-fuzz-") as base:
        while (asked.only is None and time.monotonic() < until) or number == 0:
            found = run_case(asked.only or f"{seed}:{number}", Path(base) / str(number))
            number += 1
            kinds[found["case"]] += 1
            slowest, peak = max(slowest, found["seconds"]), max(peak, found["peak"])
            if found["broke"]:
                broke.append(found)
                print(f"BROKE {found['seed']} {found['case']} {found['did']}: {found['broke']}", flush=True)
    shown = ", ".join(f"{count} {name}" for name, count in kinds.items())
    print(f"seed {seed}: {number} tried ({shown}), {number - len(broke)} held, {len(broke)} broke; "
          f"slowest {slowest:.2f} s, at most {peak} MB")  # fmt: skip
    return 1 if broke else 0


if __name__ == "__main__":
    sys.exit(main())
