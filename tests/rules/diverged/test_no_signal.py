"""no-signal: a test of dependence and a model that does not learn."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence
from tests.rules.diverged.fits import FALLS, FLAT, first, found, stats, trained
from tests.written import written


def test_no_signal_needs_a_test_and_a_model_that_does_not_learn() -> None:
    random = written(60.0, "dependence", {"site": 1, "rows": 900, "p": 0.7})
    assert first(trained(FLAT, random)) == "no-signal"
    assert first(trained(FALLS, random)) == "healthy"
    few = written(60.0, "dependence", {"site": 1, "rows": 130, "p": 0.7})
    assert "no-signal" not in found(trained(FLAT, few))
    there = written(60.0, "dependence", {"site": 1, "rows": 900, "p": 0.005})
    assert "no-signal" not in found(trained(FLAT, there))
    by_heart = trained(FALLS, random, metrics=[{"val_loss": 0.70 + n / 50} for n in range(8)])
    assert first(by_heart) == "no-signal"
    same = trained(FLAT, tensors={"x": stats(1.0, 1.0)})
    assert found(same)["no-signal"].confidence is Confidence.CERTAIN


@pytest.mark.parametrize(
    ("p", "confidence", "cause", "says"),
    [
        (0.7, Confidence.LIKELY, "do not depend", "finds no dependence of the targets on the inputs (p = 0.70)"),
        (0.1, Confidence.LIKELY, "do not depend", "finds no dependence of the targets on the inputs (p = 0.10)"),
        (0.03, Confidence.POSSIBLE, "may not depend", "is inconclusive: p = 0.03, where up to 0.02"),
    ],
)
def test_no_signal_claims_no_more_than_its_test(p: float, confidence: Confidence, cause: str, says: str) -> None:
    finding = found(trained(FLAT, written(60.0, "dependence", {"site": 1, "rows": 900, "p": p})))["no-signal"]
    assert finding.confidence is confidence
    assert cause in finding.cause
    assert says in finding.evidence[0].says
