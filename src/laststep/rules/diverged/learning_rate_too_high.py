"""The learning rate is too high."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

from laststep.analysis.finding import Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.learning.answers import although, no_finite_site
from laststep.analysis.learning.bad_step import bad_step_evidence
from laststep.analysis.learning.dead_units import describe_dead_layers, describe_death, died_at
from laststep.analysis.learning.growth import blow_up
from laststep.analysis.learning.learning import confidence_of, finite_site, learning_of
from laststep.analysis.learning.site import Site, compact
from laststep.analysis.learning.weights import (
    MIN_LARGE_UPDATE,
    default_rate,
    is_high_rate,
    relative_update,
    vanishes_from_start,
)
from laststep.analysis.progress import progress
from laststep.record.events.numbers import Numbers
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SUGGESTED_UPDATE = 0.01  # norm of one update at the suggested rate, as a share of the weights' norm


@rule(sees=("inside",))
def learning_rate_too_high(run: Run) -> Answer:
    """The learning rate is too high: each update overshoots the minimum.

    What happened
        Each update changed the weights by a large share of their norm. The loss diverged until it overflowed, or jumped
        up and down without getting better than a constant prediction.

    How laststep knows
        The learning rate is more than ten times Keras's default for this optimizer, the updates are large relative to
        the weights, and training fails: the loss grew and became Inf or NaN, or it ends no better than a constant
        prediction.

    What to do
        Use the learning rate that is shown; a tenth of it if the loss still jumps. With a schedule, check the rate that
        it reaches later.

    Not to be confused with
        exploding-gradients (the learning rate is ordinary, the gradients are not), unscaled-inputs, unscaled-targets.
    """
    diverged = blow_up(run, "learning-rate-too-high")
    if diverged is not None:
        site, grew = diverged
        return _finding(run, site, grew, bad_step_evidence(site))
    finite = finite_site(run)
    if finite is None:
        return no_finite_site(run)
    rate, update = finite.rate(_highest(finite)), _typical_update(finite)
    if not is_high_rate(finite, rate) or not update > MIN_LARGE_UPDATE:
        if not math.isfinite(update):
            return cannot("its updates were not measured")
        return measured(f"one update changed the weights by {update:.2%}")
    if vanishes_from_start(finite):
        return no("almost no gradient reaches the first layer from the start: no learning rate would help")
    no_progress, died = learning_of(run).no_progress, died_at(finite)
    if no_progress is not None:
        return _finding(run, finite, no_progress.says, no_progress)
    if died is not None:
        death = describe_death(died)
        return _finding(run, finite, death[0].lower() + death[1:], Evidence(describe_dead_layers(died), (died,)))
    return although(learning_of(run), f"the learning rate of {compact(rate)} is high")


def _highest(site: Site) -> Numbers:
    """The reading with the highest learning rate."""
    return max(site.readings, key=lambda reading: site.rate(reading) if math.isfinite(site.rate(reading)) else -1.0)


def _typical_update(site: Site) -> float:
    """The relative update of the first readings, or of the first at a high learning rate where that came later."""
    readings = [reading for reading in site.good if is_high_rate(site, site.rate(reading))] or site.good
    updates = [value for reading in readings if math.isfinite(value := relative_update(site, reading))]
    return statistics.median(updates[: max(3, len(updates) // 4)]) if updates else math.nan


def _finding(run: Run, site: Site, sign: str, symptom: Evidence) -> Finding:
    highest, update = _highest(site), _typical_update(site)
    rate = site.rate(highest)
    says = f"{site.optimizer_class or 'the optimizer'} used a learning rate of {compact(rate)} in step {highest.step}"
    says += f"; Keras's default is {compact(default_rate(site))}"
    evidence = [Evidence(says, (highest,)), symptom]
    if update == update:
        evidence.append(Evidence(f"one update changed the weights by {update:.0%} of their norm", (highest,)))
    value = float(f"{_suggested_rate(site, rate, update):.1g}")
    trial = {"learning_rate": value}
    return Finding(
        cause=f"The learning rate {compact(rate)} is too high: {sign}.",
        confidence=confidence_of(site),
        evidence=(*evidence, progress(run)),
        remedies=(_lower(site, value, trial),),
        where=site.rate_set_at,
    )


def _lower(site: Site, value: float, trial: Mapping[str, float]) -> Remedy:
    """The rate of the optimizer's own line; where that is lower already, a schedule or a callback has raised it."""
    start = next((rate for rate in map(site.rate, site.readings) if math.isfinite(rate)), math.inf)
    if value >= start:
        says = f"Limit what raises the learning rate, from {compact(start)}: a schedule, or a callback"
        return Remedy(says, None, site.rate_set_at, trial=trial)
    return Remedy("Lower the learning rate", f"learning_rate={value}", site.rate_set_at, trial=trial)


def _suggested_rate(site: Site, rate: float, update: float) -> float:
    """At most Keras's default."""
    return min(default_rate(site), rate * SUGGESTED_UPDATE / update if update > 0 else math.inf)
