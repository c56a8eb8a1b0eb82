"""What every answer of laststep about a scenario must be, whether the program runs now or was recorded once."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.logs.read import parse_log, run_from_log
from laststep.record.events.supervisor import Forecast
from laststep.reports import json as json_report
from laststep.reports import terminal
from laststep.rules.diagnose import diagnose, read_diagnosis
from laststep.rules.rule import SYMPTOMS, all_rules
from tests.harness import Scenario

COLUMNS = 80
MAX_LINES = 45
MAX_FORECASTS = 2
# They train nothing, or in a way that is not recorded: that is said, in place of "nothing to report".
WITHOUT_TRAINING = ("data_exhausted__near_miss_tf1_loop", "healthy__evaluate_only")
OUTCOMES = ("finished", "stopped", "crashed", "stalled", "running")


@dataclass(frozen=True)
class Answer:
    """What `laststep why` says of a run folder, asked in this process."""

    diagnosis: Diagnosis
    cwd: str  # where the program ran
    log: bytes  # what it printed
    page: str
    why: dict[str, Any]  # the page for programs

    @property
    def rules(self) -> list[str]:
        return [finding.rule for finding in self.diagnosis.findings]


Check: TypeAlias = Callable[[Scenario, Answer], None]


def read_answer(folder: Path, cwd: Path | str, log: bytes | None = None) -> Answer:
    """`log`: what the program printed, where that is known better than from the record."""
    diagnosis = read_diagnosis(folder)
    printed = diagnosis.run.console.encode() if log is None else log
    why = json.loads(json_report.page(diagnosis))
    return Answer(diagnosis, str(cwd), printed, terminal.page(diagnosis, COLUMNS), why)


def check_all(checks: Iterable[Check], asked: Scenario, answer: Answer) -> None:
    """All of them, so that one run tells all that is wrong with it."""
    failed = []
    for check in checks:
        try:
            check(asked, answer)
        except AssertionError as error:
            failed.append(f"{check.__name__}: {error}")
    assert not failed, f"{asked.name}\n\n" + "\n\n".join([*failed, answer.page])


def the_cause_comes_first(asked: Scenario, answer: Answer) -> None:
    expected = [] if asked.expect == "healthy" else [asked.expect]
    assert (answer.rules if asked.expect == "healthy" else answer.rules[:1]) == expected
    assert asked.also in ("", *answer.rules[1:])
    assert asked.expect == "healthy" or asked.expect in answer.page
    quiet = "No training was seen" if asked.name in WITHOUT_TRAINING else "Nothing to report"
    assert asked.expect != "healthy" or quiet in answer.page


def a_near_miss_is_not_blamed(asked: Scenario, answer: Answer) -> None:
    assert not (asked.is_near_miss and asked.rule in answer.rules)


def the_end_is_told(asked: Scenario, answer: Answer) -> None:
    run = answer.why["run"]
    assert run["outcome"] == asked.outcome
    signal_name = signal.Signals(-asked.exit).name if asked.exit < 0 else None
    assert run["exit"] == {"code": None if asked.exit < 0 else asked.exit, "signal": signal_name}


def the_users_own_line_is_shown(asked: Scenario, answer: Answer) -> None:
    if asked.here is not None:
        where = [finding["where"] for finding in answer.why["findings"][:1]]
        assert where == [{"file": f"{answer.cwd}/train.py", "line": asked.here}]
        assert f"train.py:{asked.here}" in answer.page


def the_page_fits_a_screen(asked: Scenario, answer: Answer) -> None:
    lines = answer.page.splitlines()
    assert [line for line in lines if len(line) > COLUMNS] == []
    assert len(lines) <= MAX_LINES
    assert "laststep/src" not in answer.page
    assert "Traceback (most recent call last)" not in answer.page


def only_leaks_are_forecast(asked: Scenario, answer: Answer) -> None:
    leaks = [finding for finding in answer.diagnosis.findings if finding.symptom == "leaked"]
    assert len(answer.diagnosis.run.all(Forecast)) <= (MAX_FORECASTS if leaks else 0)


# What only a recorder can tell: from the log alone it looks like this.
LOOKS_LIKE = {
    "corrupt_record__model": "missing-file",
    "shape_mismatch__object_array": "dtype-mismatch",
    "stopped_on_nan__home_made": "nan-loss",
}


def a_log_alone_says_no_other_cause(asked: Scenario, answer: Answer) -> None:
    """What it printed, read as a bare log: the same cause, a part of it, or none."""
    found = diagnose(run_from_log(parse_log(io.BytesIO(answer.log)), asked.name)).findings
    known = {*answer.rules, asked.expect, LOOKS_LIKE.get(asked.name), "unhandled-exception"}
    assert not found or found[0].rule in known


def the_json_has_its_shape(asked: Scenario, answer: Answer) -> None:
    why = answer.why
    more = {"unseen": dict} if asked.name in WITHOUT_TRAINING else {}
    _has(why, run=dict, findings=list, ruled_out=list, unchecked=list, **more)
    for unseen in [why[name] for name in more]:
        _has(unseen, kind=str, because=str, remedy=(dict, type(None)))
    run = why["run"]
    _has(run, id=str, command=list, outcome=str, exit=dict, steps=int, epochs=dict, seconds=(int, float))
    _has(run["exit"], code=(int, type(None)), signal=(str, type(None)))
    _has(run["epochs"], reached=(int, type(None)), asked=(int, type(None)))
    assert run["outcome"] in OUTCOMES
    assert run["command"][-1] == "train.py"
    assert 0 < run["seconds"] <= asked.seconds
    for finding in why["findings"]:
        _is_finding(finding)
        assert finding["follows_from"] in {None, *answer.rules} - {finding["rule"]}


def each_rule_answers_once(asked: Scenario, answer: Answer) -> None:
    unfounded = [*answer.why["ruled_out"], *answer.why["unchecked"]]
    for item in unfounded:
        _has(item, rule=str, because=str)
        assert item["because"]
        assert "the rule itself failed" not in item["because"]
    assert sorted([*answer.rules, *(item["rule"] for item in unfounded)]) == sorted(all_rules())


def _is_finding(finding: dict[str, Any]) -> None:
    place, rule = (dict, type(None)), (str, type(None))
    texts = {"rule": str, "symptom": str, "cause": str, "confidence": str, "follows_from": rule}
    _has(finding, **texts, where=place, evidence=list, remedies=list)
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


ON_A_RECORDING: tuple[Check, ...] = (
    the_cause_comes_first,
    a_near_miss_is_not_blamed,
    the_end_is_told,
    the_users_own_line_is_shown,
    the_page_fits_a_screen,
    only_leaks_are_forecast,
    a_log_alone_says_no_other_cause,
    the_json_has_its_shape,
    each_rule_answers_once,
)
