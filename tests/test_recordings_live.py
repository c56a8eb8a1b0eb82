"""Healthy recordings as they were while they ran: `laststep watch` must not blame a model that is going to learn."""

from __future__ import annotations

import pytest

from laststep.record.events.process import Exiting
from laststep.record.events.supervisor import ProcessEnd
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import all_rules
from tests.harness import Scenario, all_scenarios
from tests.recordings import Recordings

SHARES = (0.1, 0.3, 0.5, 0.7)  # of the time from the first step to the last
HEALTHY = [asked for asked in all_scenarios() if asked.expect == "healthy"]


@pytest.mark.parametrize("asked", HEALTHY, ids=lambda asked: asked.name)
def test_a_healthy_run_is_not_blamed_while_it_goes_on(asked: Scenario, recordings: Recordings) -> None:
    run = Run.load(recordings.folder(asked.name))
    rules = [rule for rule in all_rules().values() if rule.symptom == "diverged"]
    for share in SHARES if run.steps else ():
        found = diagnose(as_it_was(run, share), rules)
        assert [(share, finding.rule, finding.cause) for finding in found.findings] == []
        assert [item for item in found.unchecked if "rule itself failed" in item.because] == []


def as_it_was(run: Run, share: float) -> Run:
    """The record up to a moment, of a run that is alive."""
    until = run.steps[0].time + share * (run.steps[-1].time - run.steps[0].time)
    events = tuple(e for e in run.events if e.time <= until and not isinstance(e, ProcessEnd | Exiting))
    return Run(run.id, events, [step for step in run.steps if step.time <= until], alive=True)
