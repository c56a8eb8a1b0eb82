"""The changes of the data that can be tried, applied to the held batches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from laststep.recorder.experiments.prove.held_batches import Batch, CannotTry, leaves, map_arrays

SEED = 7
MIN_SCALE_RATIO = 10.0  # from here on, features are scaled one by one


def change_data(model: Any, batches: list[Batch], trial: dict[str, Any]) -> list[Batch]:
    for role, edits in (("inputs", INPUTS), ("targets", TARGETS)):
        if role in trial:
            batches = edits[trial[role]](model, batches)
    if "affine" in trial:
        scale, shift = trial["affine"]
        batches = [batch._replace(y=map_arrays(batch.y, lambda y: y * scale + shift)) for batch in batches]
    return batches


def _scale_inputs(model: Any, batches: list[Batch]) -> list[Batch]:
    """Mean 0 and standard deviation 1, feature by feature; an image as a whole. Inputs of an embedding stay."""
    embeds = any(type(layer).__name__ == "Embedding" for layer in model._flatten_layers())
    moments = _moments([leaves(batch.x) for batch in batches])

    def scale(batch: Batch) -> Batch:
        numbers = iter(moments)

        def scale_array(value: Any) -> Any:
            mean, spread = next(numbers)
            if (value.dtype.kind in "iu" and embeds) or value.dtype.kind not in "fiu":
                return value
            return ((value - mean) / spread).astype("float32" if value.dtype.kind in "iu" else value.dtype)

        return batch._replace(x=map_arrays(batch.x, scale_array))

    return [scale(batch) for batch in batches]


def _moments(rows: list[list[Any]]) -> list[tuple[Any, Any]]:
    numpy = sys.modules["numpy"]
    found = []
    for column in zip(*rows, strict=True):
        if column[0].dtype.kind not in "fiu":
            found.append((0.0, 1.0))
            continue
        width = column[0].shape[-1] if column[0].ndim > 1 else 1
        flat = numpy.concatenate([value.reshape(-1, width) for value in column]).astype("float64")
        mean, spread = numpy.nanmean(flat, axis=0), numpy.nanstd(flat, axis=0)
        if column[0].ndim > 2 and not _have_own_scales(mean, spread):
            mean, spread = numpy.nanmean(flat), numpy.asarray(numpy.nanstd(flat))
        found.append((mean, numpy.where(spread > 0, spread, 1.0)))
    return found


def _have_own_scales(mean: Any, spread: Any) -> bool:
    """Features with different scales, not the columns of an image."""
    wide = spread[spread > 0]
    return wide.size > 1 and bool(
        wide.max() > MIN_SCALE_RATIO * wide.min() or mean.max() - mean.min() > MIN_SCALE_RATIO * wide.max()
    )


def _finite_inputs(model: Any, batches: list[Batch]) -> list[Batch]:
    """Drop the samples with a non-finite value; if most samples have one, replace it by 0."""
    numpy = sys.modules["numpy"]

    def keep_finite(batch: Batch) -> Batch:
        values = [value for value in leaves(batch) if value.dtype.kind == "f" and value.ndim]
        good = numpy.all([numpy.isfinite(v.reshape(len(v), -1)).all(1) for v in values], axis=0) if values else None
        if good is None or good.all():
            return batch
        if good.mean() > 0.5:
            return Batch(*(map_arrays(part, lambda value: value[good] if value.ndim else value) for part in batch))
        return Batch(
            *(map_arrays(part, lambda v: numpy.nan_to_num(v, nan=0.0, posinf=0.0, neginf=0.0)) for part in batch)
        )

    return [keep_finite(batch) for batch in batches]


def _each_target(change: Callable[[Any, Any], Any]) -> Callable[[Any, list[Batch]], list[Batch]]:
    """A change of the targets that needs all of them: change(all targets, targets of a batch)."""

    def edit(model: Any, batches: list[Batch]) -> list[Batch]:
        all_targets = _targets(batches)
        return [batch._replace(y=map_arrays(batch.y, lambda y: change(all_targets, y))) for batch in batches]

    return edit


def _targets(batches: list[Batch]) -> Any:
    numpy = sys.modules["numpy"]
    if any(len(leaves(batch.y)) != 1 for batch in batches):
        raise CannotTry("it has several targets, or none")
    return numpy.concatenate([leaves(batch.y)[0] for batch in batches])


def _standardized(all_targets: Any, y: Any) -> Any:
    spread = all_targets.std(0)
    return ((y - all_targets.mean(0)) / sys.modules["numpy"].where(spread > 0, spread, 1.0)).astype("float32")


def _log(all_targets: Any, y: Any) -> Any:
    if all_targets.min() <= 0:
        raise CannotTry("some targets are not above 0, and have no logarithm")
    return sys.modules["numpy"].log(y).astype("float32")


def _normalized_rows(all_targets: Any, y: Any) -> Any:
    if all_targets.min() < 0:
        raise CannotTry("some targets are below 0, and can't be made a distribution")
    sums = y.sum(-1, keepdims=True)
    return (y / sys.modules["numpy"].where(sums > 0, sums, 1.0)).astype(y.dtype)


def _reshaped_like_predictions(model: Any, batches: list[Batch]) -> list[Batch]:
    """The targets in the shape of the predictions."""
    [predictions] = leaves(model(batches[0].x, training=False))
    shape = tuple(predictions.shape)[1:]
    return [batch._replace(y=map_arrays(batch.y, lambda y: y.reshape((len(y), *shape)))) for batch in batches]


def _synthetic_targets(model: Any, batches: list[Batch]) -> list[Batch]:
    """Targets that do depend on the inputs: a mixture of features, with the same distribution as the real targets."""
    numpy = sys.modules["numpy"]
    all_targets = _targets(batches)
    scores = _feature_mixture(numpy, [leaves(batch.x)[0] for batch in batches])
    order = numpy.argsort(numpy.argsort(scores, kind="stable"), kind="stable")
    flat = all_targets.reshape(len(all_targets), -1)
    one_hot = flat.shape[1] > 1 and set(numpy.unique(flat)) <= {0.0, 1.0}
    if flat.shape[1] > 1 and not one_hot:
        raise CannotTry("its targets are rows of several numbers, and no such targets can be computed from the inputs")
    by_size = flat[numpy.argsort(flat.argmax(1) if one_hot else flat[:, 0], kind="stable")]
    made = by_size[order].reshape(all_targets.shape)
    starts = numpy.cumsum([0, *(len(leaves(batch.y)[0]) for batch in batches)])
    return [
        batch._replace(y=map_arrays(batch.y, lambda y, first=first: made[first : first + len(y)]))  # type: ignore[misc]
        for first, batch in zip(starts, batches, strict=False)
    ]


def _feature_mixture(numpy: Any, inputs: list[Any]) -> Any:
    """One number per sample: the sum of some features; for integer inputs, the mean of a random value for each."""
    rng = numpy.random.default_rng(SEED)
    flat = numpy.concatenate([value.reshape(len(value), -1) for value in inputs])
    if flat.dtype.kind in "iu" and flat.max() < 1_000_000 and flat.min() >= 0:
        return rng.normal(size=int(flat.max()) + 1)[flat].mean(1)
    flat = flat.astype("float64")
    spread = flat.std(0)
    chosen = rng.choice(numpy.flatnonzero(spread > 0), size=min(5, int((spread > 0).sum())), replace=False)
    return ((flat[:, chosen] - flat[:, chosen].mean(0)) / spread[chosen]).sum(1)


INPUTS: dict[str, Callable[[Any, list[Batch]], list[Batch]]] = {"scaled": _scale_inputs, "finite": _finite_inputs}
TARGETS: dict[str, Callable[[Any, list[Batch]], list[Batch]]] = {
    "scaled": _each_target(_standardized),
    "logarithm": _each_target(_log),
    "distribution": _each_target(_normalized_rows),
    "as predicted": _reshaped_like_predictions,
    "made up": _synthetic_targets,
}
