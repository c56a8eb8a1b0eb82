"""When a growing GPU is worth a census, and which frames the census covers."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from laststep.recorder.memory_census import take_census
from laststep.recorder.probes import census as probe
from tests.rules.leaked.gpu import MB


@pytest.mark.parametrize(
    ("held", "grows"),
    [
        ([500, 600, 700, 800, 900, 1000, 1100, 1200], True),
        ([500, 900, 600, 1000, 700, 1100, 800, 1200], True),
        ([500, 600, 700, 800, 900, 1000, 1100], False),
        ([500, 900, 900, 900, 900, 900, 900, 900], False),
        ([5000, 5010, 5020, 5030, 5040, 5050, 5060, 5070], False),
    ],
)
def test_a_gpu_whose_minima_rise_is_worth_a_census(held: list[int], grows: bool) -> None:
    assert probe._rises([each * MB for each in held]) is grows


def test_the_frames_that_an_error_passed_are_in_the_census() -> None:
    kept = [bytearray(100_000) for _ in range(50)]

    def names(*frames: Any) -> set[str]:
        return {entry["name"] for entry in take_census(frames)["containers"] if entry["length"] == len(kept)}

    assert "kept" in names(sys._getframe())
    assert "kept" not in names()
