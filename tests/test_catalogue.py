"""Every rule has its headings, a published name, a scenario that fires and a near miss that stays quiet."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from laststep.rules.rule import HEADINGS, SYMPTOMS, Rule, Tier, Vantage, all_rules
from tests.harness import SCENARIOS, Scenario, all_scenarios

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "tests" / "recorded"
MAX_LINES = 150
RULES = Path(inspect.getfile(Rule)).parent
# Other programs rely on these names, and none is ever reused for another thing. `make docs` adds a new rule's.
PUBLISHED = [line.split() for line in (ROOT / "docs" / "rules" / "names.txt").read_text().splitlines()]

every_rule = pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)


def source_of(rule: Rule) -> Path:
    return Path(inspect.getfile(rule.check))


@pytest.mark.parametrize(("symptom", "name"), PUBLISHED, ids=lambda word: word)
def test_a_published_name_stays(symptom: str, name: str) -> None:
    assert name in all_rules(), "a published name never goes"
    assert all_rules()[name].symptom == symptom


def test_a_name_is_published_once() -> None:
    names = [name for _, name in PUBLISHED]
    assert len(names) == len(set(names))


@every_rule
def test_it_is_published(rule: Rule) -> None:
    assert [rule.symptom, rule.name] in PUBLISHED, "make docs"


def test_each_folder_is_a_symptom() -> None:
    assert {path.parent.name for path in RULES.glob("*/__init__.py")} == set(SYMPTOMS)


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_each_file_is_a_rule_and_called_like_it(symptom: str) -> None:
    files = {path.stem for path in (RULES / symptom).glob("*.py")} - {"__init__"}
    assert files == {rule.name.replace("-", "_") for rule in all_rules().values() if rule.symptom == symptom}


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_each_file_of_tests_is_called_like_a_rule(symptom: str) -> None:
    files = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "rules" / symptom).glob("test_*.py")}
    assert files - {"several"} <= {path.stem for path in (RULES / symptom).glob("*.py")}


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
def test_some_record_shows_it(rule: Rule) -> None:
    assert rule.sees
    assert set(rule.sees) <= set(get_args(Vantage))


@every_rule
def test_a_consequence_names_what_it_may_follow_from(rule: Rule) -> None:
    """Nothing follows from a rule of a lower tier: it would come before its own cause."""
    if rule.tier >= Tier.CONSEQUENCE:
        assert rule.follows
    assert [name for name in rule.follows if name in all_rules() and all_rules()[name].tier > rule.tier] == []


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
    assert rule.name in (scenario.expect, scenario.also)


@every_rule
def test_a_near_miss_does_not_fire_it(rule: Rule) -> None:
    if rule.name in ONLY_RECORDED:
        assert list(RECORDED.glob(f"near_miss_{rule.name.replace('-', '_')}_*"))
        return
    near = [asked for asked in all_scenarios() if asked.is_near_miss and asked.rule == rule.name]
    assert near, f"tests/scenarios/{rule.symptom}/{rule.name.replace('-', '_')}__near_miss.py is missing"
    assert rule.name not in {each for asked in near for each in (asked.expect, asked.also)}


@pytest.mark.parametrize("asked", all_scenarios(), ids=lambda asked: asked.name)
def test_a_scenario_is_about_something_known(asked: Scenario) -> None:
    rules = all_rules()
    folder = "healthy" if asked.rule == "healthy" else rules[asked.rule].symptom
    assert (SCENARIOS / folder / f"{asked.name}.py").exists(), f"it belongs into tests/scenarios/{folder}"
    assert asked.expect == "healthy" or asked.expect in rules
    assert asked.title.endswith("."), "the first line is one sentence"
    if not asked.is_near_miss:
        assert asked.rule in (asked.expect, asked.also)


def test_a_scenario_has_a_name_of_its_own() -> None:
    names = [path.stem for path in SCENARIOS.glob("*/*.py")]
    assert len(names) == len(set(names)) == len(all_scenarios())
