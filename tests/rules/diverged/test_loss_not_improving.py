"""loss-not-improving: never first, never certain, and not for models trained in turns."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from laststep.analysis.learning.site import trains_in_turns
from tests.rules.diverged.fits import FALLS, FLAT, first, found, trained
from tests.written import written


def test_loss_not_improving_is_never_first_and_never_certain() -> None:
    plain = found(trained(FLAT))
    assert list(plain) == ["loss-not-improving"]
    assert plain["loss-not-improving"].confidence is Confidence.LIKELY
    weak = [0.80, 0.70, 0.69, 0.689, 0.689, 0.688, 0.688, 0.688]
    assert found(trained(weak))["loss-not-improving"].confidence is Confidence.POSSIBLE
    unknown = {"name": "my_loss"}
    assert found(trained(FLAT, loss=unknown))["loss-not-improving"].confidence is Confidence.POSSIBLE
    assert first(trained(FALLS)) == "healthy"
    assert first(trained(FLAT[:3])) == "healthy"


def test_models_trained_in_turns_need_no_falling_loss() -> None:
    other = [written(3.1, "gradients", {"site": 2, "variables": [{"name": "judge/kernel"}]})]
    other += [
        written(4.1 + n, "numbers", {"site": 2, "step": n, "loss": 0.7, "moved": {"judge": 0.1}}) for n in range(9)
    ]
    run = trained(FLAT, *other)
    assert trains_in_turns(run)
    assert first(run) == "healthy"
