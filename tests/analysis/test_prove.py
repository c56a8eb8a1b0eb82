"""What trainings with and without a change say together: proven, withdrawn, or open."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from laststep.analysis.experiments.prove import OPEN, PROVEN, WITHDRAWN, read_result
from laststep.analysis.finding import Confidence, Evidence, Finding
from laststep.record.decode import encode
from laststep.record.events.experiments import ProveResult
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import Rule, rule
from tests.written import written

FALLS, FLAT = [2.0, 1.5, 1.0, 0.5], [2.0, 2.0, 2.0, 2.0]


def trained(skill: list[float] | None = None, losses: list[float] = FLAT, bad: int | None = None) -> dict[str, Any]:
    looks = [[50 * at, value] for at, value in enumerate(skill or [])]
    return {"steps": bad or 100, "bad": bad, "losses": losses, "skill": looks}


def side(*pairs: tuple[dict[str, Any], dict[str, Any]], state: str = "ended", because: str = "") -> Run:
    states = [{"state": "began"}, {"state": "trains", "steps": 100}, {"state": state, "because": because}]
    events = [written(float(at), "side-run", answer) for at, answer in enumerate(states)]
    for number, (before, after) in enumerate(pairs):
        events += [written(1.0, "trained", {"arm": "as it is", "round": number, **before})]
        events += [written(1.0, "trained", {"arm": "changed", "round": number, **after})]
    return Run(id="side", events=tuple(events))


def judged(
    *pairs: Any, certain: bool = False, had_bad: bool = False, same_loss: bool = True, **more: Any
) -> ProveResult:
    return read_result(side(*pairs, **more), "a-rule", "Change it", certain, had_bad, same_loss)


RAISED = trained([0.0], bad=1) | {"raised": "ValueError: shapes"}
LEARNS, NOTHING, BREAKS = trained([0.0, 0.4, 0.9], FALLS), trained([0.0, 0.01, 0.02]), trained([0.0], bad=12)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (NOTHING, LEARNS, PROVEN),
        (BREAKS, LEARNS, PROVEN),
        (BREAKS, trained([0.0, 0.0]), PROVEN),  # what was broken is not: how well it learns is another question
        (NOTHING, NOTHING, WITHDRAWN),
        (LEARNS, NOTHING, OPEN),  # here it learns without the change
        (NOTHING, BREAKS, WITHDRAWN),
        (BREAKS, BREAKS, OPEN),  # not this alone, or not enough of it
        (RAISED, LEARNS, PROVEN),
        (NOTHING, RAISED, OPEN),  # what was tried does not fit this model: that says nothing about the finding
        (LEARNS, LEARNS, OPEN),
        (trained([0.0, 0.3, 0.6], [2.0, 1.6, 1.2, 0.9]), LEARNS, OPEN),  # better, but it was no failure
        (trained([0.5, 0.5, 0.52]), trained([0.5, 0.5, 0.53]), WITHDRAWN),  # knew it before, and learns nothing
        (trained([0.5, 0.3, 0.1]), trained([0.5, 0.6, 0.8]), PROVEN),
        (trained(None, FLAT), trained(None, FALLS), OPEN),  # perhaps to the loss of a constant prediction
        (trained([0.0, 0.0]), trained([0.0, 0.0], FALLS), OPEN),  # to that of a constant prediction
        (trained([0.0, 0.0]), trained([0.0, 0.5], FLAT), PROVEN),
        (trained(None, FLAT), trained(None, FLAT), WITHDRAWN),
        (trained(None, FALLS), trained(None, FALLS), OPEN),
    ],
)
def test_what_two_rounds_say(before: Any, after: Any, verdict: str) -> None:
    assert judged((before, after), (before, after)).verdict == verdict


def test_one_round_is_not_enough_and_rounds_must_agree() -> None:
    assert "increase --seconds" in judged((NOTHING, LEARNS)).because
    answer = judged((NOTHING, LEARNS), (NOTHING, NOTHING))
    assert (answer.verdict, "do not agree" in answer.because) == (OPEN, True)


def test_a_few_steps_can_prove_and_not_refute() -> None:
    short = trained([0.0, 0.02]) | {"steps": 5}
    answer = judged((NOTHING, short), (NOTHING, short))
    assert (answer.verdict, "few steps" in answer.because) == (OPEN, True)
    quick = LEARNS | {"steps": 5}
    assert judged((NOTHING, quick), (NOTHING, quick)).verdict == PROVEN


def test_a_fact_is_not_withdrawn() -> None:
    answer = judged((NOTHING, NOTHING), (NOTHING, NOTHING), certain=True)
    assert (answer.verdict, "is a fact" in answer.because) == (OPEN, True)


def test_a_bad_number_that_does_not_come_back_leaves_it_open() -> None:
    answer = judged((NOTHING, NOTHING), (NOTHING, NOTHING), had_bad=True)
    assert (answer.verdict, "did not reappear" in answer.because) == (OPEN, True)


def test_the_number_that_decides_is_said() -> None:
    pair = trained([0.0, 0.02], FALLS), trained([0.0, 0.91], FALLS)
    assert "skill decides: 0.91 in the end with the change, 0.02 without" in judged(pair, pair).because
    assert "skill" not in judged((BREAKS, LEARNS), (BREAKS, LEARNS)).because


def test_losses_that_measure_different_things_are_not_compared() -> None:
    pair = trained(None, FLAT), trained(None, FALLS)
    assert judged(pair, pair, same_loss=False).verdict == OPEN


def test_what_could_not_be_tried_is_said() -> None:
    answer = judged(state="unsupported", because="its data gave no batch")
    assert (answer.verdict, answer.because) == (OPEN, "the change could not be tried: its data gave no batch")


def test_what_is_kept_is_json() -> None:
    pair = BREAKS | {"losses": [1.0, float("nan")]}, LEARNS
    kept = json.loads(json.dumps(encode(judged(pair, pair)), allow_nan=False))
    assert (kept["verdict"], kept["rounds"][0][0]["losses"], kept["rounds"][1][1]["skill"][-1]) == (
        PROVEN, [1.0, None], [100, 0.9]
    )  # fmt: skip


def rules_of(*names: str) -> list[Rule]:
    def found(run: Run) -> Finding:
        return Finding("It is so.", Confidence.LIKELY, (Evidence("seen"),))

    made = rule(sees=("outside",))(found)
    return [replace(made, name=name, symptom="diverged") for name in names]


def test_a_proven_finding_comes_first_and_a_withdrawn_one_is_ruled_out() -> None:
    kept = [judged((NOTHING, LEARNS), (NOTHING, LEARNS)), judged((NOTHING, NOTHING), (NOTHING, NOTHING))]
    results = [replace(result, rule=name) for result, name in zip(kept, ("proven", "refuted"), strict=True)]
    recorded = tuple(written(9.0, "proof", encode(each)) for each in results)
    run = Run(id="r", events=(written(0.0, "run", {}),), prove_results=recorded)
    answer = diagnose(run, rules_of("refuted", "other", "proven"))
    assert [(f.rule, f.confidence) for f in answer.findings] == [
        ("proven", Confidence.PROVEN), ("other", Confidence.LIKELY)
    ]  # fmt: skip
    assert "Change it" in answer.findings[0].evidence[0].says
    assert [(item.rule, item.measured) for item in answer.ruled_out] == [("refuted", True)]
    assert answer.unchecked == ()


def test_a_damaged_result_has_no_effect() -> None:
    damaged = tuple(written(9.0, "proof", data) for data in ({}, {"rule": ["proven"], "verdict": 3}))
    run = Run(id="r", events=(written(0.0, "run", {}),), prove_results=damaged)
    assert [f.confidence for f in diagnose(run, rules_of("proven")).findings] == [Confidence.LIKELY]
