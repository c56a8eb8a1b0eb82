"""What none of the rules calls a leak, and what comes before one."""

from __future__ import annotations

from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.rules.leaked.runs import MB, answered, census, epochs, holding, samples, steps_of
from tests.written import written


def test_what_a_garbage_collection_frees_is_no_leak() -> None:
    events = [*epochs(2, 10, 20, 30, 40), census(40, freed=500 * MB), holding(45, 450), holding(55, 550)]
    assert answered(samples(60, 10), events) == []


def test_the_first_epoch_does_not_count() -> None:
    found = samples(30, 20) + samples(40, 0, 1200, begin=30)
    assert answered(found, [*epochs(30, 50, 60), holding(40, 600), holding(60, 600)]) == []


def test_a_small_growth_is_not_reported() -> None:
    assert answered(samples(60, 2), [holding(30, 60), holding(50, 100)]) == []


def test_a_scheduler_s_request_comes_before_a_leak() -> None:
    found = samples(60, 10)
    end = written(61.0, "end", {"code": None, "signal": "SIGTERM", "seconds": 61.0})
    events = [holding(30, 300), holding(50, 500), end]
    run = Run("x", (written(0.0, "recorder", {}), *events), steps_of(found), found)
    assert [finding.rule for finding in diagnose(run).findings] == ["terminated", "tensors-accumulating"]
