"""early-stopping: a monitored metric that does not exist is a note, even if nothing was stopped."""

from __future__ import annotations

import pytest

from laststep.reports import terminal
from tests.rules.runs import diagnosed, event, fit

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


@pytest.mark.parametrize(("is_users", "rule"), [(False, "early-stopping"), (True, "callback-stopped-training")])
def test_a_callback_of_that_name_in_an_installed_package_is_the_users_own(is_users: bool, rule: str) -> None:
    """As in `laststep run -m mypackage.train`: the record says whose line it is, not the path."""
    line = {"file": "/venv/lib/python3.11/site-packages/mypackage/stop.py", "line": 9, "is_users": is_users}
    callback = {"class": "Patience", "users": is_users, "module": "mypackage.stop"}
    stop = event(2.0, "stop", fit=1, callback=callback, line={**line, "function": "EarlyStopping.on_epoch_end"})
    began, *rest = fit([{"batches": 9}] * 2, end={"stop": True}, epochs=9)
    assert diagnosed(began, stop, *rest).findings[0].rule == rule
