"""Most units of a layer never activate."""

from __future__ import annotations

import dataclasses

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.answers import although, no_finite_site
from laststep.analysis.learning.dead_units import describe_dead_layers, describe_death, died_at
from laststep.analysis.learning.learning import finite_site, learning_of
from laststep.analysis.learning.scale import large_inputs, large_targets
from laststep.analysis.learning.site import Site, compact, gradient_norms, or_nan
from laststep.analysis.learning.weights import (
    MAX_STARTING_SCALE,
    activation_after,
    is_high_rate,
    layer_of,
    layer_place,
    starting_scales,
)
from laststep.analysis.progress import progress
from laststep.record.events.numbers import Numbers
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count

MIN_DEAD_SHARE = 0.9  # of a layer's units
MIN_DEAD_SHARE_IF_LEARNING = 0.95  # the same, where the model learns in spite of it
MIN_READINGS = 5
SATURATING = ("sigmoid", "tanh", "softsign")  # where these saturate, their gradient is small, but not 0
LEAKY = Remedy("Use an activation whose gradient is not 0 for negative inputs, so that dead units can recover",
                'activation="leaky_relu"',
               trial={"hidden": {"activation": "leaky_relu", "from": ["relu"]}})  # fmt: skip
CHECK_INPUTS = Remedy("Check what goes into this layer: its biases, a threshold, the sign and scale of its inputs")


@rule(tier=Tier.ROOT, sees=("inside",))
def dead_activations(run: Run) -> Answer:
    """Most units of a layer are dead: their output is 0 for every sample, and so is their gradient.

    What happened
        relu outputs 0 for any input below 0, and its gradient is 0 there. A unit whose input is below 0 for every
        sample gets no gradient and stays dead ("dying relu"). When most units of a layer are dead, little or nothing
        passes through it.

    How laststep knows
        It records for each unit whether its weights had a gradient in any sampled step. It reports a layer in which at
        least 90% of the units had none; or a model in which, from some step on, no layer but the last has a gradient.

    What to do
        Check the layer's biases and inputs: a bias far below 0, inputs that are all negative, a threshold in the code,
        an update that was too large. With leaky_relu, elu and gelu the gradient is not 0 for negative inputs.

    Not to be confused with
        vanishing-gradients (small, but not 0), weights-not-updating (the layer is frozen, or not connected to the
        loss).
    """
    site = finite_site(run)
    if site is None or len(site.good) < MIN_READINGS:
        return no_finite_site(run)
    dead = _dead_shares(site)
    died = died_at(site) if not dead else None
    if died is not None:
        return _all_died(run, site, died)
    if not dead:
        return measured(f"units in all layers had gradients in {format_count(len(site.good), 'sampled step')}")
    no_progress = learning_of(run).no_progress
    layer = _culprit(site, dead)
    if no_progress is None and not _has_no_gradient(site, layer) and dead[layer] < MIN_DEAD_SHARE_IF_LEARNING:
        return although(learning_of(run), f"{dead[layer]:.0%} of the units in {layer} never activate")
    return Finding(
        cause=f"{dead[layer]:.0%} of the units in {layer} never activate.",
        confidence=Confidence.LIKELY if no_progress else Confidence.POSSIBLE,
        evidence=(*([no_progress] if no_progress else []), *_evidence(site, dead, layer), progress(run)),
        remedies=(CHECK_INPUTS, *_leaky(site, layer)),
        where=layer_place(site, layer),
    )


def _evidence(site: Site, dead: dict[str, float], layer: str) -> list[Evidence]:
    alive = "no unit" if dead[layer] >= 1 else f"only {1 - dead[layer]:.1%} of the units"
    says = f"{alive} in {layer} had a gradient in any of {len(site.good)} sampled steps"
    evidence = [Evidence(says, site.readings[-1:])]
    others = [name for name in dead if name != layer]
    if others:
        get = "gets" if len(others) == 1 else "get"
        evidence.append(Evidence(f"{', '.join(others[:4])} {get} no gradient either", site.readings[-1:]))
    scale = starting_scales(site).get(layer, 0.0)
    if scale > MAX_STARTING_SCALE:
        says = f"the norm of its weights and biases is {compact(scale)} times that of Keras's default initialization"
        evidence.append(Evidence(says, site.readings[:1]))
    return evidence


def _all_died(run: Run, site: Site, reading: Numbers) -> Answer:
    if is_high_rate(site, site.rate(reading)) or large_inputs(site) or large_targets(site):
        return no("the learning rate, or the scale of the data, explains why they died")
    return Finding(
        cause=f"{describe_death(reading)}.",
        confidence=Confidence.LIKELY,
        evidence=(Evidence(describe_dead_layers(reading), (reading, site.readings[-1])), progress(run)),
        remedies=(CHECK_INPUTS, LEAKY),
        where=layer_place(site, next(iter(gradient_norms(reading)))),
    )


def _leaky(site: Site, name: str) -> tuple[Remedy, ...]:
    """Another activation, where the layer takes one; a layer of the program's own, or a normalization, does not."""
    layer = next((each for each in site.layers if each.name == name), None)
    if layer is None or layer.activation in ("", "linear"):
        return (dataclasses.replace(LEAKY, change=None, trial=LEAKY.trial),)
    return (dataclasses.replace(LEAKY, where=layer.where),)


def _has_no_gradient(site: Site, layer: str) -> bool:
    """In any reading."""
    return all(reading.grads.get(layer) == 0 for reading in site.good)


def _dead_shares(site: Site) -> dict[str, float]:
    """The share of dead units, of the layers in which most are; without a kernel a layer counts as a whole."""
    shares: dict[str, float] = {}
    for name, share in site.good[-1].dead.items():
        layer = layer_of(name)
        shares[layer] = min(share, shares.get(layer, 1.0))
    layers = list(gradient_norms(site.good[-1]))
    dead = [layer for layer in layers if _has_no_gradient(site, layer)]
    if layers[-1:] == dead[-1:] or _is_blank(site):  # the output layer itself has no gradient, or the inputs are all 0
        return {}
    shares |= dict.fromkeys(dead, 1.0)
    # A layer with a gradient for its biases and none for its kernel is alive, and given zeros.
    found = {layer: share for layer, share in shares.items() if MIN_DEAD_SHARE <= share < 1 or layer in dead}
    return {layer: share for layer, share in found.items() if layer != layers[-1] and _can_die(site, layer)}


def _is_blank(site: Site) -> bool:
    return bool(site.inputs) and all(or_nan(seen.zeros) > 0.999 for seen in site.inputs.values())


def _can_die(site: Site, layer: str) -> bool:
    """Not where it is frozen or not connected, which another rule reports, or its activation always has a gradient."""
    missing = [layer_of(name) for name in site.gradients.missing]
    return layer not in missing and activation_after(site, layer) not in SATURATING


def _culprit(site: Site, dead: dict[str, float]) -> str:
    """The first, or the one with the most unusual initial weights."""
    scales = starting_scales(site).items()
    unusual = {layer: scale for layer, scale in scales if layer in dead and scale > MAX_STARTING_SCALE}
    return max(unusual, key=lambda layer: unusual[layer], default=next(iter(dead)))
