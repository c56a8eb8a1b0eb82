"""The slope through the lows, and when it runs out: shapes that leak, and shapes that only look like it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from laststep.analysis.forecast import Point, foretell, room, trend
from laststep.record.sample import HostMemory, MemoryGroup, Sample

STEPS = 300
Shape = Callable[[int], float]

LEAKS: dict[str, Shape] = {
    "linear": lambda i: 5.0 * i,
    "with teeth": lambda i: 5.0 * i + i % 17 * 8,
    "after warming up": lambda i: 300 * (1 - math.exp(-i / 20)) + 5.0 * i,
    "with validations": lambda i: 5.0 * i + (200 if i % 20 > 16 else 0),
}
HEALTHY: dict[str, Shape] = {
    "flat": lambda i: 0.0,
    "teeth": lambda i: i % 37 * 8.0,
    "settles": lambda i: 400 * (1 - math.exp(-i / 30)),
    "one step up": lambda i: 300.0 * (i > 100),
}


def points(shape: Shape, count: int, seed: int) -> list[Point]:
    noise = random.Random(seed)
    return [Point(float(i), 600e6 + 1e6 * shape(i) + noise.gauss(0, 2e6), 3 * i) for i in range(count)]


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.parametrize("seed", range(5))
def test_a_leak_is_foretold_at_a_third_of_the_way(name: str, seed: int) -> None:
    whole = points(LEAKS[name], STEPS, seed)
    seen = whole[: STEPS * 3 // 10]
    found = trend(seen)
    assert found is not None
    assert found.is_steady
    limit = max(point.value for point in whole)
    told = foretell(found, seen[-1], limit - seen[-1].value)
    assert told is not None
    assert told.seconds == pytest.approx(STEPS - len(seen), rel=0.25)
    assert told.step == pytest.approx(3 * STEPS, rel=0.25)
    assert told.soonest <= told.seconds <= told.latest


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("seed", range(5))
def test_what_only_looks_like_one_is_not_steady_for_long(name: str, seed: int) -> None:
    in_a_row = 0
    for count in range(STEPS // 2, STEPS, 3):
        found = trend(points(HEALTHY[name], count, seed))
        assert found is not None
        in_a_row = in_a_row + 1 if found.is_steady else 0
        assert in_a_row < 3, f"after {count}"


def test_what_grows_by_epochs_is_compared_by_epochs() -> None:
    seen = points(lambda i: 60.0 * (i // 12), 150, 1)
    found = trend(seen, [float(i) for i in range(0, 150, 12)])
    assert found is not None
    assert found.is_steady
    assert found.slope == pytest.approx(5e6, rel=0.2)


def test_too_little_says_nothing() -> None:
    assert trend(points(LEAKS["linear"], 8, 1)) is None


def test_no_forecast_reaches_farther_than_what_was_seen_can_carry() -> None:
    seen = points(LEAKS["linear"], 60, 1)
    found = trend(seen)
    assert found is not None
    assert foretell(found, seen[-1], 1e12) is None


def test_the_tighter_limit_counts_and_idle_file_pages_do_not() -> None:
    machine = HostMemory(total=100, available=40)
    tight = room(Sample(time=1.0, host=machine, group=MemoryGroup(limit=50, used=45, cache=20)))
    assert tight is not None
    assert (tight.left, tight.whose) == (25.0, "the control group")
    wide = room(Sample(time=1.0, host=machine, group=MemoryGroup(limit=90, used=45)))
    assert wide is not None
    assert (wide.left, wide.whose) == (40.0, "the machine")
    assert room(Sample(time=1.0)) is None
