"""Rules on written-down runs: what they say besides the cause, and the line between neighbours."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.record.event import Event
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.reports import terminal
from laststep.rules.diagnose import diagnose
from tests.written import sample, written

LINE = {"file": "/home/anna/train.py", "line": 20, "text": "model.fit(ds, epochs=3)"}
MADE = {"file": "/home/anna/train.py", "line": 12, "text": "ds = ds.shuffle(100_000).batch(32)"}


def event(time: float, kind: str, /, **data: Any) -> Event:
    return written(time, kind, data, "recorder")


def fit(done: list[dict[str, Any]], end: dict[str, Any] | None = None, **asked: Any) -> list[Event]:
    """One fit with these epochs; with an end, or without."""
    asked = {"id": 1, "epochs": len(done), "where": LINE} | asked
    told = [event(1.0 + n, "epoch", fit=1, epoch=n, **data) for n, data in enumerate(done)]
    return [event(0.5, "fit", **asked), *told, *([event(50.0, "fit-end", id=1, **end)] if end is not None else [])]


def diagnosed(*events: Event, code: int | None = 0, signal: str | None = None, **more: Any) -> Diagnosis:
    began = [event(0.0, "run", command=["python", "train.py"], cwd="/home/anna"), event(0.1, "recorder", pid=7)]
    end = event(99.0, "end", code=code, signal=signal, pid=7, seconds=99.0)
    ordered = sorted([*began, *events, end], key=lambda e: e.time)
    return diagnose(Run(id="r", events=tuple(ordered), **more))


def says(diagnosis: Diagnosis) -> str:
    return " | ".join(item.says for item in diagnosis.findings[0].evidence)


def error(kind: str, message: str, **more: Any) -> Event:
    told = {"left": "program", "type": kind, "bases": [kind.rsplit(".", 1)[-1], "Exception"], "message": message}
    return event(60.0, "exception", where=LINE, frames=[], **told, **more)


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


def test_a_callback_that_asks_for_another_name_of_a_metric_is_told_the_names() -> None:
    callback = {"class": "Log", "hook": "on_epoch_end", "users": True, "raised_at": LINE}
    raised = error("KeyError", "'val_acc'", callback=callback)
    diagnosis = diagnosed(*fit([{"batches": 10, "metrics": {"loss": 1.0, "accuracy": 0.5}}]), raised, code=1)
    assert diagnosis.findings[0].rule == "callback-raised"
    assert "'val_acc' is not a metric of this fit, which has accuracy, loss" in says(diagnosis)


def steps(count: int) -> list[Step]:
    return [Step(n, 1.0 + n / 100, 0.01, float("nan"), 0.5, 0.1, 0, n - 1, 1) for n in range(1, count + 1)]


STAGES = [{"stage": "Batch", "batch_size": 32}, {"stage": "Map"}, {"stage": "TFRecord"}]


def test_the_record_that_is_damaged_is_counted_from_the_batches_before_it() -> None:
    damaged = error("tensorflow.errors.DataLossError", "truncated record at 52110")
    diagnosis = diagnosed(*fit([], epochs=3, data={"stages": STAGES}), damaged, code=1, steps=steps(38))
    assert diagnosis.findings[0].rule == "corrupt-record"
    assert "one of the records 1,217 to 1,248" in says(diagnosis)


def test_a_shuffled_record_has_no_number() -> None:
    damaged = error("tensorflow.errors.DataLossError", "truncated record at 52110")
    data = {"stages": [{"stage": "Shuffle", "buffer_size": 9}, *STAGES]}
    diagnosis = diagnosed(*fit([], epochs=3, data=data), damaged, code=1, steps=steps(38))
    assert "one of the records" not in says(diagnosis)


def killed_for_memory(stages: list[dict[str, Any]]) -> Diagnosis:
    group = {"group": "/job", "limit": 4e9}
    data = {"stages": stages, "made_at": MADE}
    return diagnosed(
        event(0.2, "limits", groups=[group | {"kills": 0}]),
        *fit([], epochs=3, data=data),
        event(98.0, "aftermath", groups=[group | {"kills": 1}]),
        code=None,
        signal="SIGKILL",
    )


def test_the_shuffle_buffer_that_holds_the_memory_is_named() -> None:
    diagnosis = killed_for_memory([{"stage": "Shuffle", "buffer_size": 100_000, "bytes": 600_000}])
    first = diagnosis.findings[0]
    assert first.rule == "host-out-of-memory"
    assert "the shuffle buffer of 100,000 elements, 600 KB each, holds 60.0 GB" in says(diagnosis)
    assert (first.remedies[0].change, first.remedies[0].where) == ("dataset.shuffle(666)", Place(**MADE))


def test_a_small_shuffle_buffer_is_not_blamed() -> None:
    diagnosis = killed_for_memory([{"stage": "Shuffle", "buffer_size": 100, "bytes": 600_000}])
    assert "shuffle" not in says(diagnosis)


def test_a_cache_in_memory_is_named() -> None:
    assert "cache() without a file name keeps every element in memory" in says(killed_for_memory([{"stage": "Cache"}]))


def test_what_the_processor_lacks_is_named() -> None:
    limits = event(0.2, "limits", processor={"model": "Old CPU", "has": ["sse4_2"]})
    diagnosis = diagnosed(limits, code=None, signal="SIGILL")
    assert diagnosis.findings[0].rule == "illegal-instruction"
    assert "(Old CPU) lacks avx, avx2, fma, avx512f" in says(diagnosis)


@pytest.mark.parametrize(("left", "rule"), [(20.0, "time-limit-reached"), (4000.0, "terminated")])
def test_sigterm_near_the_end_that_slurm_had_set(left: float, rule: str) -> None:
    limits = event(0.2, "limits", job_ends=90.0 + left)
    came = event(90.0, "signal", signal="SIGTERM", sender={"pid": 3, "name": "slurmstepd"})
    diagnosis = diagnosed(limits, came, code=None, signal="SIGTERM")
    assert diagnosis.findings[0].rule == rule


@pytest.mark.parametrize(("pid", "fires"), [(7, True), (8, False)])
def test_an_xid_counts_for_the_process_that_it_names(pid: int, fires: bool) -> None:
    line = f"NVRM: Xid (PCI:0000:3b:00): 79, pid={pid}, name=python, GPU has fallen off the bus."
    diagnosis = diagnosed(event(90.0, "kernel", line=line), code=None, signal="SIGABRT")
    assert (diagnosis.findings[0].rule == "gpu-hardware-fault") is fires


def test_a_bus_error_with_a_full_shared_memory_is_likely_and_with_an_empty_one_is_not() -> None:
    for free, rule in ((1e6, "shared-memory-full"), (60e6, "bus-error")):
        shm = {"path": "/dev/shm", "free": free, "total": 64e6}
        diagnosis = diagnosed(code=None, signal="SIGBUS", samples=[sample(90.0, rss=1e9, shm=shm)])
        assert diagnosis.findings[0].rule == rule
        if rule == "shared-memory-full":
            assert diagnosis.findings[0].confidence is Confidence.LIKELY


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
