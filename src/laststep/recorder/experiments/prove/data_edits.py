"""The changes of the data that can be tried, on the batches that are held."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from laststep.recorder.experiments.prove.held_batches import Batch, CannotTry, changed, leaves

SEED = 7
UNLIKE = 10.0


def change_data(model: Any, batches: list[Batch], trial: dict[str, Any]) -> list[Batch]:
    for role, edits in (("inputs", INPUTS), ("targets", TARGETS)):
        if role in trial:
            batches = edits[trial[role]](model, batches)
    if "affine" in trial:
        scale, shift = trial["affine"]
        batches = [batch._replace(y=changed(batch.y, lambda y: y * scale + shift)) for batch in batches]
    return batches


def _scale_inputs(model: Any, batches: list[Batch]) -> list[Batch]:
    """Mean 0 and spread 1, each feature by itself; a picture as a whole. Not what is looked up."""
    embeds = any(type(layer).__name__ == "Embedding" for layer in model._flatten_layers())
    moments = _moments([leaves(batch.x) for batch in batches])

    def scale(batch: Batch) -> Batch:
        numbers = iter(moments)

        def one(value: Any) -> Any:
            mean, spread = next(numbers)
            if (value.dtype.kind in "iu" and embeds) or value.dtype.kind not in "fiu":
                return value
            return ((value - mean) / spread).astype("float32" if value.dtype.kind in "iu" else value.dtype)

        return batch._replace(x=changed(batch.x, one))

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
        if column[0].ndim > 2 and not _are_unlike(mean, spread):
            mean, spread = numpy.nanmean(flat), numpy.asarray(numpy.nanstd(flat))
        found.append((mean, numpy.where(spread > 0, spread, 1.0)))
    return found


def _are_unlike(mean: Any, spread: Any) -> bool:
    """Features with scales of their own, not the columns of a picture."""
    wide = spread[spread > 0]
    return wide.size > 1 and bool(wide.max() > UNLIKE * wide.min() or mean.max() - mean.min() > UNLIKE * wide.max())


def _finite_inputs(model: Any, batches: list[Batch]) -> list[Batch]:
    """Without the samples that hold a bad number; where most do, 0 in its place."""
    numpy = sys.modules["numpy"]

    def mend(batch: Batch) -> Batch:
        values = [value for value in leaves(batch) if value.dtype.kind == "f" and value.ndim]
        good = numpy.all([numpy.isfinite(v.reshape(len(v), -1)).all(1) for v in values], axis=0) if values else None
        if good is None or good.all():
            return batch
        if good.mean() > 0.5:
            return Batch(*(changed(part, lambda value: value[good] if value.ndim else value) for part in batch))
        return Batch(*(changed(part, lambda v: numpy.nan_to_num(v, nan=0.0, posinf=0.0, neginf=0.0)) for part in batch))

    return [mend(batch) for batch in batches]


def _each_target(change: Callable[[Any, Any], Any]) -> Callable[[Any, list[Batch]], list[Batch]]:
    """A change of the targets that needs to see them all: change(all of them, these)."""

    def edit(model: Any, batches: list[Batch]) -> list[Batch]:
        everything = _targets(batches)
        return [batch._replace(y=changed(batch.y, lambda y: change(everything, y))) for batch in batches]

    return edit


def _targets(batches: list[Batch]) -> Any:
    numpy = sys.modules["numpy"]
    if any(len(leaves(batch.y)) != 1 for batch in batches):
        raise CannotTry("it has several targets, or none")
    return numpy.concatenate([leaves(batch.y)[0] for batch in batches])


def _standard(everything: Any, y: Any) -> Any:
    spread = everything.std(0)
    return ((y - everything.mean(0)) / sys.modules["numpy"].where(spread > 0, spread, 1.0)).astype("float32")


def _logarithm(everything: Any, y: Any) -> Any:
    if everything.min() <= 0:
        raise CannotTry("some targets are not above 0, and have no logarithm")
    return sys.modules["numpy"].log(y).astype("float32")


def _distribution(everything: Any, y: Any) -> Any:
    if everything.min() < 0:
        raise CannotTry("some targets are below 0, and can't be made a distribution")
    sums = y.sum(-1, keepdims=True)
    return (y / sys.modules["numpy"].where(sums > 0, sums, 1.0)).astype(y.dtype)


def _as_predicted(model: Any, batches: list[Batch]) -> list[Batch]:
    """The targets in the shape of the predictions."""
    [said] = leaves(model(batches[0].x, training=False))
    shape = tuple(said.shape)[1:]
    return [batch._replace(y=changed(batch.y, lambda y: y.reshape((len(y), *shape)))) for batch in batches]


def _made_up(model: Any, batches: list[Batch]) -> list[Batch]:
    """Targets that do depend on the inputs: a mixture of them, cut into the same shares as the real ones."""
    numpy = sys.modules["numpy"]
    everything = _targets(batches)
    scores = _mixtures(numpy, [leaves(batch.x)[0] for batch in batches])
    order = numpy.argsort(numpy.argsort(scores, kind="stable"), kind="stable")
    flat = everything.reshape(len(everything), -1)
    one_hot = flat.shape[1] > 1 and set(numpy.unique(flat)) <= {0.0, 1.0}
    if flat.shape[1] > 1 and not one_hot:
        raise CannotTry("its targets are rows of several numbers, and nothing like them can be made up")
    by_size = flat[numpy.argsort(flat.argmax(1) if one_hot else flat[:, 0], kind="stable")]
    made = by_size[order].reshape(everything.shape)
    starts = numpy.cumsum([0, *(len(leaves(batch.y)[0]) for batch in batches)])
    return [
        batch._replace(y=changed(batch.y, lambda y, first=first: made[first : first + len(y)]))  # type: ignore[misc]
        for first, batch in zip(starts, batches, strict=False)
    ]


def _mixtures(numpy: Any, inputs: list[Any]) -> Any:
    """One number for each sample: some features added up; of looked-up numbers, a value for each of them."""
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
    "scaled": _each_target(_standard),
    "logarithm": _each_target(_logarithm),
    "distribution": _each_target(_distribution),
    "as predicted": _as_predicted,
    "made up": _made_up,
}
