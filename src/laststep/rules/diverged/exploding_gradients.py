"""Gradients blow up."""

from __future__ import annotations

import math

from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.rule import Answer, rule
from laststep.rules._shared import measured, no, progress
from laststep.rules.diverged._growth import blown_up, first_bad, grew
from laststep.rules.diverged._numbers import SYMPTOMS, Site, bad_site, numbers_in, tell
from laststep.run import Run

CLIP = Remedy("Clip the gradients", "clipnorm=1.0 in the optimizer, or tf.clip_by_global_norm in a loop of your own",
              trial={"clipnorm": 1.0})  # fmt: skip
START = Remedy("Draw the weights for the layer's size, as Keras does when not asked otherwise",
               'kernel_initializer="glorot_uniform" ("he_normal" for relu)',
               trial={"hidden": {"initializer": "glorot_uniform"}})  # fmt: skip
NORMALISE = Remedy("In deep stacks put BatchNormalization or LayerNormalization between the layers")
TOO_LONG = 3.0  # times the length that Keras would have drawn


@rule(needs=("recorder",), outranks=SYMPTOMS)
def exploding_gradients(run: Run) -> Answer:
    """Gradients blew up until the numbers overflowed, at an ordinary learning rate.

    What happened
        From layer to layer, or from one time step to the next, the gradient was multiplied by more than 1. It became
        so large that one update threw the weights far away, and the next loss was infinite.

    How laststep knows
        The lengths of gradients and weights of each layer, and the loss, in the steps before the first bad one. The
        learning rate is no more than ten times Keras's default, and inputs and targets are of an ordinary size.

    What to do
        Clip the gradients (clipnorm), draw the weights smaller, normalise between the layers. A lower learning rate
        helps where the gradients grow only now and then.

    Not to be confused with
        learning-rate-too-high (the rate is what is large), unscaled-inputs, unscaled-targets (the data is),
        invalid-loss-math (nothing grew before).
    """
    found = blown_up(run, "exploding-gradients")
    if found is None:
        seen = bad_site(run) is None and run.has("numbers")
        return measured("no gradient was anything but finite") if seen else no("no growth was seen before a bad step")
    site, sign = found
    layer = _longest(site)
    evidence = [first_bad(site), *_gradients(site)]
    drawn = _drawn(site, layer)
    if drawn:
        evidence.append(Evidence(drawn, (site.made,)))
    return Finding(
        cause=f"The gradients blew up: {sign}.",
        confidence=Confidence.LIKELY if grew(site) else Confidence.POSSIBLE,
        evidence=(*evidence, progress(run)),
        remedies=(START, CLIP, NORMALISE) if drawn else (CLIP, NORMALISE),
        where=(site.place(layer) if drawn else None) or site.where,
    )


def _gradients(site: Site) -> list[Evidence]:
    good = site.good
    if not good:
        return []
    norms = [site.gradient(look) for look in good]
    largest = good[norms.index(max(norms))]
    held = {name: value for name, value in numbers_in(largest.get("grads")).items() if math.isfinite(value)}
    layer = max(held, key=lambda name: held[name], default="")
    told = f"the gradient was {tell(max(norms))} long in step {largest.get('step')}, most of it in {layer}"
    return [Evidence(told, (largest,), tuple(norms))]


def _longest(site: Site) -> str:
    """The layer whose weights are the most too long from the start."""
    first = numbers_in(site.looks[0].get("weights"))
    sizes = {layer: value / site.usual(layer) for layer, value in first.items() if site.usual(layer) > 0}
    sizes = {layer: value for layer, value in sizes.items() if math.isfinite(value)}
    return max(sizes, key=lambda layer: sizes[layer], default="")


def _drawn(site: Site, layer: str) -> str:
    held = numbers_in(site.looks[0].get("weights")).get(layer, math.nan)
    usual = site.usual(layer)
    if site.good and usual > 0 and held > TOO_LONG * usual and site.looks[0].get("step") == 1:
        return f"the weights of {layer} are {tell(held / usual)} times as long as Keras would have drawn them"
    return ""
