"""float16-overflow: a step that the loss scale skips is no harm."""

from __future__ import annotations

from laststep.record.run import Run
from tests.rules.diverged.steps import HALF, bad, found, run_of, steady
from tests.written import written


def test_a_skipped_trial_of_the_loss_scale_is_no_harm() -> None:
    scaler = {"class": "LossScaleOptimizer", "inner": "Adam", "scales_loss": True}
    run = run_of(steady(1), broken=bad(1, loss=3.0), model=HALF, optimizer=scaler)
    healed = [*run.events, written(99.0, "epoch", {"epoch": 0, "metrics": {"loss": 0.2}}, "recorder")]
    assert found(Run("made-up", events=tuple(healed), steps=run.steps)) == {}
