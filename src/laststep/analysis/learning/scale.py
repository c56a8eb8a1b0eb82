"""The scale of inputs and targets: Keras's default initialization suits values around 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from laststep.analysis.learning.outputs import plain_name
from laststep.analysis.learning.site import UNSEEN, Site, gradient_norm, loss_of, or_nan
from laststep.analysis.learning.weights import kernels, shapes
from laststep.record.events.numbers import TensorStatistics
from laststep.record.place import Place

NORMALIZERS = ("BatchNormalization", "LayerNormalization", "Normalization", "Rescaling", "GroupNormalization",
               "UnitNormalization")  # fmt: skip
LOOKUPS = ("Embedding", "Discretization", "Hashing", "IntegerLookup", "CategoryEncoding")  # inputs are indices
PASS_THROUGH = ("InputLayer", "Flatten", "Reshape", "Permute", "Dropout", "Masking", "ZeroPadding2D", "Sequential")
# Targets around 100 make the gradients of a squared error 10,000 times as large as targets around 1. Pixels from 0 to
# 255 have a scale of about 80.
MIN_LARGE, MIN_LARGE_INPUT = 100.0, 30.0
MAX_DATA = 1e20  # larger values come from an overflow, not from the data


class LargeTensor(NamedTuple):
    """A tensor whose values are far from 1."""

    name: str
    scale: float
    column: int | None  # the largest, where it has several


def large(site: Site, names: Iterable[str], least: float = MIN_LARGE) -> LargeTensor | None:
    """The first of these tensors whose values are far from 1."""
    for name in names:
        scales = [scale_of(batch.tensors.get(name, UNSEEN)) for batch in site.batches]
        grows = bool(scales) and scales[-1][0] >= MIN_LARGE * scales[0][0]  # as data does not
        if scales and least <= scales[-1][0] < MAX_DATA and not grows:
            return LargeTensor(name, *scales[-1])
    return None


def large_targets(site: Site) -> LargeTensor | None:
    """Only regression targets: class indices have no scale."""
    last = site.losses[-1].name if site.losses else ""  # a single "y" belongs to the last loss
    names = [name for name in site.tensors if name == "y" or name.startswith("y/")]
    return None if "crossentropy" in plain_name(last) and len(names) == 1 else large(site, names)


def large_inputs(site: Site) -> LargeTensor | None:
    numbers = [name for name, seen in site.inputs.items() if not _are_tokens(site, seen)]
    return None if normalizes_inputs(site) else large(site, numbers, MIN_LARGE_INPUT)


def _are_tokens(site: Site, seen: TensorStatistics) -> bool:
    """Integers that the first trained layer does not take as they are: tokens, for an embedding elsewhere."""
    first = next((shapes(site)[name] for name in kernels(site)), (0, 0))
    shape = (0,) if seen.shape is None else seen.shape
    return seen.dtype in ("int32", "int64") and shape[-1:] != first[-2:-1]


def scale_of(seen: TensorStatistics) -> tuple[float, int | None]:
    """The root mean square of a tensor's values; of a table, that of its largest column, and which one it is."""
    columns = zip(seen.column_means, seen.column_stds, strict=False)
    scales = [math.hypot(mean, std) for mean, std in columns]
    if len(scales) > 1:
        return max(scales), scales.index(max(scales))
    whole = math.hypot(or_nan(seen.mean), or_nan(seen.std))
    return (whole if whole == whole else 0.0), None


def max_abs(seen: TensorStatistics) -> float:
    """The largest absolute value; 0 where none is known."""
    ends = [abs(or_nan(end)) for end in (seen.low, seen.high)]
    return max((end for end in ends if math.isfinite(end)), default=0.0)


def normalizes_inputs(site: Site) -> bool:
    """Whether the model normalizes its inputs itself, or takes them as indices."""
    first = next((layer.class_name for layer in site.layers if layer.class_name not in PASS_THROUGH), None)
    return first in NORMALIZERS or first in LOOKUPS


def implied_input_scale(site: Site) -> float:
    """The scale of the inputs that the first gradient implies, for a one-layer model without recorded data; else 0.

    Such a model has no depth in which gradients could grow: it diverges where the learning rate is too high for its
    inputs. The gradient of a squared error is twice the error times the input.
    """
    if site.tensors or len(kernels(site)) != 1 or not site.good:
        return 0.0
    first = site.good[0]
    scale = gradient_norm(first) / (2 * math.sqrt(loss_of(first))) if loss_of(first) > 0 else 0.0
    return scale if scale > MIN_LARGE else 0.0


def data_place(site: Site, name: str) -> Place | None:
    """The line that made the data, where it is known; else the line that trains on it."""
    if site.run.fit is None:
        parts = dict(zip("xy", site.gradients.made_at, strict=False))
        return parts.get(name[:1]) or site.where
    data = site.run.fit.began.data
    if not name.startswith("x"):
        separate = data.adapter == "ArrayDataAdapter"  # inputs and targets are separate arguments
        return data.y_made_at or (None if separate else data.made_at) or site.where
    return data.x_made_at or data.made_at or data.where or site.where
