"""callback-raised: the metrics that exist are listed."""

from __future__ import annotations

from tests.rules.runs import LINE, diagnosed, error, fit, says


def test_a_callback_that_asks_for_another_name_of_a_metric_is_told_the_names() -> None:
    callback = {"class": "Log", "hook": "on_epoch_end", "users": True, "raised_at": LINE}
    raised = error("KeyError", "'val_acc'", callback=callback)
    diagnosis = diagnosed(*fit([{"batches": 10, "metrics": {"loss": 1.0, "accuracy": 0.5}}]), raised, code=1)
    assert diagnosis.findings[0].rule == "callback-raised"
    assert "'val_acc' is not a metric of this fit, which has accuracy, loss" in says(diagnosis)
