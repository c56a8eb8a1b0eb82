"""A straight line through a loss curve, and its noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from laststep.analysis.learning.trend import trend_of


def test_a_slow_steady_fall_is_seen_where_the_noise_is_small() -> None:
    slow = [0.2652, 0.2614, 0.2605, 0.2587, 0.2569, 0.2558, 0.2551]
    assert trend_of(slow).falls
    assert trend_of(slow).fell == pytest.approx(0.0096, abs=0.001)
    assert not trend_of([*reversed(slow)]).falls


def test_noise_is_no_fall() -> None:
    rng = np.random.default_rng(1)
    falls = [trend_of(list(rng.normal(1, 0.1, 20))).falls for _ in range(400)]
    assert np.mean(falls) < 0.06  # two standard errors: 2.3 % by chance, and a little for their own error


def test_the_error_is_two_standard_errors() -> None:
    rng = np.random.default_rng(2)
    trends = [trend_of(list(rng.normal(5, 0.5, 40))) for _ in range(400)]
    assert np.mean([trend.error for trend in trends]) == pytest.approx(2 * np.std([t.fell for t in trends]), rel=0.1)
    assert trends[0].level_error == pytest.approx(2 * 0.5 / math.sqrt(40), rel=0.5)


def test_too_few_points_say_nothing() -> None:
    assert not trend_of([3.0, 2.0, 1.0]).falls
    assert trend_of([3.0, 2.0, 1.0]).error == math.inf
    assert trend_of([3.0, math.nan, 1.0, 2.0]).error == math.inf
