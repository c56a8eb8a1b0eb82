"""Every rule has its headings, a name from the catalogue, a scenario that fires and a near miss that stays quiet."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from laststep.rules.rule import HEADINGS, Rule, all_rules
from tests.harness import SCENARIOS, Scenario, all_scenarios

MAX_LINES = 150
RECORDED = Path(__file__).parent / "recorded"

# Published: other programs rely on these names, and none is ever reused for another thing. A new rule need not be here.
PUBLISHED = {
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

every_rule = pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)


def source_of(rule: Rule) -> Path:
    return Path(inspect.getfile(rule.check))


@pytest.mark.parametrize("symptom", PUBLISHED)
def test_a_published_name_stays(symptom: str) -> None:
    assert set(PUBLISHED[symptom].split()) <= {rule.name for rule in all_rules().values() if rule.symptom == symptom}


@every_rule
def test_its_file_is_called_like_it(rule: Rule) -> None:
    path = source_of(rule)
    assert path.stem == rule.name.replace("-", "_")
    assert path.parent.name == rule.symptom


@every_rule
def test_its_file_is_short(rule: Rule) -> None:
    assert len(source_of(rule).read_text().splitlines()) <= MAX_LINES


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
    assert set(rule.outranks) <= set(all_rules())
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
    assert scenario is not None, f"tests/scenarios/{rule.symptom}/{stem}.py is missing"
    assert scenario.expect == rule.name


@every_rule
def test_a_near_miss_does_not_fire_it(rule: Rule) -> None:
    if rule.name in ONLY_RECORDED:
        assert list(RECORDED.glob(f"near_miss_{rule.name.replace('-', '_')}_*"))
        return
    near = [asked for asked in all_scenarios() if asked.is_near_miss and asked.rule == rule.name]
    assert near, f"tests/scenarios/{rule.symptom}/{rule.name.replace('-', '_')}__near_miss.py is missing"
    assert rule.name not in {asked.expect for asked in near}


def test_two_rules_never_outrank_each_other() -> None:
    rules = all_rules()
    both = [(a, b) for a in rules for b in rules[a].outranks if b in rules and a in rules[b].outranks]
    assert both == []


@pytest.mark.parametrize("asked", all_scenarios(), ids=lambda asked: asked.name)
def test_a_scenario_is_about_something_known(asked: Scenario) -> None:
    rules = all_rules()
    folder = "healthy" if asked.rule == "healthy" else rules[asked.rule].symptom
    assert (SCENARIOS / folder / f"{asked.name}.py").exists(), f"it belongs into tests/scenarios/{folder}"
    assert asked.expect == "healthy" or asked.expect in rules
    assert asked.title.endswith("."), "the first line is one sentence"
    if not asked.is_near_miss:
        assert asked.expect == asked.rule


def test_a_scenario_has_a_name_of_its_own() -> None:
    names = [path.stem for path in SCENARIOS.glob("*/*.py")]
    assert len(names) == len(set(names)) == len(all_scenarios())
