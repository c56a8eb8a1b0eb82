"""Changed data in `laststep prove`, and the skill score, which no change may shift. Without TensorFlow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from laststep.recorder.experiments.prove.data_edits import change_data
from laststep.recorder.experiments.prove.held_batches import Batch, CannotTry, leaves, map_arrays, sample
from laststep.recorder.experiments.prove.skill_score import are_classes, skill

PLAIN: Any = SimpleNamespace(_flatten_layers=lambda: [])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2)


def batches(x: np.ndarray, y: Any = None, size: int = 50) -> list[Batch]:
    starts = range(0, len(x), size)
    return [Batch(*map_arrays((x, y), lambda values: values[at : at + size])) for at in starts]  # noqa: B023


def all_of(edited: list[Batch], role: str) -> np.ndarray:
    return np.concatenate([getattr(batch, role) for batch in edited])


def test_structures_keep_their_form() -> None:
    given = ({"a": 1, "b": [2, None]}, (3,))
    assert leaves(given) == [1, 2, 3]
    assert map_arrays(given, lambda value: -value) == ({"a": -1, "b": [-2, None]}, (-3,))


def test_each_column_of_a_table_is_scaled_by_itself(rng: np.random.Generator) -> None:
    x = rng.normal(size=(200, 3)) * [1, 1000, 0] + [0, 5000, 7]
    scaled = all_of(change_data(PLAIN, batches(x), {"inputs": "scaled"}), "x")
    np.testing.assert_allclose(scaled.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(scaled.std(0), [1, 1, 0], atol=1e-9)


def test_features_of_a_series_have_their_own_scales_and_a_picture_has_one(rng: np.random.Generator) -> None:
    series = rng.normal(size=(100, 16, 3)) * [1e-6, 1e4, 1] + [0, 1e6, 400]
    scaled = all_of(change_data(PLAIN, batches(series), {"inputs": "scaled"}), "x")
    np.testing.assert_allclose(scaled.std((0, 1)), 1, atol=1e-6)
    picture = rng.random((100, 8, 8)) * np.linspace(0.5, 1, 8) * 255
    scaled = all_of(change_data(PLAIN, batches(picture), {"inputs": "scaled"}), "x")
    assert scaled.std() == pytest.approx(1)
    assert scaled[..., 7].std() > 1.3 * scaled[..., 0].std()


def test_whole_numbers_that_are_looked_up_are_not_scaled(rng: np.random.Generator) -> None:
    words = rng.integers(0, 9000, (100, 7))
    embeds: Any = SimpleNamespace(_flatten_layers=lambda: [type("Embedding", (), {})()])
    assert (all_of(change_data(embeds, batches(words), {"inputs": "scaled"}), "x") == words).all()
    assert abs(all_of(change_data(PLAIN, batches(words), {"inputs": "scaled"}), "x").mean()) < 0.1


def test_samples_with_a_bad_number_are_left_out_and_their_targets_too() -> None:
    x, y = np.ones((50, 2)), np.arange(50.0)
    x[7, 1], y[9] = np.nan, np.inf
    [edited] = change_data(PLAIN, batches(x, y), {"inputs": "finite"})
    assert len(edited.x) == len(edited.y) == 48
    assert {7.0, 9.0}.isdisjoint(edited.y)
    x[:, 0] = np.nan
    [filled] = change_data(PLAIN, batches(x, y), {"inputs": "finite"})
    assert len(filled.x) == 50
    assert np.isfinite(filled.x).all()


@pytest.mark.parametrize(
    ("trial", "y", "wanted"),
    [
        ({"targets": "scaled"}, [0.0, 2000.0], [-1, 1]),
        ({"targets": "logarithm"}, [1.0, np.e], [0, 1]),
        ({"targets": "distribution"}, [[1.0, 3.0], [0.0, 0.0]], [[0.25, 0.75], [0, 0]]),
        ({"affine": [0.5, 0.5]}, [-1, 1], [0, 1]),
    ],
)
def test_targets_are_changed(trial: dict[str, Any], y: Any, wanted: Any) -> None:
    edited = change_data(PLAIN, [Batch(np.zeros(2), np.array(y))], trial)
    np.testing.assert_allclose(edited[0].y, wanted, atol=1e-6)


def test_no_logarithm_of_what_is_below_zero() -> None:
    with pytest.raises(CannotTry, match="above 0"):
        change_data(PLAIN, [Batch(np.zeros(2), np.array([-1.0, 2.0]))], {"targets": "logarithm"})


@pytest.mark.parametrize("form", ["numbers", "one-hot", "column", "values"])
def test_made_up_targets_have_the_same_values_and_depend_on_the_inputs(rng: np.random.Generator, form: str) -> None:
    x, kinds = rng.normal(size=(400, 6)), rng.integers(0, 3, 400)
    y = {"numbers": kinds, "one-hot": np.eye(3)[kinds], "column": (kinds > 1)[:, None] * 1.0, "values": rng.random(400)}
    made = all_of(change_data(PLAIN, batches(x, y[form]), {"targets": "made up"}), "y")
    assert made.shape == y[form].shape
    assert made.dtype == y[form].dtype
    np.testing.assert_array_equal(np.sort(made, axis=0), np.sort(y[form], axis=0))
    flat = made.argmax(1) if form == "one-hot" else made.reshape(-1)
    fitted, *_ = np.linalg.lstsq(np.c_[x, np.ones(400)], flat, rcond=None)
    assert np.corrcoef(np.c_[x, np.ones(400)] @ fitted, flat)[0, 1] > 0.7


class Average:
    """A variable that a model changes where it predicts as in training."""

    def __init__(self) -> None:
        self.value = 3.0

    def numpy(self) -> float:
        return self.value

    def assign(self, value: float) -> None:
        self.value = value


class Predicts:
    """A model whose predictions are known; `lags` in inference, until its moving averages have adapted."""

    def __init__(self, said: Any, lags: bool = False) -> None:
        self.said, self.lags = said, lags
        self.non_trainable_variables = [Average()] if lags else []

    def __call__(self, x: Any, training: bool) -> Any:
        if training:
            self.non_trainable_variables[0].assign(9.0)
        return map_arrays(self.said, lambda values: 0 * values[x] if self.lags and not training else values[x])

    def compute_loss(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> float:
        return sum(float(((one - two) ** 2).mean()) for one, two in zip(leaves(y), leaves(y_pred), strict=True))


def scored(y: np.ndarray, said: np.ndarray, classes: bool) -> float | None:
    return skill(Predicts(said), batches(np.arange(len(leaves(y)[0])), y), classes)


def test_the_yardstick_reads_0_for_a_constant_answer_and_1_for_a_perfect_one(rng: np.random.Generator) -> None:
    kinds, values = rng.integers(0, 4, 300), rng.normal(size=(300, 1))
    hot, binary, several = np.eye(4)[kinds], (kinds > 1)[:, None] * 1, rng.integers(0, 2, (300, 5))
    for y, perfect, classes in [
        (kinds, hot, True), (hot, hot * 5 - 9, True), (binary, binary - 40.0, True), (several, several * 1.0, True),
        (values, values, False), (values[:, 0], values, False),
    ]:  # fmt: skip
        assert scored(y, perfect, classes) == pytest.approx(1)
        assert scored(y, np.full(perfect.shape, perfect.mean(0)), classes) == pytest.approx(0, abs=0.1)
    assert scored(values, np.full((300, 1), np.nan), False) == 0.0


def test_what_the_moving_averages_do_not_show_yet_counts_and_they_stay_as_they_were(rng: np.random.Generator) -> None:
    y = rng.normal(size=(300, 1))
    model = Predicts(y, lags=True)
    assert skill(model, batches(np.arange(300), y), False) == pytest.approx(1)
    assert model.non_trainable_variables[0].value == 3.0


def test_several_outputs_are_compared_with_the_predictions_for_other_samples(rng: np.random.Generator) -> None:
    y = {"one": rng.normal(size=(300, 1)), "two": rng.normal(size=(300, 2))}
    constant = map_arrays(y, lambda values: np.tile(values.mean(0), (300, 1)))
    assert scored(y, y, False) == pytest.approx(1)
    assert scored(y, constant, False) == pytest.approx(0, abs=0.01)
    assert scored(y, map_arrays(y, lambda values: values * np.nan), False) == 0.0


def test_what_is_judged_is_spread_over_all_batches() -> None:
    chosen = sample(batches(np.arange(100_000), None, 100))
    assert 10 <= len(chosen) <= 21
    assert chosen[-1].x[0] > 80_000


@pytest.mark.parametrize(
    ("loss", "y", "classes"),
    [
        ("sparse_categorical_crossentropy", [0.5], True), ("mse", [0, 1], False),
        (SimpleNamespace(name="binary_crossentropy"), [0.1], True),
        (len, [0, 1, 1], True), (len, [0.1, 0.7], False),
    ],
)  # fmt: skip
def test_whether_classes_are_learnt(loss: Any, y: Any, classes: bool) -> None:
    assert are_classes(SimpleNamespace(loss=loss), [Batch(None, np.array(y))]) is classes
