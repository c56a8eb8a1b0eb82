"""tensors-accumulating: a container of tensors that accounts for the growth of memory, on the host and on the GPU."""

from __future__ import annotations

import pytest

from laststep.analysis.leaks import find_leak
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.rules.leaked.gpu import FULL, GROWS, LINE, containers, died, rules
from tests.rules.leaked.runs import answered, census, epochs, holding, samples, steps_of
from tests.written import written


def test_the_list_is_the_root_and_the_full_gpu_its_consequence() -> None:
    diagnosis = died(*GROWS, containers(15.0, 41, 41, 2000))
    assert rules(diagnosis)[:2] == ["tensors-accumulating", "gpu-out-of-memory"]
    first = diagnosis.findings[0]
    assert first.where == Place(**LINE)
    assert "`history` keeps tensors on the GPU" in first.cause
    assert "about 50 MB per step" in first.evidence[0].says


def test_two_censuses_are_compared() -> None:
    diagnosis = died(*GROWS, containers(11.0, 11, 10, 500), containers(FULL, 41, 40, 2000))
    assert rules(diagnosis)[0] == "tensors-accumulating"
    assert "list) holds 40 elements of 50 MB each" in diagnosis.findings[0].evidence[1].says


def test_a_census_after_the_gpu_was_full_does_not_count() -> None:
    late = written(16.0, "census", {"step": 41, "counts": {}, "freed": None, "containers": []})
    assert rules(died(*GROWS, containers(15.0, 41, 41, 2000), late))[0] == "tensors-accumulating"


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


def test_a_dict_may_be_a_cache_until_an_epoch_has_ended() -> None:
    filling = [holding(30, 300, "dict"), holding(50, 500, "dict")]
    assert answered(samples(60, 10), filling) == []
    assert answered(samples(60, 10), [*epochs(5, 10, 15, 20), *filling]) == ["tensors-accumulating"]


def test_memory_freed_at_the_end_does_not_hide_a_leak() -> None:
    found = samples(60, 10)
    events = [holding(30, 300), holding(50, 500)]
    after = samples(10, 0, 400, begin=60)
    run = Run("x", (written(0.0, "recorder", {}), *events, census(65)), steps_of(found), found + after)
    assert "tensors-accumulating" in [finding.rule for finding in diagnose(run).findings]
