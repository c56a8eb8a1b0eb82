"""Which finding comes first, which follows from which, and how the page and the JSON say so."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from laststep.analysis.finding import Confidence, Diagnosis, Evidence, Finding
from laststep.record.follow import Live
from laststep.record.run import Run
from laststep.reports import json, terminal
from laststep.reports.figures import view_of
from laststep.reports.lines import finding_line
from laststep.reports.sheet import Sheet
from laststep.rules.diagnose import diagnose
from laststep.rules.ranking import chain, may_follow, rank
from laststep.rules.rule import SYMPTOMS, Rule, Tier, all_rules
from tests.rules.diverged.steps import HERE, INF, bad, reading, run_of
from tests.rules.runs import diagnosed, error, event
from tests.written import written

MAX_EXCEPTIONS = 3
RULES = all_rules()
CERTAIN, LIKELY, POSSIBLE = Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)


def finding(name: str, confidence: Confidence = LIKELY) -> Finding:
    return Finding(f"Of {name}.", confidence, (Evidence("seen"),), rule=name, symptom=RULES[name].symptom)


def ranked(**found: Confidence) -> list[str]:
    """The order of these rules' findings, the same whichever rule is asked first."""
    findings = [finding(name.replace("_", "-"), confidence) for name, confidence in found.items()]
    orders = [[each.rule for each in rank(order, RULES)] for order in itertools.permutations(findings)]
    assert all(order == orders[0] for order in orders)
    return orders[0]


def test_the_tier_comes_before_the_confidence() -> None:
    assert RULES["gpu-memory-held"].tier < RULES["gpu-out-of-memory"].tier
    assert ranked(gpu_out_of_memory=CERTAIN, gpu_memory_held=POSSIBLE) == ["gpu-memory-held", "gpu-out-of-memory"]


def test_the_confidence_decides_within_a_tier() -> None:
    assert RULES["missing-file"].tier == RULES["disk-full"].tier
    assert ranked(missing_file=LIKELY, disk_full=CERTAIN) == ["disk-full", "missing-file"]
    assert ranked(missing_file=CERTAIN, disk_full=LIKELY) == ["missing-file", "disk-full"]


@pytest.mark.parametrize("echo", ["unhandled-exception", "aborted", "segmentation-fault", "script-exited"])
def test_a_certain_echo_comes_after_a_likely_cause(echo: str) -> None:
    assert RULES[echo].tier is Tier.ECHO
    assert ranked(**{echo: CERTAIN, "missing-file": LIKELY}) == ["missing-file", echo]


def test_a_diverged_root_comes_first_where_the_end_follows_from_it() -> None:
    order = ranked(stopped_on_nan=CERTAIN, nan_loss=POSSIBLE, unscaled_inputs=LIKELY)
    assert order[0] == "unscaled-inputs"


def test_a_diverged_root_comes_after_a_crash_that_has_nothing_to_do_with_it() -> None:
    assert ranked(unscaled_inputs=CERTAIN, missing_file=LIKELY) == ["missing-file", "unscaled-inputs"]
    assert ranked(unscaled_inputs=CERTAIN, segmentation_fault=LIKELY) == ["segmentation-fault", "unscaled-inputs"]


def test_a_diverged_root_comes_first_where_nothing_ended_the_run() -> None:
    assert ranked(loss_not_improving=LIKELY, unscaled_inputs=LIKELY) == ["unscaled-inputs", "loss-not-improving"]


@pytest.mark.parametrize(
    ("leak", "end"),
    [
        ("tensors-accumulating", "host-out-of-memory"),
        ("graphs-accumulating", "host-out-of-memory"),
        ("host-memory-growing", "host-out-of-memory"),
        ("host-memory-growing", "host-allocation-failed"),
        ("tensors-accumulating", "gpu-out-of-memory"),
        ("gpu-memory-growing", "gpu-out-of-memory"),
        ("gpu-memory-growing", "gpu-memory-fragmented"),
        ("handles-growing", "too-many-open-files"),
    ],
)
def test_a_leak_comes_before_the_end_that_it_leads_to(leak: str, end: str) -> None:
    assert ranked(**{end: CERTAIN, leak: LIKELY}) == [leak, end]
    assert rank([finding(end, CERTAIN), finding(leak)], RULES)[1].follows_from == leak


def test_a_leak_comes_after_an_end_that_it_does_not_lead_to() -> None:
    assert ranked(missing_file=LIKELY, tensors_accumulating=CERTAIN) == ["missing-file", "tensors-accumulating"]


SLOW = sorted(rule.name for rule in RULES.values() if rule.symptom == "stalled" and not rule.ends)


def test_some_of_the_stalled_rules_are_about_slowness_and_some_about_the_end() -> None:
    assert {"gpu-unused", "input-starved", "retracing"} <= set(SLOW)
    assert not {"deadlocked", "input-blocked", "network-stalled"} & set(SLOW)


@pytest.mark.parametrize("slow", SLOW)
def test_slowness_never_comes_before_what_ended_the_run(slow: str) -> None:
    """Unless that names it: a time limit is reached because the machine is overloaded."""
    ends = [rule for rule in RULES.values() if rule.ends and slow not in rule.follows]
    first = {rule.name: ranked(**{slow: CERTAIN, rule.name: LIKELY})[0] for rule in ends}
    assert first == {rule.name: rule.name for rule in ends}


def test_a_hang_is_what_the_end_follows_from() -> None:
    assert ranked(terminated=CERTAIN, deadlocked=LIKELY) == ["deadlocked", "terminated"]
    assert ranked(terminated=CERTAIN, input_starved=CERTAIN) == ["terminated", "input-starved"]


def links(*names: str) -> dict[str, str | None]:
    return {each.rule: each.follows_from for each in rank(map(finding, names), RULES)}


def test_each_finding_names_the_nearest_that_it_follows_from() -> None:
    assert links("learning-rate-too-high", "stopped-on-nan", "nan-loss") == {
        "learning-rate-too-high": None,
        "nan-loss": "learning-rate-too-high",
        "stopped-on-nan": "nan-loss",
    }


def test_a_finding_follows_only_from_what_was_found() -> None:
    assert links("learning-rate-too-high", "stopped-on-nan")["stopped-on-nan"] == "learning-rate-too-high"
    assert links("stopped-on-nan") == {"stopped-on-nan": None}
    assert links("missing-file", "gpu-unused") == {"missing-file": None, "gpu-unused": None}


def test_the_chain_is_the_longest_path_to_the_first_finding_and_begins_with_the_end() -> None:
    found = rank(map(finding, ("learning-rate-too-high", "stopped-on-nan", "nan-loss", "loss-not-improving")), RULES)
    assert [each.rule for each in chain(found)] == ["stopped-on-nan", "nan-loss", "learning-rate-too-high"]


def test_the_chain_leaves_out_what_does_not_lead_to_the_first_finding() -> None:
    found = rank(map(finding, ("missing-file", "learning-rate-too-high", "nan-loss")), RULES)
    assert [each.rule for each in chain(found)] == ["missing-file"]
    assert chain([]) == ()


def test_no_rule_may_follow_from_itself_by_any_way() -> None:
    causes = {
        effect.name: [cause.name for cause in RULES.values() if may_follow(effect, cause)] for effect in RULES.values()
    }
    cleared: set[str] = set()
    while free := {name for name, before in causes.items() if name not in cleared and cleared.issuperset(before)}:
        cleared |= free
    assert sorted(set(RULES) - cleared) == []


@every_rule
def test_what_a_rule_follows_exists(rule: Rule) -> None:
    assert set(rule.follows) <= {*RULES, *SYMPTOMS}
    assert set(rule.outranks) <= set(RULES) - {rule.name}


def test_exceptions_to_the_order_by_tier_stay_exceptions() -> None:
    exceptions = {rule.name: rule.outranks for rule in RULES.values() if rule.outranks}
    assert len(exceptions) <= MAX_EXCEPTIONS
    assert not [
        (name, other) for name, others in exceptions.items() for other in others if name in RULES[other].outranks
    ]


def blown_up() -> Diagnosis:
    """Like `laststep demo`: the learning rate is far too high, and TerminateOnNaN stops the fit."""
    steps = run_of(
        [reading(1, rate=2.0), reading(4, 90.0, rate=2.0)], broken=bad(loss=INF), losses=[1.0, 9.0, 40.0, 90.0, INF]
    )
    callback = {"class": "TerminateOnNaN", "users": False}
    stop = {"callback": callback, "hook": "on_train_batch_end", "epoch": 0, "batch": 4, "metrics": {"loss": INF}}
    fit = [
        written(9.0, "run", {"command": ["python", "train.py"]}),
        written(10.5, "fit", {"id": 1, "epochs": 5, "where": HERE, "callbacks": [callback]}),
        written(40.0, "stop", stop),
        written(41.0, "epoch", {"fit": 1, "epoch": 0, "metrics": {"loss": INF}}),
        written(42.0, "fit-end", {"id": 1, "stop": True}),
    ]
    events = sorted([*steps.events, *fit], key=lambda event: event.time)
    return diagnose(Run("made-up", events=tuple(events), steps=steps.steps))


def words(diagnosis: Diagnosis) -> str:
    return " ".join(terminal.page(diagnosis).split())


def test_the_page_shows_how_the_root_led_to_the_end() -> None:
    page = words(blown_up())
    assert "Why learning-rate-too-high LIKELY The learning rate 2 is too high" in page
    chain_shown = "TerminateOnNaN stopped fit ← the loss was inf at step 5 ← the learning rate 2 is too high."
    assert f"How it ended: {chain_shown}" in page
    assert "Also" not in page, "what the chain explains is not listed again"


def test_the_page_shows_no_chain_of_one_link() -> None:
    assert "How it ended" not in words(diagnosed(error("FileNotFoundError", "No such file: 'a.csv'"), code=1))


OPEN = {
    "unhandled-exception": lambda: diagnosed(error("KeyError", "'speed'"), code=1),
    "aborted": lambda: diagnosed(code=None, signal="SIGABRT"),
    "segmentation-fault": lambda: diagnosed(code=None, signal="SIGSEGV"),
    "script-exited": lambda: diagnosed(event(60.0, "exit-call", code=3), code=3),
}


@pytest.mark.parametrize("rule", OPEN)
def test_a_generic_rule_says_what_ended_it_and_not_why(rule: str) -> None:
    diagnosis = OPEN[rule]()
    first = diagnosis.findings[0]
    assert (first.rule, first.confidence) == (rule, CERTAIN)
    page = words(diagnosis)
    assert f"What ended it {rule} {' '.join(first.cause.split())[:40]}" in page
    assert "That is certain; what led to it is not known." in page
    assert "CERTAIN" not in page


@pytest.mark.parametrize("rule", OPEN)
def test_nor_is_it_called_certain_among_others_or_while_the_run_is_watched(rule: str) -> None:
    other = finding("unscaled-inputs")
    diagnosis = dataclasses.replace(OPEN[rule](), findings=(other, finding(rule, CERTAIN)))
    assert f"Of {rule}. ({rule})" in words(diagnosis)
    shown = view_of(diagnosis, Live(), 99.0).findings
    assert [(each.rule, each.confidence) for each in shown] == [("unscaled-inputs", "LIKELY"), (rule, "")]
    assert finding_line(view_of(diagnosis, Live(), 99.0), shown[1], Sheet()).endswith(f" finding {rule}: Of {rule}.")


def test_while_the_run_is_watched_consequences_are_left_out() -> None:
    diagnosis = OPEN["aborted"]()
    found = (finding("missing-file"), dataclasses.replace(finding("aborted"), follows_from="missing-file"))
    shown = view_of(dataclasses.replace(diagnosis, findings=found), Live(), 99.0).findings
    assert [each.rule for each in shown] == ["missing-file"]


def test_a_cause_that_is_certain_is_called_so() -> None:
    page = words(diagnosed(error("FileNotFoundError", "[Errno 2] No such file or directory: 'a.csv'"), code=1))
    assert "Why missing-file CERTAIN" in page
    assert "What ended it" not in page


def test_the_json_names_for_each_finding_what_it_follows_from() -> None:
    found = json.as_data(blown_up())["findings"]
    assert {each["rule"]: each["follows_from"] for each in found} == {
        "learning-rate-too-high": None,
        "nan-loss": "learning-rate-too-high",
        "stopped-on-nan": "nan-loss",
    }


def test_the_json_has_the_keys_that_other_programs_rely_on() -> None:
    data = json.as_data(blown_up())
    assert set(data) == {"run", "findings", "ruled_out", "unchecked"}
    published = {"rule", "symptom", "cause", "confidence", "where", "evidence", "remedies"}
    assert [set(each) for each in data["findings"]] == [published | {"follows_from"}] * 3
