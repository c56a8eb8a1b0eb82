"""weights-not-updating: weights that stay, have no gradient, are frozen or unknown to Keras."""

from __future__ import annotations

import copy

from laststep.analysis.finding import Confidence
from laststep.record.place import Place
from tests.rules.diverged.fits import FALLS, FLAT, LAYER, NAMES, first, found, trained
from tests.written import written


def test_weights_that_stay_are_named() -> None:
    still = trained(FLAT, numbers={"moved": {"dense": 0.0}})
    assert first(still) == "weights-not-updating"
    assert found(still)["weights-not-updating"].confidence is Confidence.CERTAIN
    for other in ({"rate": 0.0}, {"grads": {"dense": 0.0}}, {"moved": {"dense": 1e-9}}):
        assert "weights-not-updating" not in found(trained(FLAT, numbers={"moved": {"dense": 0.0}} | other))


def test_weights_without_gradient_are_named_where_nothing_is_learned() -> None:
    some = {"missing": NAMES[:2]}
    assert first(trained(FLAT, site=some)) == "weights-not-updating"
    assert first(trained(FALLS, site=some)) == "healthy"
    every = trained(FLAT, site={"missing": NAMES})
    assert found(every)["weights-not-updating"].confidence is Confidence.CERTAIN


def test_a_model_that_has_nothing_to_train_is_named() -> None:
    said = written(3.0, "warning", {"message": "The model does not have any trainable weights."})
    frozen = trained(FLAT, said, fit={"model": {"parameters": 9, "trainable": 0}})
    assert first(frozen) == "weights-not-updating"
    assert "frozen" in found(frozen)["weights-not-updating"].cause
    unknown = trained(FLAT, said, fit={"model": {"parameters": 0, "trainable": 0}})
    assert "tracks no weights" in found(unknown)["weights-not-updating"].cause


UNASKED = {"unasked": [{"name": "encoder/kernel", "shape": [40, 4]}]}


def test_weights_that_nobody_asks_a_gradient_for() -> None:
    assert first(trained(FLAT, site=UNASKED)) == "weights-not-updating"
    assert first(trained(FALLS, site=UNASKED)) == "healthy", "a frozen base, and a head that learns"
    few = {"unasked": [{"name": "encoder/bias", "shape": [4]}]}
    assert "weights-not-updating" not in found(trained(FLAT, site=few))


def test_weights_that_keras_does_not_know_of() -> None:
    own = {"layer": {"class": "LowRank", "untracked": ["u", "v"]}}
    finding = found(trained(FLAT, **copy.deepcopy(own)))["weights-not-updating"]
    assert "u, v of last" in finding.cause
    assert finding.where == Place(**LAYER)
    assert first(trained(FALLS, **copy.deepcopy(own))) == "healthy"


def test_a_model_most_of_which_is_frozen_and_that_learns_nothing() -> None:
    frozen = {"model": {"parameters": 100, "trainable": 9}, "trainable_set_at": LAYER}
    finding = found(trained(FLAT, fit=frozen))["weights-not-updating"]
    assert (finding.confidence, finding.where) == (Confidence.POSSIBLE, Place(**LAYER))
    assert first(trained(FALLS, fit=frozen)) == "healthy"


def test_gradients_missing_for_most_weights_where_little_is_learned() -> None:
    missing = {"missing": ["dense/kernel", "dense/bias"]}
    little = [0.69, 0.6, 0.59, 0.585, 0.584, 0.584, 0.583, 0.583]
    finding = found(trained(little, site=missing))["weights-not-updating"]
    assert finding.confidence is Confidence.POSSIBLE
    assert first(trained(FALLS, site=missing)) == "healthy"
