"""The rules about a step's numbers: each fires, its near miss does not."""

from __future__ import annotations

import dataclasses

import pytest

from laststep.analysis.finding import Confidence
from laststep.record.event import Event
from laststep.record.events.numbers import BatchStatistics, Gradients, Numbers
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import all_rules
from tests.rules.diverged.steps import FADING, FIRES, HERE, NEAR_MISSES, RULES, SIGMOIDS, found, reading, run_of, steady


@pytest.mark.parametrize("rule", RULES)
def test_it_is_there_with_a_run_that_fires_and_a_near_miss(rule: str) -> None:
    assert rule in all_rules()
    assert {rule} <= set(FIRES) & set(NEAR_MISSES)


@pytest.mark.parametrize("rule", RULES)
def test_it_names_its_cause_first_with_evidence_and_a_line(rule: str) -> None:
    run = FIRES[rule]()
    finding = diagnose(run).findings[0]
    assert finding.rule == rule
    assert finding.confidence in (Confidence.LIKELY, Confidence.CERTAIN)
    assert finding.remedies
    assert finding.where is not None
    assert all(len(evidence.says) < 160 for evidence in finding.evidence)


@pytest.mark.parametrize("rule", RULES)
def test_its_near_miss_is_not_it(rule: str) -> None:
    assert rule not in found(NEAR_MISSES[rule]())


@pytest.mark.parametrize("rule", RULES)
def test_one_cause_is_enough(rule: str) -> None:
    sure = [name for name, finding in found(FIRES[rule]()).items() if finding.confidence >= Confidence.LIKELY]
    assert sure == [rule]


def test_a_training_that_works_has_no_finding() -> None:
    assert found(run_of([reading(1 + 8 * n, 1.0 / (n + 1)) for n in range(12)])) == {}


def test_too_few_steps_are_not_judged() -> None:
    assert found(run_of([reading(n, grads=FADING) for n in (1, 2, 3)], losses=[1.0, 1.0, 1.0], model=SIGMOIDS)) == {}


def test_the_layer_where_it_begins_is_told() -> None:
    assert found(FIRES["vanishing-gradients"]())["vanishing-gradients"].where == Place(**HERE | {"line": 12})
    assert found(FIRES["dead-activations"]())["dead-activations"].where == Place(**HERE | {"line": 11})


def test_a_rate_to_try_is_told() -> None:
    low = found(FIRES["learning-rate-too-low"]())["learning-rate-too-low"].remedies[0]
    high = found(FIRES["learning-rate-too-high"]())["learning-rate-too-high"].remedies[0]
    assert float(str(low.change).partition("=")[2]) > 1e-5
    assert float(str(high.change).partition("=")[2]) <= 0.01


def test_two_trainings_at_once_are_not_judged() -> None:
    """The discriminator of a GAN is at chance when all is well."""
    run = run_of(steady(grads=FADING), model=SIGMOIDS)
    twin: list[Event] = []
    for event in run.events:
        if isinstance(event, Gradients):
            twin.append(dataclasses.replace(event, time=event.time + 0.5, site=3, where=Place("/home/me/train.py", 9)))
        elif isinstance(event, (Numbers, BatchStatistics)):
            twin.append(dataclasses.replace(event, time=event.time + 0.5, site=3))
    both = tuple(sorted([*run.events, *twin], key=lambda event: event.time))
    assert found(Run("made-up", events=both, steps=run.steps)) == {}
