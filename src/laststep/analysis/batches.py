"""Batches requested and delivered in each epoch: recorded exactly, or read from the progress bars of a log."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from laststep.analysis.finding import Evidence
from laststep.logs.read import parsed_console
from laststep.record.events.logs import Progress
from laststep.record.events.process import Raised, WarningShown
from laststep.record.events.training import Epoch, TrainingData
from laststep.record.run import Fit, Run

MAX_PHANTOM_TIME = 0.02  # of the usual time per step: such an epoch had no data, even if its bar is full
_COUNT = re.compile(r"in this case, (?P<batches>\d{1,15}(?:\.\d+)?) batches")


@dataclass(frozen=True)
class Shortfall:
    """A fit in which some epochs got fewer batches than requested."""

    fit: Fit
    asked: int  # batches per epoch
    delivered: tuple[int, ...]

    @property
    def total(self) -> int:
        return self.asked * (self.fit.asked or len(self.delivered))

    @property
    def length(self) -> int | None:
        """How many batches the data holds: those up to the end of the first epoch that was cut short."""
        got = 0
        for count in self.delivered:
            got += count
            if count < self.asked:
                return got or None
        return None

    @property
    def has_phantoms(self) -> bool:
        return 0 in self.delivered and any(self.delivered)

    def was_used_before(self, run: Run) -> bool:
        """An object made at the same line was given to an earlier fit, and it does not start again."""
        data = self.fit.began.data
        earlier = [fit.began.data.made_at for fit in run.fits if fit.id < self.fit.id]
        return data.made_at is not None and data.made_at in earlier and "Dataset" not in data.type

    def evidence(self) -> Evidence:
        shown = ", ".join(map(str, self.delivered[:12])) + (", …" if len(self.delivered) > 12 else "")
        return Evidence(
            f"batches per epoch: {shown}; {self.asked} requested",
            (self.fit.began, *self.fit.epochs[:12], *self.fit.epochs[-1:]),
        )


def shortfall(run: Run) -> Shortfall | None:
    """The first fit that was cut short by its data."""
    ran_out = max((warning.time for warning in ran_out_warnings(run)), default=-math.inf)
    for fit in run.fits:
        counts = _delivered(fit)
        asked = _asked(run, fit, counts)
        counts = tuple(got for got, epoch in zip(counts, fit.epochs, strict=True) if not epoch.is_open)
        # If Keras warned during this fit that the data ran out, the data stopped it, not a callback.
        stopped_inside = fit.ended is not None and fit.ended.stop and ran_out < fit.began.time
        judged = counts[:-1] if stopped_inside else counts
        if asked and any(count < asked for count in judged):
            return Shortfall(fit, asked, judged)
    return None


def _asked(run: Run, fit: Fit, delivered: tuple[int, ...]) -> int | None:
    """How many batches fit requests in each epoch; without a number none can be missing."""
    if run.is_log:  # its bars alone are no evidence: some are left out, and the last epoch may be open
        if 0 not in delivered and not any(epoch.cut for epoch in fit.epochs):
            return None
        return max((epoch.of for epoch in fit.epochs if epoch.of), default=None)
    requested = fit.began.steps_per_epoch
    if requested is not None and math.isfinite(requested):
        return int(requested)
    counts = [epoch.batches or 0 for epoch in fit.epochs]
    return counts[0] if counts and counts[0] > max(counts[1:], default=counts[0]) else None


def _delivered(fit: Fit) -> tuple[int, ...]:
    """In each epoch. The bar of a log shows N/N even for an epoch without data: only its time per step shows it."""
    later = [epoch.step_seconds or 0.0 for epoch in fit.epochs[1:]]  # the first one also traces and compiles
    if len(later) < 2:
        return tuple(epoch.batches or 0 for epoch in fit.epochs)
    usual = min(max(later), fit.epochs[0].step_seconds or 0.0)  # a single slow epoch does not count
    return tuple(0 if _is_phantom(epoch, usual) else epoch.batches or 0 for epoch in fit.epochs)


def _is_phantom(epoch: Epoch, usual: float) -> bool:
    own, no_loss = epoch.step_seconds, epoch.metrics.get("loss") == 0.0
    if own is None:
        return False
    return (own < MAX_PHANTOM_TIME * usual and (usual > 1e-3 or no_loss)) or (no_loss and own < 0.5 * usual)


def ran_out_warnings(run: Run) -> list[WarningShown]:
    found = [event for event in run.all(WarningShown) if "ran out of data" in event.message]
    if (
        not found and not run.is_log and "ran out of data" in run.console
    ):  # tf_keras logs it, which is no Python warning
        shown = [event for event in parsed_console(run).events if isinstance(event, WarningShown)]
        found = [event for event in shown if "ran out" in event.message]
    return found


def batches_named(warning: WarningShown) -> int | None:
    """The number in the warning of Keras 2: all the batches that fit requested."""
    found = _COUNT.search(warning.message)
    return int(float(found["batches"])) if found else None


def is_about_validation(run: Run, warning: WarningShown) -> bool:
    """Keras 2 warns in validation too: then the bar is full, and the number is not that of the training."""
    named, of, at = batches_named(warning), warning.of, warning.batch
    sizes = {epoch.of for fit in run.fits for epoch in fit.epochs if epoch.of} | ({of} if of else set())
    asked = {fit.asked for fit in run.fits if fit.asked}
    if named is None or not sizes or not asked:
        return False
    wanted = any(named % epochs == 0 and named // epochs in sizes for epochs in asked)  # by the trainings themselves
    return not wanted and (at is None or of is None or at >= of)


def is_about_data(run: Run, error: Raised) -> bool:
    """StopIteration comes from any iterator; TensorFlow's OutOfRangeError only from data."""
    if error.callback is not None:
        return False
    if "StopIteration" not in error.type:
        return True
    in_keras = any("keras" in part for frame in error.frames for part in (frame.file, frame.function, frame.text))
    return run.training_seen or run.has(Progress) or in_keras


def training_data(run: Run) -> TrainingData:
    """What fit was given, as recorded; all empty where no fit was seen."""
    return run.fit.began.data if run.fit is not None else TrainingData()


def count_batches(count: int) -> str:
    return f"{count:,} {'batch' if count == 1 else 'batches'}"
