"""The learning rate is too high."""

from __future__ import annotations

import math
import statistics

from laststep.analysis.finding import Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import first_bad
from laststep.analysis.learning.growth import blown_up
from laststep.analysis.learning.learning import learning_of, steady_site, sureness
from laststep.analysis.learning.silence import death_of, died_at, silence_of
from laststep.analysis.learning.site import SYMPTOMS, Site, tell
from laststep.analysis.learning.weights import LONG, default_rate, fades, is_high, stride
from laststep.analysis.progress import progress
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=("recorder",), outranks=SYMPTOMS)
def learning_rate_too_high(run: Run) -> Answer:
    """The learning rate is too high: each step leaps over what it should walk to.

    What happened
        Each update changed the weights by a large part of themselves. The loss grew until it overflowed, or leapt
        about without getting better than a constant answer.

    How laststep knows
        The learning rate is more than ten times Keras's default for this optimizer, the updates are long measured by
        the weights, and training fails: the loss is infinite or NaN after it grew, or it ends no better than one
        answer for all would do.

    What to do
        Take the rate that is shown; a tenth again if the loss still leaps. With a schedule, look at what it gives late.

    Not to be confused with
        exploding-gradients (an ordinary rate, and gradients that are not), unscaled-inputs, unscaled-targets.
    """
    found = blown_up(run, "learning-rate-too-high")
    if found is not None:
        site, sign = found
        return _finding(run, site, _highest(site), _stride(site), sign, [first_bad(site)])
    steady = steady_site(run)
    if steady is None:
        return no("no training that could be judged by its updates")
    highest = _highest(steady)
    rate, part = steady.rate(highest), _stride(steady)
    if not is_high(steady, rate) or not part > LONG:
        return measured(f"an update changed the weights by {part:.2%}") if part == part else no("not known")
    if fades(steady):
        return no("hardly any gradient reaches the first layer, from the first step on: no rate would help")
    trouble, died = learning_of(run).trouble, died_at(steady)
    if trouble is not None:
        return _finding(run, steady, highest, part, trouble.says, [trouble])
    if died is not None:
        sign, silence = death_of(died), Evidence(silence_of(died), (died,))
        return _finding(run, steady, highest, part, sign[0].lower() + sign[1:], [silence])
    return measured(f"with a rate of {tell(rate)} it learns")


def _highest(site: Site) -> Event:
    return max(site.looks, key=lambda look: site.rate(look) if math.isfinite(site.rate(look)) else -1.0)


def _stride(site: Site) -> float:
    """Of an update, as a part of the weights: the first ones, or the first at a high rate where that came later."""
    looks = [look for look in site.good if is_high(site, site.rate(look))] or site.good
    strides = [value for look in looks if math.isfinite(value := stride(site, look))]
    return statistics.median(strides[: max(3, len(strides) // 4)]) if strides else math.nan


def _finding(run: Run, site: Site, look: Event, part: float, sign: str, evidence: list[Evidence]) -> Finding:
    rate = site.rate(look)
    told = f"{site.optimizer or 'the optimizer'} had a rate of {tell(rate)} in step {look.get('step')}"
    told += f"; Keras's default is {tell(default_rate(site))}"
    evidence = [Evidence(told, (look,)), *evidence]
    if part == part:
        evidence.append(Evidence(f"an update changed the weights by {part:.0%} of their length", (look,)))
    value = float(f"{_try(site, rate, part):.1g}")
    trial = {"learning_rate": value}
    return Finding(
        cause=f"The learning rate of {tell(rate)} is too high: {sign}.",
        confidence=sureness(site),
        evidence=(*evidence, progress(run)),
        remedies=(Remedy("Take a lower learning rate", f"learning_rate={value}", site.rate_set_at, trial=trial),),
        where=site.rate_set_at,
    )


def _try(site: Site, rate: float, part: float) -> float:
    """One that changes the weights by about a hundredth in a step, and no more than Keras's default."""
    return min(default_rate(site), rate * 0.01 / part if part > 0 else math.inf)
