"""Every scenario is run for real, and laststep names what it died of."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from laststep.analysis.finding import Confidence
from laststep.logs.read import parse_log, run_from_log
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import SYMPTOMS, all_rules
from tests.harness import Ran, Scenario, all_scenarios

pytestmark = pytest.mark.slow

COLUMNS = 80
MOST_LINES = 45
OUTCOMES = ("finished", "stopped", "crashed", "stalled", "running")
RunIt = Callable[[Scenario], Ran]


def _parameter(asked: Scenario) -> Any:
    # One worker has all tests of a scenario: the others need not wait for it.
    marks = [pytest.mark.xdist_group(asked.name), *([pytest.mark.all] if asked.only_in_all else [])]
    return pytest.param(asked, id=asked.name, marks=marks)


EVERY = [_parameter(asked) for asked in all_scenarios()]
WITH_A_LINE = [_parameter(asked) for asked in all_scenarios() if asked.here is not None]


@pytest.fixture(scope="module", params=EVERY)
def asked(request: pytest.FixtureRequest) -> Scenario:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def ran(asked: Scenario, recorded: RunIt) -> Ran:
    return recorded(asked)


def test_the_cause_is_named(asked: Scenario, ran: Ran) -> None:
    found = [finding["rule"] for finding in ran.why["findings"]]
    if asked.expect == "healthy":
        assert found == [], ran.page
    else:
        assert found[:1] == [asked.expect], ran.page
    assert ran.why["run"]["outcome"] == asked.outcome


def test_nothing_is_said_while_a_program_runs_that_leaks_nothing(asked: Scenario, ran: Ran) -> None:
    leaks = [finding for finding in ran.why["findings"] if finding["symptom"] == "leaked"]
    assert len(ran.forecasts) <= (2 if leaks else 0), ran.stderr.decode()


def test_it_ends_as_it_would_have_ended(asked: Scenario, ran: Ran) -> None:
    assert ran.status == asked.exit, ran.stderr.decode()
    exit = ran.why["run"]["exit"]
    if asked.exit < 0:
        assert (exit["code"], exit["signal"]) == (None, _name(asked.exit))
    else:
        assert (exit["code"], exit["signal"]) == (asked.exit, None)


@pytest.mark.parametrize("asked", WITH_A_LINE, indirect=True)
def test_the_users_own_line_is_shown(asked: Scenario, ran: Ran) -> None:
    assert ran.why["findings"], ran.page
    where = ran.why["findings"][0]["where"]
    assert where == {"file": str(ran.cwd / "train.py"), "line": asked.here}
    assert f"train.py:{asked.here}" in ran.page


def test_the_answer_fits_a_screen(asked: Scenario, ran: Ran) -> None:
    for page in (ran.answer, ran.page):
        lines = page.splitlines()
        too_wide = [line for line in lines if len(line) > COLUMNS]
        assert too_wide == []
        assert len(lines) <= MOST_LINES, page
        assert "laststep/src" not in page
        assert "Traceback (most recent call last)" not in page


def test_the_answer_at_the_end_is_that_of_why(asked: Scenario, ran: Ran) -> None:
    if asked.expect == "healthy":
        assert ran.answer == f"laststep: finished, nothing to report ({ran.why['run']['id']})\n"
        assert "Nothing to report" in ran.page
    else:
        assert ran.answer.strip() == ran.page.strip()
        assert asked.expect in ran.page


# What only a recorder can tell: from the log alone it looks like this.
LOOKS_LIKE = {"corrupt_record__model": "missing-file", "stopped_on_nan__home_made": "nan-loss"}


def test_a_log_alone_never_says_another_cause(asked: Scenario, ran: Ran) -> None:
    """What it printed, read as a bare log: the same cause, a part of it, or none."""
    story = parse_log(io.BytesIO(ran.stdout + ran.own_stderr))
    found = [finding.rule for finding in diagnose(run_from_log(story, asked.name)).findings]
    known = {finding["rule"] for finding in ran.why["findings"]} | {asked.expect, LOOKS_LIKE.get(asked.name)}
    assert not found or found[0] in known | {"unhandled-exception"}


def test_the_json_has_its_shape(asked: Scenario, ran: Ran) -> None:
    why = ran.why
    _has(why, run=dict, findings=list, ruled_out=list, unchecked=list)
    run = why["run"]
    _has(run, id=str, command=list, outcome=str, exit=dict, steps=int, epochs=dict, seconds=(int, float))
    _has(run["exit"], code=(int, type(None)), signal=(str, type(None)))
    _has(run["epochs"], reached=(int, type(None)), asked=(int, type(None)))
    assert run["outcome"] in OUTCOMES
    assert run["command"][-1] == "train.py"
    assert 0 < run["seconds"] <= ran.seconds
    for finding in why["findings"]:
        _is_finding(finding)
    for item in [*why["ruled_out"], *why["unchecked"]]:
        _has(item, rule=str, because=str)
        assert item["because"]
        assert "the rule itself failed" not in item["because"]
    answered = [item["rule"] for part in ("findings", "ruled_out", "unchecked") for item in why[part]]
    assert sorted(answered) == sorted(all_rules()), "each rule answers once"


def _is_finding(finding: dict[str, Any]) -> None:
    place = (dict, type(None))
    _has(finding, rule=str, symptom=str, cause=str, confidence=str, where=place, evidence=list, remedies=list)
    assert finding["symptom"] in SYMPTOMS
    assert finding["confidence"] in Confidence.__members__
    assert finding["evidence"], "a finding without evidence is a guess"
    _is_place(finding["where"])
    for item in finding["evidence"]:
        _has(item, says=str)
        assert item["says"]
    for remedy in finding["remedies"]:
        _has(remedy, does=str, change=(str, type(None)), where=place, safe=bool)
        _is_place(remedy["where"])


def _is_place(where: dict[str, Any] | None) -> None:
    if where is not None:
        _has(where, file=str, line=int)


def _has(found: dict[str, Any], **promised: Any) -> None:
    """Exactly these keys, each of its type."""
    assert found.keys() == promised.keys()
    for name, kind in promised.items():
        assert isinstance(found[name], kind), f"{name} is {found[name]!r}"


def _name(status: int) -> str:
    import signal

    return signal.Signals(-status).name
