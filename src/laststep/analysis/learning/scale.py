"""The size of the data: Keras draws weights for values around 1."""

from __future__ import annotations

import math
from collections.abc import Iterable

from laststep.analysis.learning.outputs import plain_name
from laststep.analysis.learning.site import UNSEEN, Site, gradient, loss_of, or_nan
from laststep.analysis.learning.weights import kernels, shapes
from laststep.record.events.numbers import TensorStatistics
from laststep.record.place import Place

SCALERS = ("BatchNormalization", "LayerNormalization", "Normalization", "Rescaling", "GroupNormalization", "Embedding",
           "UnitNormalization", "Discretization", "Hashing", "IntegerLookup", "CategoryEncoding")  # fmt: skip
PLAIN = ("InputLayer", "Flatten", "Reshape", "Permute", "Dropout", "Masking", "ZeroPadding2D", "Sequential")
# Targets a hundred times as large as 1 make the gradients of a squared error 10,000 times as large; pixels up to 255
# are around 80.
LARGE, LARGE_INPUTS = 100.0, 30.0
Size = tuple[str, float, int | None]


def large(site: Site, names: Iterable[str], least: float = LARGE) -> Size | None:
    """The first of these tensors whose values are far from 1: its name, their size, the column where it is a table."""
    for name in names:
        sizes = [scale_of(batch.tensors.get(name, UNSEEN)) for batch in site.batches]
        if sizes and least <= sizes[-1][0] < 1e20 and sizes[-1][0] < LARGE * sizes[0][0]:  # what grows is no data
            return name, *sizes[-1]
    return None


def large_targets(site: Site) -> Size | None:
    """Targets that are numbers to be met, not names of classes."""
    last = site.losses[-1].name if site.losses else ""  # "y" is what the last one was given
    names = [name for name in site.tensors if name == "y" or name.startswith("y/")]
    return None if "crossentropy" in plain_name(last) and len(names) == 1 else large(site, names)


def large_inputs(site: Site) -> Size | None:
    numbers = [name for name, seen in site.inputs.items() if not _are_names(site, seen)]
    return None if is_scaled_inside(site) else large(site, numbers, LARGE_INPUTS)


def _are_names(site: Site, seen: TensorStatistics) -> bool:
    """Whole numbers that the first trained layer is not given as they are: words, which another model looks up."""
    first = next((shapes(site)[name] for name in kernels(site)), (0, 0))
    shape = (0,) if seen.shape is None else seen.shape
    return seen.dtype in ("int32", "int64") and shape[-1:] != first[-2:-1]


def scale_of(seen: TensorStatistics) -> tuple[float, int | None]:
    """The typical size of a tensor's values; of a table, of the column that is largest."""
    columns = zip(seen.column_means, seen.column_stds, strict=False)
    sizes = [math.hypot(mean, std) for mean, std in columns]
    if len(sizes) > 1:
        return max(sizes), sizes.index(max(sizes))
    whole = math.hypot(or_nan(seen.mean), or_nan(seen.std))
    return (whole if whole == whole else 0.0), None


def reach(seen: TensorStatistics) -> float:
    """How far from 0 the values are, at most."""
    ends = [abs(or_nan(end)) for end in (seen.low, seen.high)]
    return max((end for end in ends if math.isfinite(end)), default=0.0)


def is_scaled_inside(site: Site) -> bool:
    """Whether the model itself puts its inputs in order, or takes them as names of things."""
    first = next((layer.class_name for layer in site.layers if layer.class_name not in PLAIN), None)
    return first in SCALERS


def only_inputs(site: Site) -> float:
    """Of a model of one layer whose data was not seen: the size of its inputs, which the gradient tells; else 0.

    Such a model has no depth in which gradients could grow: it runs away where the rate is too high for its inputs.
    The gradient of a squared error is twice the error times the input.
    """
    if site.tensors or len(kernels(site)) != 1 or not site.good:
        return 0.0
    first = site.good[0]
    size = gradient(first) / (2 * math.sqrt(loss_of(first))) if loss_of(first) > 0 else 0.0
    return size if size > LARGE else 0.0


def data_place(site: Site, name: str) -> Place | None:
    """The line that made the data, where it is known; else the one that trains on it."""
    if site.run.fit is None:
        parts = dict(zip("xy", site.made.made_at, strict=False))
        return parts.get(name[:1]) or site.where
    data = site.run.fit.began.data
    if not name.startswith("x"):
        apart = data.adapter == "ArrayDataAdapter"  # inputs and targets are given each by itself
        return data.y_made_at or (None if apart else data.made_at) or site.where
    return data.x_made_at or data.made_at or data.where or site.where
