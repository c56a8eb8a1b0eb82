"""The loss curve of the last training: by epoch, or by step where there are too few epochs."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from laststep.analysis.learning.site import Site, loss_of
from laststep.analysis.learning.trend import MIN_POINTS as MIN_POINTS
from laststep.analysis.learning.trend import Trend, trend_of
from laststep.record.event import Event
from laststep.record.events.numbers import Numbers
from laststep.record.events.training import Epoch, FitStart
from laststep.record.run import Fit, Run

MAX_POINTS = 40
MAX_FLAT_CHANGE = 0.03  # as a share of the loss
MIN_STEP_LOSSES = 60  # in the step record; with fewer, the readings are used too
MIN_ROWS = 40  # per epoch; with fewer, an accuracy means nothing


@dataclass(frozen=True)
class Curve:
    """Losses in order, and what else the epochs report."""

    points: tuple[float, ...] = ()
    events: tuple[Event, ...] = ()
    steps: int = 0
    first_loss: float = math.nan  # of the first steps: the mean of the first epoch may be low already
    validation: tuple[float, ...] = ()
    accuracy: float = math.nan
    epochs: int = 0  # complete ones
    is_over: bool = True  # training came to its own end
    is_resumed: bool = False  # the model was fitted before: it may have learned already

    def above(self, floor: float) -> Curve:
        """What a model can still learn: the losses above the lowest possible."""
        points = tuple(point - floor for point in self.points)
        validation = tuple(loss - floor for loss in self.validation)
        return replace(self, points=points, first_loss=self.first_loss - floor, validation=validation)

    @property
    def by_epoch(self) -> bool:
        return self.epochs >= MIN_POINTS

    @property
    def trend(self) -> Trend:
        return trend_of(self.points)

    @property
    def start(self) -> float:
        return max(self.points[0], self.first_loss) if self.points else math.nan

    @property
    def last(self) -> float:
        """The median of the last quarter."""
        return statistics.median(self.points[-max(1, len(self.points) // 4) :]) if self.points else math.nan

    @property
    def is_flat(self) -> bool:
        return bool(self.points) and max(self.points) - min(self.points) < MAX_FLAT_CHANGE * self.points[0]

    @property
    def still_falls(self) -> bool:
        """The last third lies below the third before it by more than its own noise."""
        third = max(2, len(self.points) // 3)
        before, after = self.points[-2 * third : -third], self.points[-third:]
        if not before:
            return False
        fell = statistics.fmean(before) - statistics.fmean(after)
        return fell > max(2 * statistics.pstdev(after), 0.02 * abs(statistics.fmean(before)))


def curve_of(run: Run, site: Site | None) -> Curve:
    fits = _last_training(run)
    epochs = [epoch for fit in fits for epoch in fit.epochs]
    losses = _metric(epochs, "loss")
    by_epoch = len(losses) >= MIN_POINTS
    since = fits[0].began.time if fits else -math.inf
    readings = _with_loss(site, since)
    return Curve(
        points=tuple(losses if by_epoch else _of_steps(run, readings)),
        events=tuple(epochs[-1:]) if by_epoch else tuple(readings[-1:]),
        steps=_count(run, fits),
        first_loss=_first_loss(readings),
        validation=tuple(_metric(epochs, "val_loss")),
        accuracy=_accuracy(epochs) if _rows(fits) >= MIN_ROWS else math.nan,
        epochs=len(losses),
        is_over=fits[-1].ended is not None if fits else not run.alive,
        is_resumed=bool(fits) and fits[0].began.new_model is False,
    )


def _last_training(run: Run) -> list[Fit]:
    """The last fit; with those before it, where the program calls fit for each epoch."""
    last = run.steps[-1].time if run.steps else -math.inf
    fits = [fit for fit in run.fits if fit.epochs or (fit is run.fits[-1] and fit.began.time < last)]
    first = len(fits) - 1
    while first > 0 and _continues(fits[first - 1].began, fits[first].began):
        first -= 1
    return fits[max(first, 0) :]


def _continues(before: FitStart, after: FitStart) -> bool:
    """Both are one epoch of the same training: of one model, called by one line, with the same loss."""
    single = all(((fit.epochs or 1) - fit.initial_epoch) == 1 for fit in (before, after))
    same = (before.where, before.loss, before.source) == (after.where, after.loss, after.source)
    return single and same and not after.new_model


def _metric(epochs: Sequence[Epoch], name: str) -> list[float]:
    return [epoch.metrics[name] for epoch in epochs if name in epoch.metrics]


def _of_steps(run: Run, readings: Sequence[Numbers]) -> list[float]:
    """The losses of a hand-written loop, or of the readings in a fit with few epochs, averaged over equal parts."""
    known = {step.number: step.loss for step in run.steps if math.isfinite(step.loss)} if not run.fits else {}
    if len(known) < MIN_STEP_LOSSES:
        known |= {reading.step: loss_of(reading) for reading in readings}
    losses = [known[step] for step in sorted(known)]
    count = len(losses)
    if count < 2 * MIN_POINTS:
        return losses
    parts = max(MIN_POINTS, min(MAX_POINTS, count // 5))
    return [statistics.fmean(losses[at * count // parts : (at + 1) * count // parts]) for at in range(parts)]


def _with_loss(site: Site | None, since: float) -> list[Numbers]:
    """The readings of this training that have the loss itself, not a scaled one."""
    if site is None or site.scales_loss:
        return []
    return [reading for reading in site.readings if reading.loss is not None and reading.time >= since]


def _first_loss(readings: Sequence[Numbers]) -> float:
    losses = [loss_of(reading) for reading in readings[:5]]
    return statistics.median(losses) if losses and all(map(math.isfinite, losses)) else math.nan


def _count(run: Run, fits: Sequence[Fit]) -> int:
    """Steps of this training; those of an epoch that is not complete too."""
    if not fits:
        return run.steps[-1].number if run.steps else 0
    counted = sum((fit.epochs[-1].batches or 0) * len(fit.epochs) for fit in fits if fit.epochs)
    at = bisect.bisect_left(run.steps, fits[0].began.time, key=lambda step: step.time)
    return max(counted, run.steps[-1].number - run.steps[at].number + 1 if at < len(run.steps) else 0)


def _rows(fits: Sequence[Fit]) -> float:
    """In an epoch of the last fit, at most; Inf where that is not known."""
    size = fits[-1].began.data.batch_size if fits else None
    epochs = fits[-1].epochs if fits else ()
    return size * (epochs[-1].batches or 0) if size is not None and epochs else math.inf


def _accuracy(epochs: Sequence[Epoch]) -> float:
    """The mean of the last three epochs; on the validation data where there is any."""
    names = [name for epoch in epochs[-1:] for name in epoch.metrics if "acc" in name.lower()]
    name = next((each for each in names if each.startswith("val_")), names[0] if names else "")
    values = _metric(epochs[-3:], name)
    return statistics.fmean(values) if values else math.nan
