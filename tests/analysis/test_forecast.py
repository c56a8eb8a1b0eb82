"""The Theil–Sen trend and its projection: shapes that leak, and shapes that only look like it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from laststep.analysis.forecast import Point, fit_trend, forecast_sentence, headroom_in, project
from laststep.record.events.supervisor import Forecast
from laststep.record.place import Place
from laststep.record.sample import HostMemory, MemoryGroup, Sample

STEPS = 300
Shape = Callable[[int], float]

LEAKS: dict[str, Shape] = {
    "linear": lambda i: 5.0 * i,
    "with a sawtooth": lambda i: 5.0 * i + i % 17 * 8,
    "after a warm-up": lambda i: 300 * (1 - math.exp(-i / 20)) + 5.0 * i,
    "with validations": lambda i: 5.0 * i + (200 if i % 20 > 16 else 0),
}
HEALTHY: dict[str, Shape] = {
    "flat": lambda i: 0.0,
    "sawtooth": lambda i: i % 37 * 8.0,
    "settles": lambda i: 400 * (1 - math.exp(-i / 30)),
    "one step up": lambda i: 300.0 * (i > 100),
}


def points(shape: Shape, count: int, seed: int) -> list[Point]:
    noise = random.Random(seed)
    return [Point(float(i), 600e6 + 1e6 * shape(i) + noise.gauss(0, 2e6), 3 * i) for i in range(count)]


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.parametrize("seed", range(5))
def test_a_leak_is_projected_from_a_third_of_its_time(name: str, seed: int) -> None:
    whole = points(LEAKS[name], STEPS, seed)
    observed = whole[: STEPS * 3 // 10]
    trend = fit_trend(observed)
    assert trend is not None
    assert trend.is_steady
    limit = max(point.value for point in whole)
    projection = project(trend, observed[-1], limit - observed[-1].value)
    assert projection is not None
    assert projection.seconds == pytest.approx(STEPS - len(observed), rel=0.25)
    assert projection.step == pytest.approx(3 * STEPS, rel=0.25)
    assert projection.soonest <= projection.seconds <= projection.latest


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("seed", range(5))
def test_what_only_looks_like_a_leak_is_not_steady_for_long(name: str, seed: int) -> None:
    in_a_row = 0
    for count in range(STEPS // 2, STEPS, 3):
        trend = fit_trend(points(HEALTHY[name], count, seed))
        assert trend is not None
        in_a_row = in_a_row + 1 if trend.is_steady else 0
        assert in_a_row < 3, f"after {count}"


def test_what_grows_once_per_epoch_is_compared_by_epochs() -> None:
    observed = points(lambda i: 60.0 * (i // 12), 150, 1)
    trend = fit_trend(observed, [float(i) for i in range(0, 150, 12)])
    assert trend is not None
    assert trend.is_steady
    assert trend.slope == pytest.approx(5e6, rel=0.2)


def test_too_few_points_give_no_trend() -> None:
    assert fit_trend(points(LEAKS["linear"], 8, 1)) is None


def test_no_projection_reaches_far_beyond_what_was_observed() -> None:
    observed = points(LEAKS["linear"], 60, 1)
    trend = fit_trend(observed)
    assert trend is not None
    assert project(trend, observed[-1], 1e12) is None


def test_the_smaller_headroom_counts_and_inactive_file_pages_do_not() -> None:
    machine = HostMemory(total=100, available=40)
    tight = headroom_in(Sample(time=1.0, host=machine, group=MemoryGroup(limit=50, used=45, cache=20)))
    assert tight is not None
    assert (tight.left, tight.whose) == (25.0, "the control group")
    wide = headroom_in(Sample(time=1.0, host=machine, group=MemoryGroup(limit=90, used=45)))
    assert wide is not None
    assert (wide.left, wide.whose) == (40.0, "the machine")
    assert headroom_in(Sample(time=1.0)) is None


FORECAST = Forecast(
    time=1000.0,
    seconds=840.0,
    step=12_400,
    limit=1.7e9,
    whose="the control group",
    keeps="Keep.kept",
    where=Place("/home/anna/train.py", 27),
)


@pytest.mark.parametrize(
    ("event", "now", "sentence"),
    [
        (
            FORECAST,
            None,
            "memory runs out in about 14 min, at step ≈ 12,400 (limit 1.7 GB of the control group); "
            "Keep.kept (train.py:27) keeps growing",
        ),
        (
            replace(FORECAST, keeps=None),
            1600.0,
            "memory runs out in about 4 min, at step ≈ 12,400 (limit 1.7 GB of the control group)",
        ),
        (replace(FORECAST, where=None), 1900.0, "memory may run out at any moment; Keep.kept keeps growing"),
        (Forecast(seconds=90.0), None, "memory runs out in about 90 s"),
        (Forecast(), None, ""),
        (Forecast(seconds=math.inf), None, ""),
    ],
)
def test_a_recorded_forecast_as_a_sentence(event: Forecast, now: float | None, sentence: str) -> None:
    assert forecast_sentence(event, now) == sentence
