"""data-exhausted: batches requested and delivered, and an epoch that a callback stopped."""

from __future__ import annotations

from laststep.record.place import Place
from tests.rules.runs import LINE, MADE, diagnosed, event, fit, says

CUT = [{"batches": n, "metrics": {"loss": 0.5}} for n in (10, 10, 10, 2, 10, 10)]


def test_batches_asked_for_and_delivered_are_counted() -> None:
    data = {"type": "tensorflow._BatchDataset", "made_at": MADE}
    diagnosis = diagnosed(*fit(CUT, end={}, steps_per_epoch=10, data=data))
    first = diagnosis.findings[0]
    assert (first.rule, first.where, diagnosis.outcome) == ("data-exhausted", Place(**MADE), "finished")
    assert "batches per epoch: 10, 10, 10, 2, 10, 10; 10 requested" in says(diagnosis)
    assert "60 batches requested in total, 52 batches delivered" in says(diagnosis)
    assert first.remedies[0].change == "ds = ds.repeat()"


def test_an_epoch_that_a_callback_stopped_in_the_middle_was_not_cut_by_its_data() -> None:
    epochs = [{"batches": 10, "metrics": {"loss": 0.5}}, {"batches": 4, "metrics": {"loss": 0.4}}]
    stop = event(1.9, "stop", callback={"class": "Own", "users": True}, hook="on_train_batch_end", epoch=1, line=LINE)
    diagnosis = diagnosed(*fit(epochs, end={"stop": True}, epochs=5, steps_per_epoch=10), stop)
    assert diagnosis.findings[0].rule == "callback-stopped-training"
