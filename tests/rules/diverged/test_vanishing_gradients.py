"""vanishing-gradients: only possible where the targets do not depend on the inputs."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from laststep.record.run import Run
from tests.rules.diverged.steps import FIRES, found
from tests.written import written


def test_targets_without_a_link_to_the_inputs_leave_a_finding_possible() -> None:
    run = FIRES["vanishing-gradients"]()
    luck = written(90.0, "dependence", {"site": 2, "rows": 400, "p": 0.6}, "recorder")
    findings = found(Run("made-up", events=(*run.events, luck), steps=run.steps))
    assert findings["vanishing-gradients"].confidence is Confidence.POSSIBLE
    unclear = written(90.0, "dependence", {"site": 2, "rows": 400, "p": 0.05}, "recorder")
    findings = found(Run("made-up", events=(*run.events, unclear), steps=run.steps))
    assert findings["vanishing-gradients"].confidence is Confidence.LIKELY
