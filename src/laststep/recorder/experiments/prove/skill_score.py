"""How much was learnt, on a scale that is the same with and without the change: 0 is a constant answer, 1 perfect."""

from __future__ import annotations

import sys
from typing import Any

from laststep.recorder.experiments.prove.held_batches import Batch, leaves

MOST_KINDS = 20
FEWEST = 20  # samples


def skill(model: Any, sample: list[Batch], classes: bool) -> float | None:
    """None where predictions can't be set against targets: several outputs, none at all, other shapes."""
    numpy = sys.modules["numpy"]
    pairs = [(leaves(batch.y), leaves(model(batch.x, training=False))) for batch in sample]
    if any(len(y) != 1 or len(said) != 1 for y, said in pairs):
        return None
    y = numpy.concatenate([one[0] for one, _ in pairs])
    said = numpy.concatenate([numpy.asarray(one[0], dtype="float64") for _, one in pairs])
    if len(y) != len(said) or len(y) < FEWEST:
        return None
    if not numpy.isfinite(said).all():
        return 0.0
    return _of_classes(numpy, y, said) if classes else _of_values(numpy, y, said)


def _of_classes(numpy: Any, y: Any, said: Any) -> float | None:
    if said.ndim == 2 and said.shape[1] > 1 and (y.ndim == 1 or y.shape[1] == 1 or _is_one_of(y, said)):
        true = y.argmax(1) if y.ndim == 2 and y.shape[1] > 1 else y.reshape(-1)
        chance = numpy.unique(true, return_counts=True)[1].max() / len(true)
        right = float((said.argmax(1) == true).mean())
        return (right - float(chance)) / (1 - float(chance)) if chance < 1 else None
    if y.size != said.size:
        return None
    columns = zip(y.reshape(len(y), -1).T, said.reshape(len(y), -1).T, strict=True)
    found = [area for truth, column in columns if (area := _area(numpy, truth > truth.mean(), column)) is not None]
    return 2 * sum(found) / len(found) - 1 if found else None


def _is_one_of(y: Any, said: Any) -> bool:
    """One class for each sample, not several at once."""
    return bool(y.ndim == 2 and y.shape == said.shape and ((y == y.max(1, keepdims=True)).sum(1) == 1).all())


def _area(numpy: Any, truth: Any, said: Any) -> float | None:
    """Under the curve: how often a sample of the one kind gets a higher number than one of the other."""
    ones = int(truth.sum())
    if not 0 < ones < len(truth):
        return None
    _, group, counts = numpy.unique(said, return_inverse=True, return_counts=True)
    ranks = (numpy.cumsum(counts) - (counts - 1) / 2)[group]  # equal numbers share their rank
    return float((ranks[truth].sum() - ones * (ones + 1) / 2) / (ones * (len(truth) - ones)))


def _of_values(numpy: Any, y: Any, said: Any) -> float | None:
    """The share of the targets' spread that is explained."""
    if y.size != said.size:
        return None
    y = y.reshape(len(y), -1).astype("float64")
    spread = float(((y - y.mean(0)) ** 2).mean())
    error = float(((said.reshape(y.shape) - y) ** 2).mean())
    return max(-1.0, 1 - error / spread) if spread > 0 else None


def are_classes(model: Any, batches: list[Batch]) -> bool:
    """Whether the loss compares classes; by its name, otherwise by the targets' values."""
    numpy = sys.modules["numpy"]
    loss = getattr(model, "loss", None)
    name = str(getattr(loss, "name", None) or getattr(loss, "__name__", None) or loss).lower().replace("_", "")
    if "crossentropy" in name or "hinge" in name:
        return True
    if any(word in name for word in ("mean", "mse", "mae", "huber", "cosh", "poisson")):
        return False
    values = leaves(batches[0].y)[:1]
    return bool(values) and bool((values[0] == values[0].round()).all()) and len(numpy.unique(values[0])) <= MOST_KINDS
