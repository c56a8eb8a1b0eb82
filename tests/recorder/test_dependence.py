"""Whether targets depend on inputs: the test must tell shuffled targets from real ones. Without TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

from laststep.recorder.numbers.dependence import ENOUGH_ROWS, MIN_ROWS, DependenceTest


def asked(x: np.ndarray, y: np.ndarray) -> dict[str, object] | None:
    dependence = DependenceTest()
    for at in range(0, len(x), 50):
        dependence.add({"x": x[at : at + 50], "y": y[at : at + 50]})
    return dependence.run(at_end=True)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def linear(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=(600, 20))
    return x, x[:, 3] * 2 + rng.normal(size=600)


def ring(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """No single feature shows it; neighbours do."""
    x = rng.normal(size=(600, 2))
    return x, (np.hypot(*x.T) > 1.2).astype("int32")


def words(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, 600)
    x = rng.integers(0, 2000, (600, 12))
    x[:, 0] = np.where(y == 1, 777, 333)
    return rng.permuted(x, axis=1), y


def hot(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 4, 600)
    return rng.normal(size=(600, 6, 6, 1)) + y[:, None, None, None], np.eye(4)[y]


@pytest.mark.parametrize("make", [linear, ring, words, hot])
def test_targets_that_depend_are_seen_and_shuffled_ones_are_not(make: object, rng: np.random.Generator) -> None:
    x, y = make(rng)  # type: ignore[operator]
    real, shuffled = asked(x, y), asked(x, y[rng.permutation(len(y))])
    assert real is not None
    assert real["p"] <= 0.02
    assert shuffled is not None
    assert shuffled["p"] > 0.02


def test_false_alarms_are_as_rare_as_they_should_be(rng: np.random.Generator) -> None:
    found = [asked(rng.normal(size=(150, 5)), rng.integers(0, 2, 150)) for _ in range(40)]
    assert None not in found
    assert sum(result["p"] <= 0.02 for result in found) <= 4


def test_inputs_that_are_all_the_same(rng: np.random.Generator) -> None:
    assert asked(np.zeros((300, 8)), rng.integers(0, 2, 300)) is None


def test_the_same_row_again_and_again_is_one_row(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    assert asked(np.tile(x, (5, 1)), np.tile(y, 5)) is None, f"fewer than {MIN_ROWS} different ones"


def test_asked_once_when_there_are_enough(rng: np.random.Generator) -> None:
    dependence = DependenceTest()
    x, y = rng.normal(size=(ENOUGH_ROWS, 3)), rng.integers(0, 2, ENOUGH_ROWS)
    dependence.add({"x": x[:-1], "y": y[:-1]})
    assert dependence.run() is None
    dependence.add({"x": x[-1:], "y": y[-1:]})
    assert dependence.run() is not None
    assert dependence.run(at_end=True) is None


@pytest.mark.parametrize("y", [np.zeros((50, 3, 3)), np.random.default_rng(1).random((50, 4))])
def test_several_targets_for_a_row_are_not_asked_about(y: np.ndarray, rng: np.random.Generator) -> None:
    assert asked(rng.normal(size=(50, 3)), y) is None
