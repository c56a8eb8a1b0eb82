"""What is a leak and what is not, by samples and censuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from laststep.analysis.leaks import find_leak
from laststep.record.event import Event
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from tests.written import sample, written

MB = 1e6
LINE = {"file": "/x/train.py", "line": 31}


def samples(count: int, per_second: float, start: float = 600.0, begin: int = 0) -> list[Sample]:
    """Training steps, ten a second; memory in MB, with some noise."""
    return [
        sample(
            float(begin + t),
            rss=(start + per_second * t) * MB + (t * 7919 % 5) * 0.5 * MB,
            host={"total": 8e9, "available": 6e9 - per_second * t * MB},
            inside={"phase": "step", "step": 10 * (begin + t) + 1},
        )
        for t in range(count)
    ]


def census(t: float, **more: Any) -> Event:
    fields = {"step": int(10 * t), "freed": 0, "counts": {}, "containers": [], **more}
    return written(float(t), "census", fields, "recorder")


def holding(t: float, megabytes: float, kind: str = "list", holds: str = "EagerTensor", most: int = 0) -> Event:
    entry = {"name": "losses", "file": "/x/train.py", "kind": kind, "length": int(10 * t), "bytes": megabytes * MB}
    return census(t, containers=[{**entry, "holds": holds, "most": most, "where": LINE}])


def epochs(*ends: float) -> list[Event]:
    return [written(end, "epoch", {"fit": 1, "epoch": number}, "recorder") for number, end in enumerate(ends)]


def steps_of(found: list[Sample]) -> list[Step]:
    return [Step(each.step, each.time, 0.1, 0.0, 1.0, 0.1, 0, 0, 1) for each in found]


def answered(found: list[Sample], events: list[Event]) -> list[str]:
    run = Run("x", (written(0.0, "recorder", {}), *events), steps_of(found), found)
    return [finding.rule for finding in diagnose(run).findings if finding.symptom == "leaked"]


def test_a_list_of_tensors_that_accounts_for_the_growth() -> None:
    found = samples(60, 10)
    events = [holding(30, 300), holding(50, 500)]
    assert answered(found, events) == ["tensors-accumulating"]
    leak = find_leak(found, events)
    assert leak is not None
    assert leak.owner is not None
    assert (leak.owner.name, leak.owner.where) == ("losses", Place("/x/train.py", 31))
    assert leak.owner.share == pytest.approx(1.0, abs=0.1)


def test_a_list_that_grows_by_less_is_not_to_blame() -> None:
    assert answered(samples(60, 10), [holding(30, 3), holding(50, 5)]) == []


def test_a_deque_that_is_bounded_is_not_to_blame() -> None:
    assert answered(samples(60, 10), [holding(30, 300, most=9000), holding(50, 500, most=9000)]) == []


def test_other_things_than_tensors() -> None:
    assert answered(samples(60, 10), [holding(30, 300, holds="bytes"), holding(50, 500, holds="bytes")]) == [
        "host-memory-growing"
    ]


def test_a_dict_may_be_a_cache_until_an_epoch_has_ended() -> None:
    filling = [holding(30, 300, "dict"), holding(50, 500, "dict")]
    assert answered(samples(60, 10), filling) == []
    assert answered(samples(60, 10), [*epochs(5, 10, 15, 20), *filling]) == ["tensors-accumulating"]


def test_growth_without_an_owner_needs_epochs() -> None:
    found = samples(60, 20)
    assert answered(found, [census(30), census(50)]) == []
    assert answered(found, [*epochs(2), census(30), census(50)]) == []
    assert answered(found, [*epochs(2, 10, 20, 30, 40, 50), census(30), census(50)]) == ["host-memory-growing"]


def test_growth_without_an_owner_may_be_garbage_until_it_was_collected() -> None:
    found, ends = samples(60, 20), epochs(2, 10, 20, 30, 40, 50)
    assert answered(found, [*ends, census(30, freed=None), census(50, freed=None)]) == []
    by_python = [census(30, freed=None, collections=3), census(50, freed=None, collections=4)]
    assert answered(found, [*ends, *by_python]) == ["host-memory-growing"]


def test_what_a_garbage_collection_frees_is_no_leak() -> None:
    events = [*epochs(2, 10, 20, 30, 40), census(40, freed=500 * MB), holding(45, 450), holding(55, 550)]
    assert answered(samples(60, 10), events) == []


def test_the_first_epoch_does_not_count() -> None:
    found = samples(30, 20) + samples(40, 0, 1200, begin=30)
    assert answered(found, [*epochs(30, 50, 60), holding(40, 600), holding(60, 600)]) == []


def test_graphs() -> None:
    events = [*epochs(2, 10, 20, 30, 40), census(30, counts={"FuncGraph": 10}), census(50, counts={"FuncGraph": 60})]
    assert answered(samples(60, 10), events) == ["graphs-accumulating"]


def cause_of(found: list[Sample], events: list[Event]) -> str:
    ordered = sorted([written(0.0, "recorder", {}), *events], key=lambda event: event.time)
    findings = diagnose(Run("x", tuple(ordered), steps_of(found), found)).findings
    (cause,) = [finding.cause for finding in findings if finding.rule == "graphs-accumulating"]
    return cause


def graphs(t: float) -> Event:
    return census(t, counts={"FuncGraph": 10 + int(t)})


def test_models_that_are_built_in_a_loop() -> None:
    fields = {"epochs": 1, "new_model": True, "model_made_at": LINE}
    fits = [written(6.0 * n, "fit", {"id": n, **fields}, "recorder") for n in range(1, 9)]
    ends = [written(6.0 * n + 5, "fit-end", {"id": n}, "recorder") for n in range(1, 9)]
    events = [*fits, *ends, *epochs(*range(11, 59, 6)), graphs(30), graphs(50)]
    loop = "A new model is built in every iteration of the loop at train.py:31"
    assert cause_of(samples(60, 10), events) == f"{loop}; TensorFlow keeps the graphs of all of them."


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ([["step", "Literal[3]", "Literal[4]"]], "is retraced for each value of `step`"),
        ([], "is created and traced again and again"),
    ],
)
def test_a_function_that_is_traced_again_and_again(changed: list[list[str]], why: str) -> None:
    fields = {"name": "train", "function": LINE, "where": LINE, "changed": changed}
    traces = [written(float(n), "trace", {**fields, "number": n, "graphs": n, "step": 10 * n}) for n in range(1, 59)]
    assert cause_of(samples(60, 10), traces) == f"`train()` {why}, and TensorFlow keeps every graph."


def test_a_small_growth_is_not_reported() -> None:
    assert answered(samples(60, 2), [holding(30, 60), holding(50, 100)]) == []


def test_memory_freed_at_the_end_does_not_hide_a_leak() -> None:
    found = samples(60, 10)
    events = [holding(30, 300), holding(50, 500)]
    after = samples(10, 0, 400, begin=60)
    run = Run("x", (written(0.0, "recorder", {}), *events, census(65)), steps_of(found), found + after)
    assert "tensors-accumulating" in [finding.rule for finding in diagnose(run).findings]


def test_a_scheduler_s_request_comes_before_a_leak() -> None:
    found = samples(60, 10)
    end = written(61.0, "end", {"code": None, "signal": "SIGTERM", "seconds": 61.0})
    events = [holding(30, 300), holding(50, 500), end]
    run = Run("x", (written(0.0, "recorder", {}), *events), steps_of(found), found)
    assert [finding.rule for finding in diagnose(run).findings] == ["terminated", "tensors-accumulating"]


def test_handles() -> None:
    found = [replace(each, files=20 + 8 * int(each.time)) for each in samples(60, 0)]
    assert answered(found, epochs(1, 2)) == ["handles-growing"]
    settled = [replace(each, files=20 + min(300, 20 * int(each.time))) for each in samples(60, 0)]
    assert answered(settled, epochs(1, 2)) == []
