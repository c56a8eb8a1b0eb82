"""Every rule has its headings, a name from the catalogue, a scenario that fires and a near miss that stays quiet."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from laststep.rules.rule import HEADINGS, SYMPTOMS, Rule, all_rules
from tests.harness import all_scenarios, read_scenario

MOST_LINES = 150
RECORDED = Path(__file__).parent / "recorded"

# The names are fixed: other programs rely on them, and none is ever reused for another thing.
NAMES = {
    "stopped": """
        data-exhausted validation-data-exhausted dataset-empty early-stopping callback-stopped-training callback-raised
        callback-swallowed stopped-on-nan interrupted terminated time-limit-reached killed-by-signal script-exited
        finished-short
        """,
    "crashed": """
        host-out-of-memory host-allocation-failed gpu-out-of-memory gpu-memory-fragmented gpu-memory-held
        segmentation-fault aborted illegal-instruction bus-error cuda-kernel-failed gpu-hardware-fault
        gpu-libraries-unusable gpu-too-new library-incompatible shape-mismatch dtype-mismatch label-out-of-range
        bad-labels-for-loss corrupt-record undecodable-image missing-file permission-denied generator-raised
        data-source-unreachable disk-full too-many-open-files shared-memory-full no-gradients unsupported-strategy
        peer-lost unhandled-exception
        """,
    "stalled": """
        input-blocked input-starved shuffle-buffer-filling graph-compiling retracing callback-blocked deadlocked
        python-blocked waiting-for-rank straggling-rank memory-thrashing disk-stalled network-stalled
        threads-oversubscribed gpu-unused machine-overloaded
        """,
    "leaked": "tensors-accumulating graphs-accumulating host-memory-growing gpu-memory-growing handles-growing",
    "diverged": """
        nan-loss bad-input-values exploding-gradients vanishing-gradients dead-activations float16-overflow
        invalid-loss-math output-loss-mismatch weights-not-updating unscaled-inputs unscaled-targets targets-broadcast
        no-signal learning-rate-too-high learning-rate-too-low loss-not-improving stale-function-state
        """,
}
SYMPTOM_OF = {name: symptom for symptom, names in NAMES.items() for name in names.split()}

every_rule = pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)


def source_of(rule: Rule) -> Path:
    return Path(inspect.getfile(rule.check))


def test_there_are_rules() -> None:
    assert len(all_rules()) >= 16


def test_each_symptom_of_the_catalogue_is_one_of_ours() -> None:
    assert set(NAMES) == set(SYMPTOMS)


@every_rule
def test_its_name_is_in_the_catalogue(rule: Rule) -> None:
    assert SYMPTOM_OF.get(rule.name) == rule.symptom


@every_rule
def test_its_file_is_called_like_it(rule: Rule) -> None:
    path = source_of(rule)
    assert path.stem == rule.name.replace("-", "_")
    assert path.parent.name == rule.symptom


@every_rule
def test_its_file_is_short(rule: Rule) -> None:
    assert len(source_of(rule).read_text().splitlines()) <= MOST_LINES


@every_rule
def test_its_docstring_explains(rule: Rule) -> None:
    first, *rest = rule.explanation.splitlines()
    assert first.endswith("."), "the first line is one sentence"
    sections = dict(re.findall(r"^(\S.*)\n((?:[ ]+\S.*\n?|\n)+)", "\n".join(rest).strip() + "\n", re.MULTILINE))
    assert tuple(sections) == HEADINGS
    for heading, text in sections.items():
        assert len(text.split()) >= 4, f"hardly a word under {heading}"


@every_rule
def test_it_outranks_rules_that_exist(rule: Rule) -> None:
    unknown = set(rule.outranks) - set(SYMPTOM_OF)
    assert not unknown
    assert rule.name not in rule.outranks


# What no machine without a card can do: recorded on one that has it (tests/rules/test_recorded.py).
ONLY_RECORDED = {"gpu-unused"}


@every_rule
def test_a_scenario_fires_it(rule: Rule) -> None:
    if rule.name in ONLY_RECORDED:
        assert list(RECORDED.glob(f"{rule.name.replace('-', '_')}_*"))
        return
    stem = rule.name.replace("-", "_")
    scenario = next((asked for asked in all_scenarios() if asked.name == stem), None)
    assert scenario is not None, f"tests/scenarios/{stem}.py is missing"
    assert scenario.expect == rule.name


@every_rule
def test_a_near_miss_does_not_fire_it(rule: Rule) -> None:
    if rule.name in ONLY_RECORDED:
        assert list(RECORDED.glob(f"near_miss_{rule.name.replace('-', '_')}_*"))
        return
    near = [asked for asked in all_scenarios() if asked.is_near_miss and asked.rule == rule.name]
    assert near, f"tests/scenarios/{rule.name.replace('-', '_')}__near_miss.py is missing"
    assert rule.name not in {asked.expect for asked in near}


def test_two_rules_never_outrank_each_other() -> None:
    rules = all_rules()
    both = [(a, b) for a in rules for b in rules[a].outranks if b in rules and a in rules[b].outranks]
    assert both == []


@pytest.mark.parametrize("asked", all_scenarios(), ids=lambda asked: asked.name)
def test_a_scenario_is_about_something_known(asked: object) -> None:
    scenario = read_scenario(asked.path)  # type: ignore[attr-defined]
    assert scenario.rule == "healthy" or scenario.rule in SYMPTOM_OF
    assert scenario.expect == "healthy" or scenario.expect in all_rules()
    assert scenario.title.endswith("."), "the first line is one sentence"
    if not scenario.is_near_miss:
        assert scenario.expect == scenario.rule
