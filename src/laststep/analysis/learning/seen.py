"""Was a training watched long enough, and is its noise small enough, to say that the loss does not improve?"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from laststep.analysis.learning.curve import Curve
from laststep.text import format_count, format_value

MIN_EPOCHS_OPEN, MIN_STEPS_OPEN = 3, 1000  # either, while it goes on: before, a good model may be on its first plateau
MAX_NOISE = 0.1  # two standard errors, as a share of the loss: a change by a tenth is seen
MIN_PACE = 0.01  # of the loss: at this pace it falls by a tenth in ten times as many steps


@dataclass(frozen=True)
class Seen:
    """A curve; the same above the lowest loss that the targets allow; the loss that a model must get below."""

    losses: Curve
    excess: Curve
    must_beat: float  # NaN where it is not known

    @property
    def falls(self) -> bool:
        """By more than its noise, and at a pace that leads somewhere."""
        trend = self.excess.trend
        return trend.falls and trend.fell > MIN_PACE * abs(self.excess.last)

    @property
    def may_have_improved(self) -> bool:
        """The noise does not exclude that the loss fell by a tenth."""
        trend = self.excess.trend
        return trend.fell + trend.error > MAX_NOISE * abs(self.excess.last)

    @property
    def too_short(self) -> str:
        """Why the losses so far do not show that the model fails, though they are no better; "" where they do."""
        losses, steps = self.losses, format_count(self.losses.steps, "step")
        if losses.by_epoch and losses.is_over:
            return ""
        if not losses.is_over and losses.epochs < MIN_EPOCHS_OPEN and losses.steps < MIN_STEPS_OPEN:
            return f"too short to tell: {steps}, {format_count(losses.epochs, 'complete epoch')}"
        trend = self.excess.trend
        if self.falls:
            return f"the loss still falls, by {format_value(trend.fell)} in {steps}"
        if not self._is_measured:
            return f"too noisy to tell: after {steps} the loss is known to ±{format_value(trend.level_error)}"
        return ""

    @property
    def _is_measured(self) -> bool:
        """The noise is small against the difference that is judged: from what must be beaten, or from the start."""
        level, error = statistics.fmean(self.excess.points), self.excess.trend.level_error
        if not self.must_beat > 0:
            return not self.may_have_improved
        return error <= MAX_NOISE * abs(level) or level - error >= self.must_beat
