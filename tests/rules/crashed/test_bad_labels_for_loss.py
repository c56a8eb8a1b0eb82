"""bad-labels-for-loss: labels that no loss complains of, and labels that a loss can take."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from laststep.analysis.finding import Confidence
from tests.rules.diverged.fits import CLASSES, FALLS, ROWS, first, found, stats, trained
from tests.written import written

LABELS: dict[str, dict[str, Any]] = {
    "minus one": {"tensors": {"y": stats(-1.0, 1.0, distinct=[-1.0, 1.0], whole=True)}},
    "a mask of 255": {"tensors": {"y": stats(0.0, 255.0, distinct=[0.0, 255.0], whole=True)}},
    "divided by 255": {
        "loss": CLASSES | {"made_by": "Softmax"},
        "tensors": {"y": stats(0.0, 4 / 255, distinct=[0.0, 1 / 255, 2 / 255, 4 / 255])},
    },
    "rows of random numbers": {"loss": ROWS, "tensors": {"y": stats(0.0, 1.0, row_sums=[3.1, 6.9])}},
    "standardised rows": {"loss": ROWS, "tensors": {"y": stats(-0.8, 3.0, row_sums=[-0.3, 1.0])}},
    "classes from 1 made one-hot": {
        "loss": ROWS,
        "tensors": {"y": stats(0, 1, row_sums=[0, 1.0], distinct=[0.0, 1.0], column_means=[0.0, 0.2, 0.2, 0.2, 0.2])},
    },
}
GOOD_LABELS: dict[str, dict[str, Any]] = {
    "smoothed rows": {"loss": ROWS, "tensors": {"y": stats(0.02, 0.92, row_sums=[0.99999, 1.00001])}},
    "chances of a teacher": {"tensors": {"y": stats(0.001, 0.999)}},
    "a GAN's shaken labels": {"tensors": {"y": stats(-0.05, 1.05)}},
    "class numbers as floats": {
        "loss": CLASSES | {"made_by": "Softmax"},
        "tensors": {"y": stats(0.0, 4.0, whole=True, distinct=[0.0, 1.0, 2.0, 3.0, 4.0])},
    },
    "minus one with hinge": {"loss": {"name": "hinge", "made_by": "Tanh"}, "tensors": {"y": stats(-1.0, 1.0)}},
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_that_no_loss_complains_of_are_named(name: str) -> None:
    run = trained([1.6, 1.7, 1.9, 2.4, 3.5, 5.0, 8.0, 12.0], **copy.deepcopy(LABELS[name]))
    assert first(run) == "bad-labels-for-loss"
    assert found(run)["bad-labels-for-loss"].confidence >= Confidence.LIKELY


def test_several_classes_at_once_are_doubted_and_left_alone_where_it_learns() -> None:
    several = stats(0.0, 1.0, row_sums=[1.0, 3.0], distinct=[0.0, 1.0], whole=True, column_means=[0.4] * 5)
    changes = {"loss": ROWS, "tensors": {"y": several}}
    flat = found(trained([3.22, 3.21] * 4, **copy.deepcopy(changes)))
    assert flat["bad-labels-for-loss"].confidence is Confidence.LIKELY
    assert first(trained([3.2, 2.5, 2.0, 1.5, 1.2, 1.1], **copy.deepcopy(changes))) == "healthy"


@pytest.mark.parametrize("name", GOOD_LABELS)
def test_labels_that_a_loss_can_take_are_left_alone(name: str) -> None:
    assert first(trained(FALLS, **copy.deepcopy(GOOD_LABELS[name]))) == "healthy"


def test_labels_are_not_surer_than_what_ended_the_program() -> None:
    error = written(95.0, "exception", {"left": "program", "type": "KeyError", "bases": ["KeyError"], "message": "'a'"})
    run = trained(FALLS, error, **copy.deepcopy(LABELS["minus one"]))
    assert found(run)["bad-labels-for-loss"].confidence is Confidence.LIKELY
