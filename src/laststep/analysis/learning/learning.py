"""Does it learn, and could it? Read from the losses, beside what always giving the same answer reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence
from laststep.analysis.learning.bad_step import bad_site
from laststep.analysis.learning.constant import Constant, constant_of
from laststep.analysis.learning.curve import FEWEST, FLAT, Curve, curve_of
from laststep.analysis.learning.site import Site, are_rivals, last_site, or_nan, tell
from laststep.record.events.numbers import Dependence
from laststep.record.run import Run, view

LEARNS, FAILS, UNKNOWN = "learns", "fails", "unknown"  # what is not known does not fail
ENOUGH_STEPS = 60  # with fewer even a good model may stand where it began
ENOUGH_TO_ASK, FEWEST_LOOKS = 40, 3  # where something else is wrong too
NO_BETTER, BETTER = 0.97, 0.9  # the loss, as a share of the loss of a constant answer
WORSE = 1.5  # the same
FELL = 0.15  # how much of the loss went away, where there is no such yardstick
HARDLY = 0.05  # the same, where something else is wrong too
CLEARLY = 0.08  # accuracy above that of always naming the commonest class
BY_DRAWN_WEIGHTS = 0.3  # the same, of a model that was never trained: classes may lie far apart
FEWEST_ROWS = 200  # with fewer a weak dependence of the targets on the inputs is not found
# p of the permutation test: up to the first the targets depend on the inputs, from the second on no dependence was
# found; between them the test decides nothing.
MAX_P_DEPENDENT, MIN_P_INDEPENDENT = 0.02, 0.1


@dataclass(frozen=True)
class Learning:
    """How the losses went, and what that tells."""

    losses: Curve
    constant: Constant
    rivals: bool

    @property
    def steps(self) -> int:
        return self.losses.steps

    @property
    def fails(self) -> bool:
        return self.verdict == FAILS

    @property
    def verdict(self) -> str:
        if not self._can_be_told:
            return UNKNOWN
        if self._is_accurate:
            return LEARNS
        return self._beside_constant() if self.constant.loss > 0 else self._by_itself()

    @property
    def sure(self) -> bool:
        """It fails, held against the loss of a constant answer."""
        stands = self.losses.last > 0.9 * self.losses.start or self.losses.last <= 1.1 * self.constant.loss
        below = self._is_accurate or not self._can_be_told or not self.share >= NO_BETTER + self.constant.rough
        return stands and not below and not self.losses.still_falls

    @property
    def share(self) -> float:
        """Of the loss of a constant answer; NaN where that is not known."""
        return self.losses.last / self.constant.loss if self.constant.loss > 0 else math.nan

    @property
    def held_out_fails(self) -> bool:
        """The held-back samples are not foretold better than by a constant answer, in any epoch."""
        held = self.losses.held_out
        if len(held) < 3 or not self._can_be_told or self._is_accurate or not all(map(math.isfinite, held)):
            return False
        return min(held) >= 0.98 * self.constant.loss

    @property
    def says(self) -> str:
        if not self.losses.points:
            return ""
        first, last = words.value(self.losses.points[0]), words.value(self.losses.points[-1])
        told = f"the loss went from {first} to {last} in {words.count(self.steps, 'step')}"
        return f"{told}; always saying the same would give {words.value(self.constant.loss)}" if self.sure else told

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return (Evidence(self.says, self.losses.events, self.losses.points),) if self.says else ()

    @property
    def trouble(self) -> Evidence | None:
        """That nothing was gained, as far as it was recorded: enough to blame what else is wrong, not by itself."""
        start, last = self.losses.start, self.losses.last
        if len(self.losses.points) < FEWEST or self._is_accurate:
            return None
        if self.constant.loss > 0:
            gained = not self.share >= NO_BETTER
            told = f"the loss ended at {tell(last)}; one constant answer would reach {tell(self.constant.loss)}"
        else:
            gained = not last > (1 - HARDLY) * start or start < 0
            told = f"the loss was {tell(start)} at first and {tell(last)} at the end"
        return None if gained else Evidence(told, self.losses.events, self.losses.points)

    @property
    def _can_be_told(self) -> bool:
        points = self.losses.points
        enough = self.steps >= ENOUGH_STEPS and len(points) >= FEWEST
        return enough and not self.rivals and all(map(math.isfinite, points))

    @property
    def _is_accurate(self) -> bool:
        """Where the loss stands still a little more than chance is no merit: weights as drawn reach that, too."""
        stands = self.losses.is_flat and self.share >= NO_BETTER
        return self.losses.accuracy > self.constant.right + (BY_DRAWN_WEIGHTS if stands else CLEARLY)

    def _beside_constant(self) -> str:
        if self.sure:
            return FAILS
        if self.share < BETTER - self.constant.doubt:
            return LEARNS
        still = abs(self.losses.start - self.losses.last) < 2 * FLAT * self.losses.points[0]
        # What the first epoch gained is gone again in each one after it: weights that are put back.
        falls_back = self.losses.is_flat and self.share > WORSE
        return FAILS if (still or falls_back) and self.share + self.constant.doubt >= NO_BETTER else UNKNOWN

    def _by_itself(self) -> str:
        points, start, last = self.losses.points, self.losses.start, self.losses.last
        waits = not self.losses.still_falls
        if 0.85 < last / self.constant.squared < 1.15 and points[0] - last < 0.2 * points[0] and waits:
            return FAILS
        if min(points) <= 0:
            return UNKNOWN  # a likelihood, a similarity, a critic: its level says nothing
        fell = (start - last) / start
        if fell > FELL:
            return LEARNS
        return FAILS if abs(fell) < FLAT and max(points) - min(points) < 0.2 * points[0] and waits else UNKNOWN


@view
def learning_of(run: Run) -> Learning:
    """Of the last training in the run."""
    site = last_site(run)
    constant = constant_of(site) if site is not None else Constant()
    return Learning(curve_of(run, site), constant, are_rivals(run))


def steady_site(run: Run) -> Site | None:
    """The site of a run without bad numbers: the last one; none where several train at the same time (a GAN)."""
    last = last_site(run)
    if last is None or last.steps < ENOUGH_TO_ASK or len(last.readings) < FEWEST_LOOKS:
        return None
    return None if are_rivals(run) or bad_site(run) is not None else last


def dependence_of(run: Run) -> Dependence | None:
    """The last test whether the targets depend on the inputs, where it was made on enough rows."""
    tests = [test for test in run.all(Dependence) if test.p is not None and test.rows >= FEWEST_ROWS]
    return tests[-1] if tests else None


def is_dependent(test: Dependence) -> bool:
    return or_nan(test.p) <= MAX_P_DEPENDENT


def is_independent(test: Dependence) -> bool:
    return or_nan(test.p) >= MIN_P_INDEPENDENT


def sureness(site: Site) -> Confidence:
    """Of a training that fails without a bad number: where targets do not depend on inputs it would fail anyway."""
    test = dependence_of(site.run) if site.bad is None else None
    return Confidence.POSSIBLE if test is not None and is_independent(test) else Confidence.LIKELY
