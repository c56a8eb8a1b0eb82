"""nan-loss: only possible where its cause is known."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.rules.diverged.steps import FIRES, NAN
from tests.written import written


def test_where_a_cause_is_known_nan_loss_is_only_possible() -> None:
    run = FIRES["invalid-loss-math"]()
    metrics = written(99.0, "epoch", {"epoch": 0, "metrics": {"loss": NAN}}, "recorder")
    findings = diagnose(Run("made-up", events=(*run.events, metrics), steps=run.steps)).findings
    assert [(finding.rule, finding.confidence) for finding in findings] == [
        ("invalid-loss-math", Confidence.LIKELY), ("nan-loss", Confidence.POSSIBLE)]  # fmt: skip
