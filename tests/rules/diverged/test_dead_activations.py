"""dead-activations: units that died on the way, and layers that only look dead."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from tests.rules.diverged.steps import ADAM, SILENT, TABLE, found, reading, run_of, steady


def test_a_layer_that_is_given_zeros_is_not_dead() -> None:
    blank = {"grads": {"net/a": 0.3, "net/b": 0.1, "net/out": 0.2}, "dead": {"net/a/kernel": 1.0}}
    assert "dead-activations" not in found(run_of(steady(**blank)))
    assert "dead-activations" not in found(run_of(steady(**SILENT), x={**TABLE, "zeros": 1.0}))


def test_units_that_all_died_on_the_way_and_those_that_come_back() -> None:
    gone = {"net/a": 0.0, "net/b": 0.0, "net/out": 0.2}
    alive, dead = steady(4, loss=0.4), [reading(40 + 8 * at, 0.4, grads=gone) for at in range(6)]
    finding = found(run_of(alive + dead))["dead-activations"]
    assert finding.confidence is Confidence.LIKELY
    assert "since step 40" in finding.cause
    assert "dead-activations" not in found(run_of(alive + dead[:3] + steady(2, loss=0.4) + dead[:2]))
    # What silenced them has a rule of its own.
    fast = [{**item, "rate": 1.0} for item in alive + dead]
    assert list(found(run_of(fast, optimizer=ADAM))) == ["learning-rate-too-high"]


def test_a_layer_that_has_no_gradient_at_all_is_not_one_whose_gradient_is_0() -> None:
    none = {"grads": {"net/a": None, "net/b": 0.1, "net/out": 0.2}, "dead": {"net/b/kernel": 0.0}}
    assert "dead-activations" in found(run_of(steady(grads=none["grads"] | {"net/a": 0.0})))
    assert "dead-activations" not in found(run_of(steady(**none)))
