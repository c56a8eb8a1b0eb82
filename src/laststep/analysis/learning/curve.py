"""The losses of the last training: of its epochs, or where they are few of its steps; where they began and ended."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from laststep.analysis.learning.site import Site, loss_of
from laststep.record.event import Event
from laststep.record.events.numbers import Numbers
from laststep.record.events.training import Epoch
from laststep.record.run import Fit, Run

FEWEST = 4  # points
FLAT = 0.03  # of the loss
ENOUGH_STEPS = 60  # whose losses are known: then no look is needed
MOST_POINTS = 40
FEWEST_ROWS = 40  # with fewer, an accuracy is chance


@dataclass(frozen=True)
class Curve:
    """Losses in their order, and what else each epoch told."""

    points: tuple[float, ...] = ()
    events: tuple[Event, ...] = ()
    steps: int = 0
    first_readings: float = math.nan  # an epoch's mean may have learned all there is already
    held_out: tuple[float, ...] = ()
    accuracy: float = math.nan

    @property
    def start(self) -> float:
        return max(self.points[0], self.first_readings) if self.points else math.nan

    @property
    def last(self) -> float:
        return statistics.median(self.points[-max(1, len(self.points) // 4) :]) if self.points else math.nan

    @property
    def is_flat(self) -> bool:
        return bool(self.points) and max(self.points) - min(self.points) < FLAT * self.points[0]

    @property
    def still_falls(self) -> bool:
        """The last third is below the third before it by more than its own noise."""
        third = max(2, len(self.points) // 3)
        before, after = self.points[-2 * third : -third], self.points[-third:]
        if not before:
            return False
        fell = statistics.fmean(before) - statistics.fmean(after)
        return fell > max(2 * statistics.pstdev(after), 0.02 * abs(statistics.fmean(before)))


def curve_of(run: Run, site: Site | None) -> Curve:
    fits = _last_fits(run)
    epochs = [epoch for fit in fits for epoch in fit.epochs]
    losses = _metric(epochs, "loss")
    by_epoch = len(losses) >= FEWEST
    return Curve(
        points=tuple(losses if by_epoch else _of_steps(run, site)),
        events=tuple(epochs[-1:]) if by_epoch else site.readings[-1:] if site is not None else (),
        steps=_count(run, fits),
        first_readings=_first_readings(site),
        held_out=tuple(_metric(epochs, "val_loss")),
        accuracy=_accuracy(epochs) if _rows(fits) >= FEWEST_ROWS else math.nan,
    )


def _last_fits(run: Run) -> list[Fit]:
    """The fits of the model that was trained last: a program may call fit for each epoch."""
    fits = [fit for fit in run.fits if fit.epochs]
    starts = [at for at, fit in enumerate(fits) if fit.began.new_model]
    return fits[starts[-1] if starts else 0 :]


def _metric(epochs: Sequence[Epoch], name: str) -> list[float]:
    return [epoch.metrics[name] for epoch in epochs if name in epoch.metrics]


def _of_steps(run: Run, site: Site | None) -> list[float]:
    """The losses of a hand-written loop, or of the looks at a fit of few epochs: the means of equal parts."""
    known = {step.number: step.loss for step in run.steps if math.isfinite(step.loss)} if not run.fits else {}
    if len(known) < ENOUGH_STEPS:
        known |= {reading.step: loss_of(reading) for reading in _with_loss(site)}
    losses = [known[step] for step in sorted(known)]
    count = len(losses)
    if count < 2 * FEWEST:
        return losses
    parts = max(FEWEST, min(MOST_POINTS, count // 5))
    return [statistics.fmean(losses[at * count // parts : (at + 1) * count // parts]) for at in range(parts)]


def _with_loss(site: Site | None) -> list[Numbers]:
    """The readings that know the loss as it is."""
    if site is None or site.scales_loss:
        return []
    return [reading for reading in site.readings if reading.loss is not None]


def _first_readings(site: Site | None) -> float:
    losses = [loss_of(reading) for reading in _with_loss(site)[:5]]
    return statistics.median(losses) if losses and all(map(math.isfinite, losses)) else math.nan


def _count(run: Run, fits: Sequence[Fit]) -> int:
    counted = sum((fit.epochs[-1].batches or 0) * len(fit.epochs) for fit in fits)
    return counted or (run.steps[-1].number if run.steps else 0)


def _rows(fits: Sequence[Fit]) -> float:
    """In an epoch of the last fit, at most; infinite where it is not known."""
    size = fits[-1].began.data.batch_size if fits else None
    return size * (fits[-1].epochs[-1].batches or 0) if size is not None else math.inf


def _accuracy(epochs: Sequence[Epoch]) -> float:
    """Of the last epochs, the held-back samples' where there are any."""
    names = [name for epoch in epochs[-1:] for name in epoch.metrics if "acc" in name.lower()]
    name = next((each for each in names if each.startswith("val_")), names[0] if names else "")
    values = _metric(epochs[-3:], name)
    return statistics.fmean(values) if values else math.nan
