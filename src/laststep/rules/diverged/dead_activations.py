"""Most units of a layer never answer."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import learning_of, steady_site
from laststep.analysis.learning.scale import large_inputs, large_targets
from laststep.analysis.learning.silence import death_of, died_at, silence_of
from laststep.analysis.learning.site import SYMPTOMS, Site, tell
from laststep.analysis.learning.weights import TOO_LONG, activation_after, drawn, is_high, layer_of, place_of
from laststep.analysis.progress import progress
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.torn import number
from laststep.rules.rule import Answer, rule

MOST = 0.9
LOOKS = 5
SQUASHING = ("sigmoid", "tanh", "softsign")
LEAKY = Remedy("Let silent units come back", 'activation="leaky_relu" (or "elu", "gelu")',
               trial={"hidden": {"activation": "leaky_relu", "from": ["relu"]}})  # fmt: skip
START = Remedy("Look at what goes into this layer: its biases, its threshold, the sign and the scale of its inputs")


@rule(needs=("recorder",), outranks=(*SYMPTOMS, "vanishing-gradients", "unscaled-inputs", "unscaled-targets",
                                     "learning-rate-too-low", "learning-rate-too-high"))  # fmt: skip
def dead_activations(run: Run) -> Answer:
    """Most units of a layer never answer: their output is 0 for every sample, and so is their gradient.

    What happened
        A relu gives 0 for what is below 0, and has no slope there. A unit that is below 0 for every sample gets no
        gradient and stays so. When most units of a layer are silent, hardly anything gets through, or nothing.

    How laststep knows
        For each unit, whether its weights had any gradient in any of the looks. It is said where nine in ten units of a
        layer had none; or where from some step on no layer but the last has any.

    What to do
        Look at the layer's biases and inputs: a bias far below 0, inputs that are all negative, a threshold of your
        own, a step of the optimizer that was too long. leaky_relu, elu and gelu keep a slope.

    Not to be confused with
        vanishing-gradients (small, but not 0), weights-not-updating (the layer is not linked to the loss, or frozen).
    """
    site = steady_site(run)
    if site is None or len(site.good) < LOOKS:
        return no("too few looks at the gradients")
    dead = _dead(site)
    died = died_at(site) if not dead else None
    if died is not None:
        return _all_died(run, site, died)
    if not dead:
        return measured("units of all layers have gradients")
    trouble = learning_of(run).trouble
    layer = _culprit(site, dead)
    silent = all(_is_silent(site, layer))
    if trouble is None and not silent and dead[layer] < 0.95:
        return measured("some units are silent, and it learns")
    share = dead[layer]
    evidence = [trouble] if trouble else []
    told = "no unit" if share >= 1 else f"only {1 - share:.1%} of the units"
    evidence.append(Evidence(f"{told} of {layer} had a gradient in {len(site.good)} looks", site.looks[-1:]))
    others = [name for name in dead if name != layer]
    if others:
        evidence.append(Evidence(f"{', '.join(others[:4])} get no gradient either", site.looks[-1:]))
    times = drawn(site).get(layer, 0.0)
    if times > TOO_LONG:
        told = f"its weights and biases are {tell(times)} times as long as Keras would have drawn them"
        evidence.append(Evidence(told, site.looks[:1]))
    return Finding(
        cause=f"{share:.0%} of the units of {layer} never answer.",
        confidence=Confidence.LIKELY if trouble else Confidence.POSSIBLE,
        evidence=(*evidence, progress(run)),
        remedies=(START, LEAKY),
        where=place_of(site, layer),
    )


def _all_died(run: Run, site: Site, look: Event) -> Answer:
    if is_high(site, site.rate(look)) or large_inputs(site) or large_targets(site):
        return no("what silenced them has a rule of its own: the learning rate, or the size of the data")
    return Finding(
        cause=f"{death_of(look)}.",
        confidence=Confidence.LIKELY,
        evidence=(Evidence(silence_of(look), (look, site.looks[-1])), progress(run)),
        remedies=(START, LEAKY),
        where=place_of(site, next(iter(look.raw["grads"]))),
    )


def _is_silent(site: Site, layer: str) -> list[bool]:
    return [look.raw["grads"].get(layer) == 0 for look in site.good]


def _dead(site: Site) -> dict[str, float]:
    """Layers of which most units never had a gradient; a layer without a kernel has none or all."""
    shares: dict[str, float] = {}
    for name, share in site.good[-1].raw["dead"].items():
        layer = layer_of(name)
        shares[layer] = min(share, shares.get(layer, 1.0))
    layers = list(site.good[-1].raw["grads"])
    silent = [layer for layer in layers if all(_is_silent(site, layer))]
    if layers[-1:] == silent[-1:] or _is_blank(site):  # the output itself is stuck, or there is nothing to answer to
        return {}
    shares |= dict.fromkeys(silent, 1.0)
    # A layer whose biases have a gradient and whose kernel has none answers; it is given zeros.
    found = {layer: share for layer, share in shares.items() if MOST <= share < 1 or layer in silent}
    return {layer: share for layer, share in found.items() if layer != layers[-1] and _can_die(site, layer)}


def _is_blank(site: Site) -> bool:
    return bool(site.inputs) and all(number(told.get("zeros")) > 0.999 for told in site.inputs.values())


def _can_die(site: Site, layer: str) -> bool:
    """Neither frozen nor unlinked, which others tell, nor a layer whose activation has a slope everywhere."""
    missing = [layer_of(name) for name in site.made.raw["missing"]]
    return layer not in missing and activation_after(site, layer) not in SQUASHING


def _culprit(site: Site, dead: dict[str, float]) -> str:
    """The first; or one whose weights were clearly not drawn as usual."""
    odd = {layer: times for layer, times in drawn(site).items() if layer in dead and times > TOO_LONG}
    return max(odd, key=lambda layer: odd[layer], default=next(iter(dead)))
