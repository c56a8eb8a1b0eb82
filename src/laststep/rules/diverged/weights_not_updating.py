"""Weights that never change."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.learning.frozen import (
    MIN_UNTRAINED_SHARE,
    changes_somewhere,
    knows_rate,
    mostly_frozen,
    not_optimized,
    nothing_trainable,
    untracked_weights,
    would_change,
)
from laststep.analysis.learning.learning import LEARNS, Learning, learning_of
from laststep.analysis.learning.seen import MIN_STEPS_OPEN
from laststep.analysis.learning.site import Site, last_site, latest_sites
from laststep.analysis.learning.weights import place_of_variable, share_of_weights
from laststep.analysis.rewrite import argument_of, with_gradients_applied_to
from laststep.record.events.numbers import Applied
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_count

MIN_STEPS = 20
MIN_CUT_OFF_SHARE = 0.2  # of the weights; less may be a head that this loss does not use
MIN_SHARE_LEFT = 0.5  # of the baseline's loss
DIFFERENTIABLE = (
    "Use only differentiable operations between weights and loss: no .numpy(), round, argmax, stop_gradient"
)


@rule(sees=("inside",))
def weights_not_updating(run: Run) -> Answer:
    """Weights that should be trained never change: they are frozen, cut off from the loss, or updates are not applied.

    What happened
        The loss is computed and training goes on, but some or all weights stay the same: trainable is False for the
        whole model, Keras does not track the weights of a layer, an operation between the weights and the loss has no
        gradient (numpy, rounding, argmax, stop_gradient), or the gradients are never applied to the variables.

    How laststep knows
        Keras warns that there are no trainable weights; or variables have no gradient where one was requested; or the
        weights are bit-identical after many steps while their gradients are not 0.

    What to do
        Freeze only the base, and compile afterwards. Create weights with self.add_weight. Use TensorFlow operations
        between the weights and the loss. Call optimizer.apply_gradients with the variables that the gradients belong
        to.

    Not to be confused with
        learning-rate-too-low (the weights change, but barely), dead-activations and vanishing-gradients (there is a
        gradient, and it is 0), a base that is frozen on purpose while the head learns.
    """
    learning = learning_of(run)
    found = nothing_trainable(run, learning) or _cut_off(run, learning) or _never_applied(run, learning)
    found = found or untracked_weights(run, learning) or mostly_frozen(run, learning) or not_optimized(run, learning)
    if found is not None:
        return found
    return _they_change(run)


def _they_change(run: Run) -> Answer:
    site = last_site(run)
    if site is None:
        return no("no gradients were recorded")
    moved = [reading for reading in site.readings if any(reading.moved.values())]
    if not moved:
        return cannot(f"too short to tell: the weights were not compared in {format_count(site.steps, 'step')}")
    return measured(f"the weights changed, last in step {moved[-1].step:,}")


def _cut_off(run: Run, learning: Learning) -> Finding | None:
    """Variables whose gradient was requested, but on which the loss does not depend."""
    latest = latest_sites(run)
    reached = {name for site in latest for name in site.variables if name not in site.gradients.missing}
    for site in latest:
        # An output layer that the loss does not use may be intended; a layer before an output may not.
        outputs = set(site.gradients.model.outputs) if reached else set()
        missing = [name for name in site.gradients.missing if not set(name.split("/")[:-1]) & outputs]
        cut_off = [name for name in missing if name not in reached]
        share = share_of_weights(site, cut_off)
        if cut_off and share >= MIN_CUT_OFF_SHARE and (share >= 1 or not _does_well(learning, share)):
            return _cut_off_finding(site, cut_off, share, learning)
    return None


def _cut_off_finding(site: Site, names: list[str], share: float, learning: Learning) -> Finding:
    all_of_them = share >= 1
    part = f"{share:.0%} of the" if share < 0.99 else "nearly all"
    which = "any weight" if all_of_them else f"{format_count(len(names), 'variable')} ({part} weights)"
    says = f"no gradient for {', '.join(names[:4])}{' …' if len(names) > 4 else ''}"
    partly = Confidence.LIKELY if learning.fails else Confidence.POSSIBLE
    return Finding(
        cause=f"The loss does not depend on {which}: an operation in between has no gradient.",
        confidence=Confidence.CERTAIN if all_of_them else partly,
        evidence=(Evidence(says, (site.gradients,)), *learning.evidence),
        remedies=(Remedy(DIFFERENTIABLE, None, site.where),),
        where=site.gradients.cut_at or (None if all_of_them else place_of_variable(site, names[0])) or site.where,
    )


def _does_well(learning: Learning, share: float) -> bool:
    """The model learns without these weights; not where they are most of them and most is left to learn."""
    return learning.verdict == LEARNS and not (share > MIN_UNTRAINED_SHARE and learning.share > MIN_SHARE_LEFT)


def _never_applied(run: Run, learning: Learning) -> Finding | None:
    """Gradients that are not 0, and weights that stay the same."""
    site = last_site(run)
    if site is None:
        return None
    compared = [reading for reading in site.readings if reading.moved]
    steps = sum(reading.step - reading.since for reading in compared)
    enough = MIN_STEPS if learning.losses.is_over or any(map(knows_rate, compared)) else MIN_STEPS_OPEN
    if steps < enough or not all(map(would_change, compared)) or changes_somewhere(run, site):
        return None
    says = f"after {steps:,} steps all weights are bit-identical, although their gradients are not 0"
    applied = run.last(Applied)
    others = [name for name in applied.variables if name not in site.variables] if applied is not None else []
    more: tuple[Evidence, ...] = ()
    where = site.where
    if applied is not None and others:
        more = (Evidence(f"the optimizer updates other variables: {', '.join(others[:3])}", (applied,)),)
        where = applied.where or where
    return Finding(
        cause="Gradients are computed but never applied: no weight changes.",
        confidence=Confidence.CERTAIN,
        evidence=(Evidence(says, (site.readings[0], site.readings[-1])), *more, *learning.evidence),
        remedies=(_apply(site, where),),
        where=where,
    )  # fmt: skip


def _apply(site: Site, where: Place | None) -> Remedy:
    """In the line that applies them to others, with the variables that the gradients were taken of."""
    asked = argument_of(site.where.text if site.where is not None else "", "gradient", "sources", 1)
    change = with_gradients_applied_to(where.text, asked) if where is not None and asked else None
    if not site.optimizer_class and change is None:
        return Remedy("Apply the gradients: variable.assign_sub(rate * gradient), or apply_gradients of an optimizer")
    return Remedy("Apply the gradients to the variables they were computed for", change, where if change else None)
