"""diagnose() asks every rule, whatever one of them does."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import Answer, rule
from tests.rules.runs import event


def test_a_rule_that_crashes_is_a_result_and_the_others_go_on() -> None:
    def broken(run: Run) -> Answer:
        raise ZeroDivisionError("oh")

    def fine(run: Run) -> Answer:
        return Finding("x", Confidence.LIKELY, (Evidence("y"),))

    diagnosis = diagnose(Run(id="r", events=(event(0.0, "run"),)), [rule()(broken), rule()(fine)])
    assert [finding.rule for finding in diagnosis.findings] == ["fine"]
    assert "ZeroDivisionError" in diagnosis.unchecked[0].because
