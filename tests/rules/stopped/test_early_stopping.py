"""early-stopping: a monitored metric that does not exist is a note, even if nothing was stopped."""

from __future__ import annotations

from laststep.reports import terminal
from tests.rules.runs import diagnosed, fit

WATCHES = [{"class": "EarlyStopping", "users": False, "values": {"monitor": "val_acc", "patience": 2}}]


def test_a_metric_that_does_not_exist_is_told_though_all_went_well() -> None:
    epochs = [{"batches": 10, "metrics": {"loss": 0.5, "accuracy": 0.7, "val_loss": 0.6}}] * 3
    diagnosis = diagnosed(*fit(epochs, end={}, callbacks=WATCHES))
    assert diagnosis.findings == ()
    page = terminal.page(diagnosis)
    assert "'val_acc', which is not a metric of this fit" in " ".join(page.split())
    assert "the fit has accuracy, loss, val_loss" in " ".join(page.split())


def test_a_metric_that_exists_is_no_note() -> None:
    epochs = [{"batches": 10, "metrics": {"loss": 0.5, "val_acc": 0.7}}] * 3
    assert "Worth knowing" not in terminal.page(diagnosed(*fit(epochs, end={}, callbacks=WATCHES)))
