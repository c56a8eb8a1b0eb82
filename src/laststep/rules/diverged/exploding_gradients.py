"""Gradients blow up."""

from __future__ import annotations

import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_site, first_bad
from laststep.analysis.learning.growth import blown_up, grew
from laststep.analysis.learning.site import SYMPTOMS, Site, gradient, tell
from laststep.analysis.learning.weights import TOO_LONG, drawn, place_of
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

CLIP = Remedy("Clip the gradients", "clipnorm=1.0 in the optimizer, or tf.clip_by_global_norm in a loop of your own",
              trial={"clipnorm": 1.0})  # fmt: skip
START = Remedy("Draw the weights for the layer's size, as Keras does when not asked otherwise",
               'kernel_initializer="glorot_uniform" ("he_normal" for relu)',
               trial={"hidden": {"initializer": "glorot_uniform"}})  # fmt: skip
NORMALISE = Remedy("In deep stacks put BatchNormalization or LayerNormalization between the layers")


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
    times = drawn(site)
    layer = max(times, key=lambda layer: times[layer], default="")
    evidence = [first_bad(site), *_gradients(site)]
    odd = site.looks[0].raw["step"] <= 2 and times.get(layer, 0.0) > TOO_LONG
    if odd:
        told = f"the weights of {layer} are {tell(times[layer])} times as long as Keras would have drawn them"
        evidence.append(Evidence(told, (site.made,)))
    return Finding(
        cause=f"The gradients blew up: {sign}.",
        confidence=Confidence.LIKELY if grew(site) else Confidence.POSSIBLE,
        evidence=(*evidence, progress(run)),
        remedies=(START, CLIP, NORMALISE) if odd else (CLIP, NORMALISE),
        where=(place_of(site, layer) if odd else None) or site.where,
    )


def _gradients(site: Site) -> list[Evidence]:
    good = site.good
    if not good:
        return []
    norms = [gradient(look) for look in good]
    largest = good[norms.index(max(norms))]
    held = {name: value for name, value in largest.raw["grads"].items() if math.isfinite(value)}
    layer = max(held, key=lambda name: held[name], default="")
    told = f"the gradient was {tell(max(norms))} long in step {largest.get('step')}, most of it in {layer}"
    return [Evidence(told, (largest,), tuple(norms))]
