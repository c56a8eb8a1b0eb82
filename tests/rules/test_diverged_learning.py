"""Rules about losses, labels and weights on made-up runs: each fires, and has a near miss."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Finding
from laststep.analysis.learning.learning import FAILS, LEARNS, UNKNOWN, learning_of
from laststep.analysis.learning.site import trains_in_turns
from laststep.record.event import Event
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.written import written

HERE: dict[str, Any] = {"file": "/home/me/train.py", "line": 30, "function": "<module>", "text": "model.fit(x, y)"}
LAYER: dict[str, Any] = {"file": "/home/me/train.py", "line": 12, "function": "<module>", "text": "Dense(1)"}
BITS = {"shape": [32, 1], "low": 0.0, "high": 1.0, "mean": 0.5, "std": 0.5, "whole": True, "distinct": [0.0, 1.0]}
CHANCES = {"shape": [32, 1], "low": 0.1, "high": 0.9, "mean": 0.5, "std": 0.2, "whole": False}
INPUTS = {"shape": [32, 4], "low": -3.0, "high": 3.0, "mean": 0.0, "std": 1.0, "whole": False}
FALLS = [0.69, 0.5, 0.3, 0.2, 0.15, 0.12, 0.1, 0.09]
FLAT = [0.694, 0.693, 0.694, 0.693, 0.694, 0.693, 0.693, 0.694]
NAMES = ["dense/kernel", "dense/bias", "dense_1/kernel"]


def trained(losses: list[float] = FALLS, *more: Event, **changes: Any) -> Run:
    """A fit of eight epochs of 40 steps: one sigmoid unit, labels 0 and 1, and what is changed of it."""
    loss = {"name": "binary_crossentropy", "from_logits": None, "y_shape": [None, 1], "y_pred_shape": [None, 1]}
    loss |= {"made_by": "Sigmoid", "y_pred_dtype": "float32"} | changes.pop("loss", {})
    unit = {"name": "last", "class": "Dense", "activation": "sigmoid", "units": 1, "where": LAYER}
    unit |= changes.pop("layer", {})
    tensors = {"x": INPUTS, "y": BITS, "y_pred": CHANCES} | changes.pop("tensors", {})
    numbers = {"grads": {"dense": 0.5}, "weights": {"dense": 3.0}, "moved": {"dense": 0.1}, "rate": 0.01}
    numbers |= changes.pop("numbers", {})
    fit = {"id": 1, "new_model": True, "epochs": len(losses), "where": HERE, "model": {"parameters": 9, "trainable": 9}}
    fit |= changes.pop("fit", {})
    site = {"site": 1, "where": HERE, "missing": [], "losses": [loss], "model": {"layers": [unit], "outputs": ["last"]}}
    site |= {"variables": [{"name": name, "shape": [4, 2]} for name in NAMES]} | changes.pop("site", {})
    metrics, batches = changes.pop("metrics", [{}] * len(losses)), changes.pop("batches", 40)
    assert not changes, changes
    events = [written(1.0, "run", {}), written(1.1, "recorder", {"pid": 7}), written(2.0, "fit", fit)]
    events += [written(1.2, "versions", {"tensorflow": "2.21"}), written(3.0, "gradients", site)]
    events += [written(4.0 + n, "numbers", {"site": 1, "step": 20 * n + 20, "since": 20 * n, "loss": 0.7} | numbers)
               for n in range(16)]  # fmt: skip
    events += [written(30.0, "batch", {"site": 1, "batches": 16, "tensors": tensors})]
    events += [written(40.0 + n, "epoch", {"fit": 1, "epoch": n, "batches": batches,
                                           "metrics": {"loss": value} | metrics[n]})
               for n, value in enumerate(losses)]  # fmt: skip
    events += [written(90.0, "fit-end", {"id": 1, "epoch": len(losses) - 1}), written(99.0, "end", {"code": 0}), *more]
    return Run("made-up", tuple(sorted(events, key=lambda event: event.time)))


def found(run: Run) -> dict[str, Finding]:
    """In their order."""
    diagnosis = diagnose(run)
    assert [item for item in diagnosis.unchecked if "rule itself failed" in item.because] == []
    return {finding.rule: finding for finding in diagnosis.findings}


def first(run: Run) -> str:
    return next(iter(found(run)), "healthy")


def stats(low: float, high: float, **more: Any) -> dict[str, Any]:
    mean = (low + high) / 2
    return {"low": low, "high": high, "mean": mean, "std": (high - low) / 3, "whole": False} | more


SOFTMAX = {"activation": "softmax"}
CLASSES = {"name": "sparse_categorical_crossentropy", "y_shape": [None], "y_pred_shape": [None, 5]}
ROWS = {"name": "categorical_crossentropy", "y_shape": [None, 5], "y_pred_shape": [None, 5], "made_by": "Softmax"}
SQUARE = {"name": "mean_squared_error"}
LINEAR = {"made_by": "BiasAdd"}

MISMATCHES: dict[str, tuple[list[float], dict[str, Any]]] = {
    "one unit with softmax": (FALLS, {"loss": {"made_by": "Softmax"}, "layer": SOFTMAX}),
    "one unit for classes": ([0.0] * 8, {"loss": {"name": "categorical_crossentropy"}}),
    "raw numbers": (FLAT, {"loss": LINEAR, "tensors": {"y_pred": stats(-2.0, 3.0)}}),
    "tanh": (FLAT, {"loss": {"made_by": "Tanh"}, "tensors": {"y_pred": stats(-0.9, 0.9)}}),
    "probabilities as logits": (
        [1.609, 1.608] * 4,
        {
            "loss": CLASSES | {"from_logits": True, "made_by": "Maximum"},
            "tensors": {"y_pred": stats(0.0, 0.9, mean=0.2), "y": stats(0.0, 4.0, whole=True)},
        },
    ),
    "softmax twice, TensorFlow's own loss": (
        [1.609, 1.608] * 4,
        {"loss": CLASSES | {"name": "sparse_softmax_cross_entropy_with_logits", "from_logits": True,
                            "made_by": "Softmax"}},
    ),
    "sigmoid before large targets": (FLAT, {"loss": SQUARE, "tensors": {"y": stats(-3.0, 3.0)}}),
    "relu before negative targets": (FLAT, {"loss": SQUARE | {"made_by": "Relu"}, "tensors": {"y": stats(-9.0, 0.0)}}),
}  # fmt: skip

FITTING: dict[str, dict[str, Any]] = {
    "a plain binary model": {},
    "logits that were said to be": {"loss": LINEAR | {"from_logits": True}, "tensors": {"y_pred": stats(-4, 4)}},
    "softmax that Keras looks behind": {
        "loss": CLASSES | {"from_logits": True, "made_by": "Softmax"},
        "tensors": {"y_pred": stats(0.0, 0.9, mean=0.2), "y": stats(0.0, 4.0, whole=True)},
    },
    "relu before counts": {"loss": SQUARE | {"made_by": "Relu"}, "tensors": {"y": stats(0.0, 20.0)}},
    "sigmoid before shares": {"loss": SQUARE, "tensors": {"y": stats(0.0, 1.0)}},
    "tanh before pictures, a few outliers": {
        "loss": SQUARE | {"made_by": "Tanh"},
        "tensors": {"y": stats(-1.0, 4.0, mean=0.0, std=0.4)},
    },
    "positive numbers that Keras normalises": {
        "loss": ROWS | {"made_by": "Softplus"},
        "tensors": {"y": stats(0, 1, row_sums=[1.0, 1.0]), "y_pred": stats(0.0, 7.0)},
    },
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_a_last_layer_that_does_not_fit_is_named(name: str) -> None:
    losses, changes = MISMATCHES[name]
    run = trained(losses, **copy.deepcopy(changes))
    assert first(run) == "output-loss-mismatch"
    finding = found(run)["output-loss-mismatch"]
    assert finding.confidence >= Confidence.LIKELY
    assert finding.where in (Place(**LAYER), Place(**HERE))


@pytest.mark.parametrize("name", FITTING)
def test_a_last_layer_that_fits_is_left_alone(name: str) -> None:
    assert first(trained(FALLS, **copy.deepcopy(FITTING[name]))) == "healthy"


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


def test_a_label_without_a_unit_is_named_where_the_loss_is_nan() -> None:
    changes = {"loss": CLASSES | {"made_by": "BiasAdd", "from_logits": True},
               "tensors": {"y": stats(1.0, 5.0, whole=True), "y_pred": stats(-2, 2)}}  # fmt: skip
    bad = written(5.0, "bad-number", {"site": 1, "step": 1})
    assert first(trained([float("nan")] * 8, bad, **copy.deepcopy(changes))) == "label-out-of-range"
    assert "label-out-of-range" not in found(trained(FALLS, **copy.deepcopy(changes)))  # such as ignore_class=5


def test_broadcast_targets_are_named_and_columns_on_purpose_are_not() -> None:
    met = {"broadcast": {"op": "Sub", "shapes": [[32], [32, 1]], "out": [32, 32]}, "losses": []}
    flat = found(trained(FLAT, site=met))["targets-broadcast"]
    assert flat.confidence is Confidence.LIKELY
    assert "(32,)" in flat.cause
    columns = SQUARE | LINEAR | {"y_shape": [None, 3], "y_pred_shape": [None, 1]}
    assert first(trained(FLAT, loss=columns, tensors={"y": stats(-2, 2)})) == "targets-broadcast"
    quantiles = columns | {"name": "pinball", "y_shape": [None, 1], "y_pred_shape": [None, 3]}
    assert first(trained(FALLS, loss=quantiles, tensors={"y": stats(-2, 2)})) == "healthy"


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


def test_a_stale_value_is_named_unless_it_was_traced_again() -> None:
    stale = {"name": "self.beta", "file": "/home/me/train.py", "line": 8, "before": 0.0, "now": 0.2, "step": 40}
    run = trained(FALLS, written(50.0, "stale", stale))
    assert first(run) == "stale-function-state"
    assert found(run)["stale-function-state"].where == Place("/home/me/train.py", 8)
    counted = written(50.0, "stale", stale | {"before": 2, "now": 2, "written": True})
    assert "only during tracing" in found(trained(FALLS, counted))["stale-function-state"].cause
    again = written(51.0, "gradients", {"site": 2})
    assert first(trained(FALLS, written(50.0, "stale", stale), again)) == "healthy"
    assert first(trained(FALLS, written(50.0, "stale", stale | {"now": 0.0}))) == "healthy"


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
