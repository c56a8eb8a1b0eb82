"""Two hundred random SIGKILLs during a stepping run: every folder opens, and no announced step is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

import kills  # the benchmark does the same a thousand times


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_two_hundred_random_kills_lose_nothing() -> None:
    found = kills.kill_many(forked=190, whole=10)
    assert found["kills"] == 200
    assert found["announced"] > 100_000, "the programs hardly stepped: nothing was tested"
    assert found["unopened"] == []
    assert found["missing"] == 0, f"seed {found['seed']}"
