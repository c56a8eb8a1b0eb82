"""The lowest loss that targets allow: a cross-entropy of probabilities has a floor."""

from __future__ import annotations

import math
from typing import Any

import pytest

from laststep.analysis.learning.baseline import Baseline, baseline_of
from laststep.analysis.learning.learning import FAILS, LEARNS, UNKNOWN, learning_of
from laststep.analysis.learning.site import last_site
from tests.rules.diverged.fits import BITS, ROWS, trained

# What a teacher says of 2,000 rows: probabilities around 0.5, whose entropy is hardly below that of a coin.
SOFT = {"shape": [32, 1], "values": 2000, "low": 0.2, "high": 0.8, "mean": 0.5, "std": 0.1, "whole": False,
        "column_means": [0.5], "column_stds": [0.1], "entropy": [0.673, 0.0005]}  # fmt: skip


def baseline(**changes: Any) -> Baseline:
    site = last_site(trained(**changes))
    assert site is not None
    return baseline_of(site)


def verdict(losses: list[float], **y: Any) -> str:
    return learning_of(trained(losses, tensors={"y": SOFT | y}, numbers={"loss": losses[0]})).verdict


def test_a_loss_near_the_floor_of_soft_targets_has_learned() -> None:
    assert verdict([0.6787, 0.6756, 0.6754, 0.6752, 0.6751, 0.675]) == LEARNS
    assert verdict([0.694, 0.693, 0.694, 0.693, 0.693, 0.694]) == FAILS
    assert verdict([0.694, 0.693, 0.692, 0.692, 0.6918, 0.692]) == UNKNOWN


def test_a_range_that_is_hardly_known_is_not_judged() -> None:
    assert verdict([0.694, 0.693, 0.694, 0.693, 0.693, 0.694], entropy=[0.673, 0.01]) == UNKNOWN


def test_an_older_record_gives_a_lower_bound_of_the_floor() -> None:
    older = {name: value for name, value in SOFT.items() if name != "entropy"}
    found = baseline(tensors={"y": older})
    assert found.loss == pytest.approx(math.log(2), abs=1e-4)
    assert 0.66 < found.floor < 0.673  # from mean and spread


def test_targets_of_0_and_1_have_no_floor() -> None:
    assert baseline().floor == 0
    assert baseline(tensors={"y": BITS | {"mean": 0.03, "std": 0.17059}}).floor == 0


def test_smoothed_labels_have_one() -> None:
    rare = BITS | {"mean": 0.1, "std": 0.3, "column_means": [0.1], "column_stds": [0.3]}
    found = baseline(loss={"label_smoothing": 0.2}, tensors={"y": rare})
    assert found.floor == pytest.approx(-(0.1 * math.log(0.1) + 0.9 * math.log(0.9)))
    share = 0.1 * 0.8 + 0.1  # of a yes, after smoothing
    assert found.loss == pytest.approx(-(share * math.log(share) + (1 - share) * math.log(1 - share)))


def test_rows_that_are_distributions() -> None:
    rows = {"shape": [32, 5], "values": 9000, "low": 0.01, "high": 0.6, "mean": 0.2, "std": 0.1, "whole": False}
    rows |= {"row_sums": [1.0, 1.0], "column_means": [0.2] * 5, "column_stds": [0.1] * 5, "row_entropy": [1.5, 0.001]}
    found = baseline(loss=ROWS, layer={"activation": "softmax", "units": 5}, tensors={"y": rows})
    assert (found.loss, found.floor) == (pytest.approx(math.log(5)), 1.5)
    assert found.error == pytest.approx(2 * 0.001 / (math.log(5) - 1.5))


def test_the_evidence_says_what_the_targets_allow() -> None:
    run = trained([0.6787, 0.6756, 0.6754, 0.675], tensors={"y": SOFT}, numbers={"loss": 0.68})
    assert learning_of(run).summary.endswith(
        "a constant prediction would give 0.6931, and the targets' own entropy allows no less than 0.673"
    )
