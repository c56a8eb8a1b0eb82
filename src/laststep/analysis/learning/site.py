"""Where gradients are taken: what was traced there, what its steps were given, the numbers of the steps read."""

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

SYMPTOMS = ("nan-loss", "loss-not-improving")  # what a cause of these comes before
HALF = ("float16", "mixed_float16")
UNSEEN = TensorStatistics()  # of a tensor of which nothing is known

E = TypeVar("E", Numbers, BatchStatistics, BadNumber)


@dataclass(frozen=True)
class Site:
    """One place where gradients are taken and that really ran, however often it was traced."""

    run: Run
    made: Gradients
    readings: tuple[Numbers, ...]
    batches: tuple[BatchStatistics, ...] = ()
    bad: BadNumber | None = None

    @functools.cached_property
    def good(self) -> list[Numbers]:
        """The readings before the first bad step."""
        return [reading for reading in self.readings if not reading.bad and math.isfinite(gradient(reading))]

    @functools.cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.made.variables)

    @property
    def losses(self) -> tuple[LossCall, ...]:
        return self.made.losses

    @property
    def layers(self) -> tuple[Layer, ...]:
        return self.made.model.layers

    @property
    def tensors(self) -> Mapping[str, TensorStatistics]:
        return self.batches[-1].tensors if self.batches else {}

    @functools.cached_property
    def inputs(self) -> dict[str, TensorStatistics]:
        """What the model is given: not the targets of its other heads, which a step is given too."""
        own = {name: seen for name, seen in self.tensors.items() if name == "x" or name.startswith("x/")}
        return {name: seen for name, seen in own.items() if not name.startswith(("x/y", "x/sample"))}

    @functools.cached_property
    def optimizer(self) -> Optimizer:
        """As the fit was compiled with it; what was seen where gradients are taken is newer."""
        compiled = self.run.fit.began.optimizer if self.run.fit else Optimizer()
        seen, unset = self.made.optimizer, Optimizer()
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
        """Where the optimizer was made, or named in compile."""
        return self.made.optimizer.where or self.where

    @property
    def where(self) -> Place | None:
        return self.made.where or fit_place(self.run)

    @functools.cached_property
    def is_half(self) -> bool:
        """Whether layers compute in float16, which ends at 65,504."""
        return any(layer.dtype in HALF for layer in self.layers) or any(
            loss.y_pred_dtype == "float16" for loss in self.losses
        )

    @functools.cached_property
    def steps(self) -> int:
        done = self.run.steps[-1].number if self.run.steps else 0
        return max(done, *(reading.step for reading in self.readings))

    def rate(self, reading: Numbers) -> float:
        rate = or_nan(reading.rate)
        return rate if math.isfinite(rate) else or_nan(self.optimizer.learning_rate)


def length(values: Iterable[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def gradients(reading: Numbers) -> dict[str, float]:
    """The length of each layer's gradient; without the layers that have none."""
    return {layer: value for layer, value in reading.grads.items() if value is not None}


def gradient(reading: Numbers) -> float:
    """The length of all gradients; before the first bad step without those that are none."""
    return length(value for value in gradients(reading).values() if value == value or reading.bad)


def or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def loss_of(event: Numbers | BadNumber) -> float:
    return or_nan(event.loss)


def tell(value: float) -> str:
    """1,234 · 0.0123 · 3.2e+05: as short as it can be said."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


@view
def sites(run: Run) -> list[Site]:
    """Those that were read: of a function that was traced for its shapes only, that trace is never run."""
    readings = {site: _with_weights(found) for site, found in _by_site(run.all(Numbers)).items()}
    groups: dict[tuple[Place | None, tuple[str, ...], int], list[Gradients]] = {}
    traces = {made.site: made for made in run.all(Gradients)}  # one each, whatever a damaged record says
    for site, made in traces.items():
        if site in readings:
            names = tuple(variable.name for variable in made.variables)
            groups.setdefault((made.where, names, _fits_before(run, made)), []).append(made)
    batches, bad = _by_site(run.all(BatchStatistics)), _by_site(run.all(BadNumber))
    return [_join(run, group, readings, batches, bad) for group in groups.values()]


def _by_site(events: Iterable[E]) -> dict[int, list[E]]:
    found: dict[int, list[E]] = {}
    for event in events:
        found.setdefault(event.site, []).append(event)
    return found


def _fits_before(run: Run, made: Gradients) -> int:
    return bisect.bisect_right(run.fits, made.time, key=lambda fit: fit.began.time)


def _join(
    run: Run,
    traces: list[Gradients],
    readings: Mapping[int, list[Numbers]],
    batches: Mapping[int, list[BatchStatistics]],
    bad: Mapping[int, list[BadNumber]],
) -> Site:
    """What was seen of all these traces."""
    ids = [made.site for made in traces]
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
    """Weights are read in some of the steps only: they hold for those that follow."""
    known: Mapping[str, float] = {}
    found = []
    for reading in sorted(readings, key=lambda reading: reading.time):
        known = reading.weights or known
        found.append(reading if reading.weights else dataclasses.replace(reading, weights=known))
    return found


def last_site(run: Run) -> Site | None:
    """The one that was read last: the training that matters."""
    return max(sites(run), key=lambda site: site.readings[-1].time, default=None)


def latest_sites(run: Run) -> list[Site]:
    """Of those that train the same variables, the last."""
    return list({site.variables: site for site in sites(run)}.values())


def are_rivals(run: Run) -> bool:
    """Several places take gradients in turns: a GAN, two optimizers. Their losses need not fall."""
    spans = sorted((site.readings[0].time, site.readings[-1].time) for site in sites(run))
    return any(after[0] < before[1] for before, after in itertools.pairwise(spans))
