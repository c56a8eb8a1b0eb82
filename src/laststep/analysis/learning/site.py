"""Site: a place where gradients are taken, with the data that its steps were given and the numbers read from them."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from laststep.analysis.progress import fit_place
from laststep.record.events.numbers import (
    BadNumber,
    BatchStatistics,
    Gradients,
    Layer,
    LossCall,
    Numbers,
    TensorStatistics,
)
from laststep.record.events.shared import Optimizer
from laststep.record.place import Place
from laststep.record.run import Run, view

HALF_PRECISION = ("float16", "mixed_float16")
UNSEEN = TensorStatistics()  # of a tensor that was not recorded

E = TypeVar("E", Numbers, BatchStatistics, BadNumber)


@dataclass(frozen=True)
class Site:
    """One place where gradients are taken and that ran, however often it was traced."""

    run: Run
    gradients: Gradients  # of its last trace
    readings: tuple[Numbers, ...]  # of the sampled steps, in order
    batches: tuple[BatchStatistics, ...] = ()  # each covers more batches than the one before
    bad_step: BadNumber | None = None  # the first with NaN or Inf

    @functools.cached_property
    def good(self) -> list[Numbers]:
        """The readings without NaN and Inf."""
        return [reading for reading in self.readings if not reading.bad and math.isfinite(gradient_norm(reading))]

    @functools.cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.gradients.variables)

    @property
    def losses(self) -> tuple[LossCall, ...]:
        return self.gradients.losses

    @property
    def layers(self) -> tuple[Layer, ...]:
        return self.gradients.model.layers

    @property
    def tensors(self) -> Mapping[str, TensorStatistics]:
        return self.batches[-1].tensors if self.batches else {}

    @functools.cached_property
    def inputs(self) -> dict[str, TensorStatistics]:
        """What the model is given; without targets and sample weights that a step is given under the same name."""
        own = {name: seen for name, seen in self.tensors.items() if name == "x" or name.startswith("x/")}
        return {name: seen for name, seen in own.items() if not name.startswith(("x/y", "x/sample"))}

    @functools.cached_property
    def optimizer(self) -> Optimizer:
        """As compiled for the fit, updated by what was seen where gradients are taken."""
        compiled = self.run.fit.began.optimizer if self.run.fit else Optimizer()
        seen, unset = self.gradients.optimizer, Optimizer()
        names = [field.name for field in dataclasses.fields(Optimizer)]
        newer = {name: getattr(seen, name) for name in names if getattr(seen, name) != getattr(unset, name)}
        return dataclasses.replace(compiled, **newer)

    @property
    def optimizer_class(self) -> str:
        return self.optimizer.inner or self.optimizer.class_name

    @property
    def scales_loss(self) -> bool:
        return self.optimizer.scales_loss or bool(self.optimizer.inner)

    @property
    def rate_set_at(self) -> Place | None:
        """Where the optimizer is created, or named in compile."""
        return self.gradients.optimizer.where or self.where

    @property
    def where(self) -> Place | None:
        return self.gradients.where or fit_place(self.run)

    @functools.cached_property
    def is_half(self) -> bool:
        """Whether layers compute in float16, whose largest number is 65,504."""
        return any(layer.dtype in HALF_PRECISION for layer in self.layers) or any(
            loss.y_pred_dtype == "float16" for loss in self.losses
        )

    @functools.cached_property
    def steps(self) -> int:
        done = self.run.steps[-1].number if self.run.steps else 0
        return max(done, *(reading.step for reading in self.readings))

    def rate(self, reading: Numbers) -> float:
        rate = or_nan(reading.rate)
        return rate if math.isfinite(rate) else or_nan(self.optimizer.learning_rate)


def norm(values: Iterable[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def gradient_norms(reading: Numbers) -> dict[str, float]:
    """The gradient norm by layer; without the layers that have no gradient."""
    return {layer: value for layer, value in reading.grads.items() if value is not None}


def gradient_norm(reading: Numbers) -> float:
    """The norm over all layers; in a reading that is not marked bad, NaN of single layers is left out."""
    return norm(value for value in gradient_norms(reading).values() if value == value or reading.bad)


def or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def loss_of(event: Numbers | BadNumber) -> float:
    return or_nan(event.loss)


def compact(value: float) -> str:
    """1,234 · 0.0123 · 3.2e+05."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


@view
def sites(run: Run) -> list[Site]:
    """All sites with readings; a trace without any never ran, as one that Keras makes for the shapes only."""
    readings = {site: _with_weights(found) for site, found in _by_site(run.all(Numbers)).items()}
    groups: dict[tuple[Place | None, tuple[str, ...], int], list[Gradients]] = {}
    traces = {trace.site: trace for trace in run.all(Gradients)}  # one per number, even in a damaged record
    for site, trace in traces.items():
        if site in readings:
            names = tuple(variable.name for variable in trace.variables)
            groups.setdefault((trace.where, names, _fits_before(run, trace)), []).append(trace)
    batches, bad = _by_site(run.all(BatchStatistics)), _by_site(run.all(BadNumber))
    return [_join(run, group, readings, batches, bad) for group in groups.values()]


def _by_site(events: Iterable[E]) -> dict[int, list[E]]:
    found: dict[int, list[E]] = {}
    for event in events:
        found.setdefault(event.site, []).append(event)
    return found


def _fits_before(run: Run, trace: Gradients) -> int:
    return bisect.bisect_right(run.fits, trace.time, key=lambda fit: fit.began.time)


def _join(
    run: Run,
    traces: list[Gradients],
    readings: Mapping[int, list[Numbers]],
    batches: Mapping[int, list[BatchStatistics]],
    bad: Mapping[int, list[BadNumber]],
) -> Site:
    """One site out of all these traces."""
    ids = [trace.site for trace in traces]
    return Site(
        run,
        traces[-1],
        tuple(sorted(_of(ids, readings), key=lambda reading: reading.time)),
        tuple(sorted(_of(ids, batches), key=lambda batch: batch.batches)),
        min(_of(ids, bad), key=lambda event: event.time, default=None),
    )


def _of(ids: Iterable[int], found: Mapping[int, list[E]]) -> list[E]:
    return [event for id in ids for event in found.get(id, ())]


def _with_weights(readings: list[Numbers]) -> list[Numbers]:
    """Weights are read in some of the steps only; the others get those read before."""
    known: Mapping[str, float] = {}
    found = []
    for reading in sorted(readings, key=lambda reading: reading.time):
        known = reading.weights or known
        found.append(reading if reading.weights else dataclasses.replace(reading, weights=known))
    return found


def last_site(run: Run) -> Site | None:
    """The site with the last reading."""
    return max(sites(run), key=lambda site: site.readings[-1].time, default=None)


def latest_sites(run: Run) -> list[Site]:
    """The last of those that train the same variables."""
    return list({site.variables: site for site in sites(run)}.values())


def trains_in_turns(run: Run) -> bool:
    """Several sites train in turns, as in a GAN or with two optimizers. Their losses need not fall."""
    spans = sorted((site.readings[0].time, site.readings[-1].time) for site in sites(run))
    return any(after[0] < before[1] for before, after in itertools.pairwise(spans))
