"""Does the model learn, and could it? From the loss curve, compared with the best constant prediction."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from laststep.analysis.finding import TOO_SHORT, Confidence, Evidence
from laststep.analysis.learning.bad_step import bad_site
from laststep.analysis.learning.baseline import Baseline, baseline_of
from laststep.analysis.learning.curve import MAX_FLAT_CHANGE, MIN_POINTS, Curve, curve_of
from laststep.analysis.learning.seen import Seen
from laststep.analysis.learning.site import Site, compact, last_site, or_nan, trains_in_turns
from laststep.record.events.numbers import Dependence
from laststep.record.run import Run, view
from laststep.text import format_count, format_value

LEARNS, FAILS, UNKNOWN = "learns", "fails", "unknown"
MIN_STEPS = 60  # with fewer, the loss of a good model may not have moved yet
MIN_STEPS_TO_BLAME, MIN_READINGS = 40, 3  # where another rule has found something wrong as well
MIN_SHARE_FAILS, MAX_SHARE_LEARNS = 0.97, 0.9  # loss as a share of the baseline's
MIN_SHARE_FALLS_BACK = 1.5  # the same, of a flat loss
MIN_DECREASE_LEARNS = 0.15  # as a share of the first loss, where there is no baseline
MIN_DECREASE = 0.05  # the same, where another rule has found something wrong as well
MIN_ACCURACY_GAIN = 0.08  # over always predicting the most frequent class
MIN_ACCURACY_GAIN_IF_FLAT = 0.3  # random weights alone may gain this much where classes lie far apart
MIN_ROWS_TESTED = 200  # with fewer, a weak dependence of the targets on the inputs is not found
# p of the permutation test: up to the first the targets depend on the inputs, from the second on no dependence was
# found; in between the test is inconclusive.
MAX_P_DEPENDENT, MIN_P_INDEPENDENT = 0.02, 0.1


@dataclass(frozen=True)
class Learning:
    """The loss curve, what it is compared with, and the verdict."""

    losses: Curve
    baseline: Baseline
    in_turns: bool

    @property
    def steps(self) -> int:
        return self.losses.steps

    @functools.cached_property
    def excess(self) -> Curve:
        """The losses above the lowest that the targets allow: what there is to learn."""
        return self.losses.above(self.baseline.floor)

    @property
    def fails(self) -> bool:
        return self.verdict == FAILS

    @property
    def verdict(self) -> str:
        if not self._can_be_judged:
            return UNKNOWN
        if self._is_accurate:
            return LEARNS
        found = self._against_baseline() if self._scale > 0 else self._by_decrease()
        return UNKNOWN if found == FAILS and self._seen.too_short else found

    @property
    def at_baseline(self) -> bool:
        """It is no better than the baseline, and is not getting better."""
        if self._is_accurate or not self._can_be_judged or not self.share >= MIN_SHARE_FAILS + self.baseline.slack:
            return False
        losses = self.excess
        stagnates = losses.last > 0.9 * losses.start or losses.last <= 1.1 * self._scale
        return stagnates and not losses.still_falls and not self._seen.too_short

    @property
    def share(self) -> float:
        """The last loss as a share of the baseline's, both above the lowest possible; NaN where that is not known."""
        return self.excess.last / self._scale if self._scale > 0 else math.nan

    @property
    def open_because(self) -> str:
        """Why the verdict is UNKNOWN."""
        if self.in_turns:
            return "several models are trained in turns"
        if not self._can_be_judged:
            return f"{TOO_SHORT}: {format_count(self.steps, 'step')}"
        return self._seen.too_short or f"inconclusive: {self.summary}"

    @property
    def improves(self) -> bool:
        """Measured: it learned, or at least the loss fell by more than its noise."""
        points = self.losses.points
        return self.verdict == LEARNS or self._is_accurate or (len(points) >= MIN_POINTS and self.excess.trend.falls)

    @property
    def validation_fails(self) -> bool:
        """The validation loss is no better than the baseline in any epoch."""
        losses = self.excess.validation
        if len(losses) < 3 or not self._can_be_judged or self._is_accurate or not all(map(math.isfinite, losses)):
            return False
        return min(losses) >= 0.98 * self._scale

    @property
    def summary(self) -> str:
        if not self.losses.points:
            return ""
        first, last = format_value(self.losses.points[0]), format_value(self.losses.points[-1])
        says = f"the loss went from {first} to {last} in {format_count(self.steps, 'step')}"
        if self.baseline.floor > 0 and self._scale > 0:
            return f"{says}; {self._range}"
        constant = f"; a constant prediction would give {format_value(self.baseline.loss)}"
        return says + (constant if self.at_baseline else "")

    @property
    def _range(self) -> str:
        constant, floor = format_value(self.baseline.loss), format_value(self.baseline.floor)
        return f"a constant prediction would give {constant}, and the targets' own entropy allows no less than {floor}"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return (Evidence(self.summary, self.losses.events, self.losses.points),) if self.summary else ()

    @property
    def no_progress(self) -> Evidence | None:
        """No improvement of the loss in the record: enough to support another finding, but not one by itself."""
        start, last = self.losses.start, self.losses.last
        if len(self.losses.points) < MIN_POINTS or self._is_accurate:
            return None
        if not self.losses.is_over and (self._seen.falls or self._seen.may_have_improved):
            return None
        if self._scale > 0:
            improved = not self.share >= MIN_SHARE_FAILS
            says = f"the loss ended at {compact(last)}; a constant prediction would give {compact(self.baseline.loss)}"
        elif self.losses.is_resumed:
            return None  # it may have been as low as it gets before
        else:
            improved = not last > (1 - MIN_DECREASE) * start or start < 0
            says = f"the loss started at {compact(start)} and ended at {compact(last)}"
        return None if improved else Evidence(says, self.losses.events, self.losses.points)

    @property
    def _scale(self) -> float:
        """From the lowest possible loss to that of a constant prediction; NaN where it is not known."""
        scale = self.baseline.loss - self.baseline.floor
        return scale if scale > 0 else math.nan

    @functools.cached_property
    def _seen(self) -> Seen:
        reference = self._scale if self._scale > 0 else self.baseline.squared_error
        return Seen(self.losses, self.excess, MIN_SHARE_FAILS * reference)

    @property
    def _can_be_judged(self) -> bool:
        points = self.losses.points
        enough = self.steps >= MIN_STEPS and len(points) >= MIN_POINTS
        return enough and not self.in_turns and all(map(math.isfinite, points))

    @property
    def _is_accurate(self) -> bool:
        """Better than the most frequent class; by far where the loss is flat: random weights gain a little, too."""
        is_flat = self.losses.is_flat and self.share >= MIN_SHARE_FAILS
        gain = MIN_ACCURACY_GAIN_IF_FLAT if is_flat else MIN_ACCURACY_GAIN
        return self.losses.accuracy > self.baseline.accuracy + gain

    def _against_baseline(self) -> str:
        if self.at_baseline:
            return FAILS
        if self.share < MAX_SHARE_LEARNS - self.baseline.error:
            return LEARNS
        if self.baseline.floor > 0:
            return UNKNOWN  # the range is narrow, and known from a sample of the rows
        stagnates = abs(self.losses.start - self.losses.last) < 2 * MAX_FLAT_CHANGE * self.losses.points[0]
        # Each epoch loses again what the first one gained, as where the weights are reset.
        falls_back = self.losses.is_flat and self.share > MIN_SHARE_FALLS_BACK
        return FAILS if (stagnates or falls_back) and self.share + self.baseline.error >= MIN_SHARE_FAILS else UNKNOWN

    def _by_decrease(self) -> str:
        points, start, last = self.losses.points, self.losses.start, self.losses.last
        settled = not self.losses.still_falls
        if 0.85 < last / self.baseline.squared_error < 1.15 and points[0] - last < 0.2 * points[0] and settled:
            return FAILS
        if min(points) <= 0:
            return UNKNOWN  # a likelihood, a similarity, a critic: its level has no meaning
        decrease = (start - last) / start
        if decrease > MIN_DECREASE_LEARNS:
            return LEARNS
        if self.losses.is_resumed or self.baseline.floor > 0:
            return UNKNOWN  # it may have been as low as it gets before
        is_flat = abs(decrease) < MAX_FLAT_CHANGE and max(points) - min(points) < 0.2 * points[0]
        return FAILS if is_flat and settled else UNKNOWN


@view
def learning_of(run: Run) -> Learning:
    """Of the last training in the run."""
    site = last_site(run)
    baseline = baseline_of(site) if site is not None else Baseline()
    return Learning(curve_of(run, site), baseline, trains_in_turns(run))


def finite_site(run: Run) -> Site | None:
    """The last site of a run without NaN and Inf, if it ran long enough; None where several train in turns (a GAN)."""
    last = last_site(run)
    if last is None or last.steps < MIN_STEPS_TO_BLAME or len(last.readings) < MIN_READINGS:
        return None
    return None if trains_in_turns(run) or bad_site(run) is not None else last


def dependence_of(run: Run) -> Dependence | None:
    """The last permutation test of whether targets depend on inputs, if it had enough rows."""
    tests = [test for test in run.all(Dependence) if test.p is not None and test.rows >= MIN_ROWS_TESTED]
    return tests[-1] if tests else None


def is_dependent(test: Dependence) -> bool:
    return or_nan(test.p) <= MAX_P_DEPENDENT


def is_independent(test: Dependence) -> bool:
    return or_nan(test.p) >= MIN_P_INDEPENDENT


def confidence_of(site: Site) -> Confidence:
    """Of a cause why the model does not learn: where targets do not depend on inputs, it would not learn anyway."""
    test = dependence_of(site.run) if site.bad_step is None else None
    return Confidence.POSSIBLE if test is not None and is_independent(test) else Confidence.LIKELY
