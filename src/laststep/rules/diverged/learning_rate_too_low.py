"""The learning rate is too low."""

from __future__ import annotations

import math
from collections.abc import Mapping

from laststep.analysis.finding import Evidence, Finding, Remedy, cannot, measured
from laststep.analysis.learning.answers import although, no_finite_site
from laststep.analysis.learning.learning import Learning, confidence_of, finite_site, learning_of
from laststep.analysis.learning.rates import dropped_early, plateau_settings, rates_of
from laststep.analysis.learning.site import Site, compact, gradient_norms
from laststep.analysis.learning.weights import default_rate
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

MAX_TOTAL_UPDATE = 0.02  # norms of all updates together, as a share of the weights' norm
MIN_GRADIENT = 1e-8  # below it, a gradient is rounding noise
MIN_SHARE_LEFT = 0.5  # of the baseline's loss: more than half of what could be learned is left
MAX_FINE_TUNING_FACTOR = 1000  # how far below Keras's default a learning rate for fine-tuning may be


@rule(sees=("inside",))
def learning_rate_too_low(run: Run) -> Answer:
    """The learning rate is so low that the weights stay close to their initial values.

    What happened
        There are gradients, but each update is tiny: after all steps the weights are almost the initial ones. Either
        the learning rate itself is tiny, or a schedule lowered it long before the model had learned anything: a
        schedule that counts steps was given epochs, a decay meant for each epoch is applied in each step, or a callback
        has the wrong mode ("min" for "max").

    How laststep knows
        It compares the weights between sampled steps: all updates together are less than 2% of the weights' norm. Or
        the learning rate fell below 1% of its highest value within the first quarter of the steps, and not because of a
        plateau. And the loss is no better than a constant prediction, or not much.

    What to do
        Use the learning rate that is shown. Give a schedule its length in steps: epochs times steps_per_epoch.

    Not to be confused with
        weights-not-updating (the weights do not change at all), vanishing-gradients (only the early layers do not
        change), unscaled-targets (the weights change, but the targets are out of reach).
    """
    site = finite_site(run)
    if site is None:
        return no_finite_site(run)
    total, dropped = _total_update(site), dropped_early(site)
    too_slow = 0 < total < MAX_TOTAL_UPDATE and _all_have_gradients(site)
    if not too_slow and not dropped:
        if not math.isfinite(total):
            return cannot("its updates were not measured")
        return measured(f"all updates add up to {total:.0%} of the weights")
    learning = learning_of(run)
    no_progress = learning.no_progress or (_unfinished(learning) if dropped else None)
    if no_progress is None or (not dropped and _may_be_fine_tuning(site, learning)):
        return although(learning, f"all updates add up to {total:.1%} of the weights")
    return _dropped(run, site, no_progress) if dropped else _too_slow(run, site, no_progress, total)


def _may_be_fine_tuning(site: Site, learning: Learning) -> bool:
    """There is no baseline for the loss, and the learning rate is usual for a model that was trained before."""
    highest = max(map(site.rate, site.readings), default=0.0)
    return math.isnan(learning.share) and highest > default_rate(site) / MAX_FINE_TUNING_FACTOR


def _unfinished(learning: Learning) -> Evidence | None:
    """The model learned something before the learning rate dropped, and most is left."""
    if not learning.share > MIN_SHARE_LEFT:
        return None
    last, constant = compact(learning.losses.last), compact(learning.baseline.loss)
    says = f"the loss stayed at {last}; a constant prediction would give {constant}"
    return Evidence(says, learning.losses.events, learning.losses.points)


def _total_update(site: Site) -> float:
    """All updates together as a share of the weights, of the layer that changed most."""
    path: dict[str, float] = {}
    for reading in site.readings:
        for layer, value in reading.moved.items():
            path[layer] = path.get(layer, 0.0) + value
    first = site.readings[0].weights
    return max((path[layer] / first[layer] for layer in path if first.get(layer, 0.0) > 0), default=math.nan)


def _all_have_gradients(site: Site) -> bool:
    last = gradient_norms(site.good[-1]) if site.good else {}
    return bool(last) and all(value > MIN_GRADIENT for value in last.values() if value == value)


def _too_slow(run: Run, site: Site, no_progress: Evidence, total: float) -> Finding:
    highest = max(rates_of(site), default=math.nan)
    value = float(f"{_suggested_rate(site, highest, total):.1g}")
    trial = {"learning_rate": value}
    return Finding(
        cause=f"The learning rate {compact(highest)} is too low: all updates add up to {total:.2%} of the weights.",
        confidence=confidence_of(site),
        evidence=(
            no_progress,
            _rate_evidence(site),
            Evidence(f"all sampled updates add up to {total:.2%} of the weights' norm", site.readings[-1:]),
            progress(run),
        ),
        remedies=(_raise(run, site, value, trial),),
        where=site.rate_set_at,
    )


def _raise(run: Run, site: Site, value: float, trial: Mapping[str, float]) -> Remedy:
    """With a schedule it is the schedule that has to be changed."""
    schedule = run.fit.began.optimizer.schedule if run.fit is not None else ""
    if schedule:
        says = f"Check the {schedule}: it counts steps, not epochs, and lowers the rate too soon or too far"
        return Remedy(says, None, site.rate_set_at, trial=trial)
    return Remedy("Raise the learning rate", f"learning_rate={value}", site.rate_set_at, trial=trial)


def _dropped(run: Run, site: Site, no_progress: Evidence) -> Finding:
    rates, plateau = rates_of(site), plateau_settings(run)
    last, highest = rates[-1], max(rates) or default_rate(site)  # a schedule may be at 0 in the first reading
    reason = "a schedule counts steps, not epochs"
    trial = {"learning_rate": highest, "says": f"The learning rate stays at {compact(highest)}"}
    if plateau:
        reason = f"ReduceLROnPlateau monitors {plateau.get('monitor')} with mode={plateau.get('mode')!r}"
    remedy = Remedy(f"Check what lowers the learning rate: {reason}", None, site.rate_set_at,
                    trial=None if plateau else trial)  # fmt: skip
    return Finding(
        cause=f"The learning rate dropped to {compact(last)} before the model had learned anything.",
        confidence=confidence_of(site),
        evidence=(no_progress, _rate_evidence(site), progress(run)),
        remedies=(remedy,),
        where=site.rate_set_at,
    )


def _rate_evidence(site: Site) -> Evidence:
    rates = rates_of(site)
    highest, last = (compact(rate) for rate in ((max(rates), rates[-1]) if rates else (math.nan, math.nan)))
    says = f"the learning rate was {highest} at most and {last} at the end; Keras's default is "
    return Evidence(says + compact(default_rate(site)), site.readings[-1:], rates)


def _suggested_rate(site: Site, rate: float, total: float) -> float:
    """One with which all updates together would equal the weights' norm; at most Keras's default."""
    return min(default_rate(site), rate / total if total > 0 else math.inf)
