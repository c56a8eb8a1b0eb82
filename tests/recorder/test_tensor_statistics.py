"""Statistics of a step's tensors, without TensorFlow."""

from __future__ import annotations

import json

import numpy as np
import pytest

from laststep.recorder.numbers.tensor_statistics import MAX_DISTINCT, RunningStatistics, bad_values


def described(*batches: object) -> dict[str, object]:
    statistics = RunningStatistics()
    for batch in batches:
        statistics.add(np.asarray(batch))
    json.dumps(statistics.describe())
    return statistics.describe()


def test_range_mean_and_spread_over_several_batches() -> None:
    found = described([1.0, 2.0], [3.0, 6.0])
    assert (found["low"], found["high"], found["mean"]) == (1.0, 6.0, 3.0)
    assert found["std"] == pytest.approx(np.std([1, 2, 3, 6]), abs=1e-4)


def test_what_is_not_finite_is_counted_and_left_out_of_the_rest() -> None:
    found = described([[1.0, np.nan], [3.0, np.inf]])
    assert (found["nan"], found["inf"], found["high"]) == (1, 1, 3.0)
    assert found["bad_columns"] == {1: 2}


def test_labels() -> None:
    assert described([0, 1, 2, 1])["distinct"] == [0, 1, 2]
    assert described([0, 1, 2])["whole"] is True
    assert described([0.0, 0.5])["whole"] is False
    assert "distinct" not in described(np.arange(MAX_DISTINCT + 1))


@pytest.mark.parametrize(
    ("rows", "sums", "one_hot"),
    [
        ([[0, 1], [1, 0]], [1.0, 1.0], True),
        ([[0.25, 0.75], [0.5, 0.5]], [1.0, 1.0], False),
        ([[0.9, 0.8], [0.1, 0.2]], [0.3, 1.7], False),
    ],
)
def test_rows_of_a_table(rows: list[list[float]], sums: list[float], one_hot: bool) -> None:
    found = described(np.array(rows, "float64"))
    assert found["row_sums"] == pytest.approx(sums)
    assert found["one_hot"] is one_hot


def test_each_column_has_its_own_scale() -> None:
    found = described(np.array([[1.0, 1000.0], [3.0, 5000.0]]))
    assert found["column_stds"] == [1.0, 2000.0]


@pytest.mark.parametrize("odd", [np.array([]), np.array(["a"]), np.array(3.0), np.zeros((2, 0)), np.array([True])])
def test_odd_arrays_are_no_crash(odd: np.ndarray) -> None:
    assert described(odd)["shape"] == list(odd.shape)


def test_bad_values_name_sample_and_feature() -> None:
    values = np.zeros((4, 3), "float32")
    assert bad_values(values) == {}
    values[2, 1], values[3, 1] = np.nan, np.inf
    found = bad_values(values)
    assert (found["nan"], found["inf"], found["samples"], found["features"]) == (1, 1, [2, 3], [1])
    assert bad_values(np.array([1, 2])) == {}


def entropies(*batches: object) -> dict[str, object]:
    statistics = RunningStatistics(is_target=True)
    for batch in batches:
        statistics.add(np.asarray(batch))
    return {name: value for name, value in statistics.describe().items() if "entropy" in name}


def test_the_entropy_of_targets_that_are_probabilities() -> None:
    rng = np.random.default_rng(3)
    soft = rng.uniform(0.1, 0.9, (500, 1))
    of_each = -(soft * np.log(soft) + (1 - soft) * np.log(1 - soft))
    found = entropies(soft[:200], soft[200:])["entropy"]
    assert found == pytest.approx([of_each.mean(), of_each.std() / np.sqrt(500)], rel=1e-4)
    rows = rng.dirichlet(np.ones(4), 300)
    assert entropies(rows)["row_entropy"][0] == pytest.approx(-(rows * np.log(rows)).sum(1).mean(), rel=1e-4)
    assert "row_entropy" not in entropies(soft)


@pytest.mark.parametrize(
    "targets",
    [[[0.0], [1.0]], [[0, 1], [1, 0]], [[0.5], [1.5]], [[0.5], [np.nan]], [[-0.1], [0.4]], [["a"]], 0.5, [[]]],
    ids=str,
)
def test_other_targets_have_no_entropy(targets: object) -> None:
    assert entropies(targets) == {}
    assert entropies([[0.5], [0.4]], targets).keys() <= {"entropy"}


def test_only_targets_are_asked_for_their_entropy() -> None:
    assert "entropy" not in described([[0.5], [0.4]])
