"""Whether a model learns, by its losses and metrics."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from laststep.analysis.learning.learning import FAILS, LEARNS, UNKNOWN, learning_of
from tests.rules.diverged.fits import FALLS, FLAT, trained

CURVES: dict[str, tuple[list[float], dict[str, Any], str]] = {
    "falls": (FALLS, {}, LEARNS),
    "no better than a constant prediction": (FLAT, {}, FAILS),
    "starts low, from saved weights": ([0.05, 0.05, 0.05, 0.05, 0.05, 0.05], {}, LEARNS),
    "a plateau, then it falls": ([0.70, 0.70, 0.69, 0.69, 0.66, 0.64], {}, UNKNOWN),
    "rises": ([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], {"loss": {"name": "mine"}}, UNKNOWN),
    "a likelihood below zero": ([-1.0, -1.0, -1.0, -1.0, -1.0], {"loss": {"name": "mine"}}, UNKNOWN),
    "flat, of an unknown kind": ([3.0, 3.01, 3.0, 3.0, 3.01], {"loss": {"name": "mine"}}, FAILS),
    "a regularised loss that falls": ([4.0, 3.0, 2.0, 1.6, 1.3, 1.2], {}, UNKNOWN),
    "too few epochs": (FLAT[:1], {}, UNKNOWN),
    "not a number": ([float("nan")] * 6, {}, UNKNOWN),
    "rare class, flat loss, good accuracy": (FLAT, {"metrics": [{"accuracy": 0.9}] * 8}, LEARNS),
}


@pytest.mark.parametrize("name", CURVES)
def test_does_it_learn(name: str) -> None:
    losses, changes, verdict = CURVES[name]
    numbers = {"loss": losses[0]}
    assert learning_of(trained(losses, numbers=numbers, **copy.deepcopy(changes))).verdict == verdict


def test_a_little_accuracy_is_no_merit_where_the_loss_stands_still() -> None:
    by_chance = [{"accuracy": 0.62}] * 8
    assert learning_of(trained(FLAT, metrics=by_chance, numbers={"loss": 0.69})).verdict == FAILS
    right = {"metrics": [{"accuracy": 1.0}] * 8, "numbers": {"loss": 0.69}, "batches": 8}
    assert learning_of(trained(FLAT, fit={"data": {"batch_size": 4}}, **copy.deepcopy(right))).verdict == FAILS
    assert learning_of(trained(FLAT, fit={"data": {"batch_size": 5}}, **copy.deepcopy(right))).verdict == LEARNS


def test_a_loss_that_falls_back_in_each_epoch() -> None:
    worse = [1.31, 1.3, 1.31, 1.3, 1.31, 1.3, 1.31, 1.3]
    assert learning_of(trained(worse, numbers={"loss": 2.4})).verdict == FAILS
    assert learning_of(trained([1.31, 1.2, 1.1, 1.0, 0.9, 0.85, 0.8, 0.8], numbers={"loss": 2.4})).verdict == UNKNOWN
