"""learning-rate-too-high: a rate that grows late is judged by its late steps."""

from __future__ import annotations

from tests.rules.diverged.steps import ADAM, found, reading, run_of, steady


def test_a_rate_that_grows_late_is_too_high_by_its_late_steps() -> None:
    late = steady(8, rate=0.001) + [reading(80 + 8 * at, 50.0, rate=9.0) for at in range(6)]
    rising = [1.0] * 70 + [50.0] * 60
    assert "learning-rate-too-high" in found(run_of(late, optimizer=ADAM, losses=rising))
    assert "learning-rate-too-high" not in found(run_of(steady(14, rate=0.001), optimizer=ADAM, losses=[1.0] * 130))
