"""learning-rate-too-low: a rate that decays at once, and one that decays late."""

from __future__ import annotations

from tests.rules.diverged.steps import found, reading, run_of, sure


def test_a_rate_that_comes_down_at_once_is_too_low_and_one_that_comes_down_late_is_not() -> None:
    rates = [0.01, 1e-5, *[1e-9] * 10]
    early = run_of([reading(1 + 8 * at, 0.9, rate=rate) for at, rate in enumerate(rates)])
    late = run_of([reading(1 + 8 * at, 0.9, rate=rate) for at, rate in enumerate([*[0.01] * 10, 1e-5, 1e-9])])
    assert sure(early) == ["learning-rate-too-low"]
    assert "learning-rate-too-low" not in found(late)
