"""Skill score: how much was learned, on the same scale with and without the change; 0 is constant, 1 is perfect."""

from __future__ import annotations

import sys
from typing import Any

from laststep.recorder.experiments.prove.held_batches import Batch, leaves, map_arrays

MAX_CLASS_VALUES = 20
MIN_SAMPLES = 20  # samples


def skill(model: Any, sample: list[Batch], are_classes: bool) -> float | None:
    """None if it cannot be measured. The moving averages of BatchNormalization lag behind what the model learned: it
    is also measured with the statistics of each batch, and the better score counts."""
    averages = [(variable, variable.numpy()) for variable in model.non_trainable_variables]
    try:
        scores = [
            _skill_in_mode(model, sample, are_classes, mode) for mode in ((False, True) if averages else (False,))
        ]
    finally:
        for variable, value in averages:
            variable.assign(value)
    return max((score for score in scores if score is not None), default=None)


def _skill_in_mode(model: Any, sample: list[Batch], are_classes: bool, training: bool) -> float | None:
    predictions = [model(batch.x, training=training) for batch in sample]
    score = _skill_by_value(sample, predictions, are_classes)
    return score if score is not None else _skill_by_loss(model, sample, predictions)


def _skill_by_loss(model: Any, sample: list[Batch], predictions: list[Any]) -> float | None:
    """How much lower the loss is than with the predictions for other samples: 0 if the inputs make no difference."""
    numpy = sys.modules["numpy"]
    own = other = 0.0
    for batch, predicted in zip(sample, predictions, strict=True):
        swapped = map_arrays(predicted, lambda value: numpy.roll(value, len(value) // 2, axis=0))
        own, other = own + _loss(model, batch, predicted), other + _loss(model, batch, swapped)
    if not numpy.isfinite(own):
        return 0.0
    return max(-1.0, 1 - own / other) if own >= 0 and other > 0 else None


def _loss(model: Any, batch: Batch, predicted: Any) -> float:
    return float(model.compute_loss(x=batch.x, y=batch.y, y_pred=predicted, sample_weight=batch.weights))


def _skill_by_value(sample: list[Batch], predictions: list[Any], are_classes: bool) -> float | None:
    """None if predictions and targets cannot be compared: several outputs, no targets, different shapes."""
    numpy = sys.modules["numpy"]
    pairs = [(leaves(batch.y), leaves(predicted)) for batch, predicted in zip(sample, predictions, strict=True)]
    if any(len(y) != 1 or len(predicted) != 1 for y, predicted in pairs):
        return None
    y = numpy.concatenate([one[0] for one, _ in pairs])
    predicted = numpy.concatenate([numpy.asarray(one[0], dtype="float64") for _, one in pairs])
    if len(y) != len(predicted) or len(y) < MIN_SAMPLES:
        return None
    if not numpy.isfinite(predicted).all():
        return 0.0
    return _class_skill(numpy, y, predicted) if are_classes else _value_skill(numpy, y, predicted)


def _class_skill(numpy: Any, y: Any, predicted: Any) -> float | None:
    if (
        predicted.ndim == 2
        and predicted.shape[1] > 1
        and (y.ndim == 1 or y.shape[1] == 1 or _is_single_label(y, predicted))
    ):
        true = y.argmax(1) if y.ndim == 2 and y.shape[1] > 1 else y.reshape(-1)
        majority_share = numpy.unique(true, return_counts=True)[1].max() / len(true)
        accuracy = float((predicted.argmax(1) == true).mean())
        return (accuracy - float(majority_share)) / (1 - float(majority_share)) if majority_share < 1 else None
    if y.size != predicted.size:
        return None
    columns = zip(y.reshape(len(y), -1).T, predicted.reshape(len(y), -1).T, strict=True)
    found = [
        area
        for truth, column in columns
        if (area := _area_under_curve(numpy, truth > truth.mean(), column)) is not None
    ]
    return 2 * sum(found) / len(found) - 1 if found else None


def _is_single_label(y: Any, predicted: Any) -> bool:
    """One class per sample, not several at once."""
    return bool(y.ndim == 2 and y.shape == predicted.shape and ((y == y.max(1, keepdims=True)).sum(1) == 1).all())


def _area_under_curve(numpy: Any, truth: Any, predicted: Any) -> float | None:
    """Area under the ROC curve: how often a positive sample gets a higher value than a negative one."""
    ones = int(truth.sum())
    if not 0 < ones < len(truth):
        return None
    _, group, counts = numpy.unique(predicted, return_inverse=True, return_counts=True)
    ranks = (numpy.cumsum(counts) - (counts - 1) / 2)[group]  # equal values share their rank
    return float((ranks[truth].sum() - ones * (ones + 1) / 2) / (ones * (len(truth) - ones)))


def _value_skill(numpy: Any, y: Any, predicted: Any) -> float | None:
    """The share of the targets' variance that is explained."""
    if y.size != predicted.size:
        return None
    y = y.reshape(len(y), -1).astype("float64")
    spread = float(((y - y.mean(0)) ** 2).mean())
    error = float(((predicted.reshape(y.shape) - y) ** 2).mean())
    return max(-1.0, 1 - error / spread) if spread > 0 else None


def are_classes(model: Any, batches: list[Batch]) -> bool:
    """Whether the loss compares classes: by its name, otherwise by the values of the targets."""
    numpy = sys.modules["numpy"]
    loss = getattr(model, "loss", None)
    name = str(getattr(loss, "name", None) or getattr(loss, "__name__", None) or loss).lower().replace("_", "")
    if "crossentropy" in name or "hinge" in name:
        return True
    if any(word in name for word in ("mean", "mse", "mae", "huber", "cosh", "poisson")):
        return False
    values = leaves(batches[0].y)[:1]
    return (
        bool(values)
        and bool((values[0] == values[0].round()).all())
        and len(numpy.unique(values[0])) <= MAX_CLASS_VALUES
    )
