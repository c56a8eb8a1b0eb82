"""All units fell silent on the way: from some step on no layer but the last has any gradient."""

from __future__ import annotations

from laststep.analysis.learning.site import Site, gradients
from laststep.record.events.numbers import Numbers

LOOKS = 5


def died_at(site: Site) -> Numbers | None:
    """The look from which on it is so, for half of all looks or longer; what is left is one constant answer."""
    layers = list(gradients(site.good[-1])) if site.good else []
    alive = len(layers) > 1 and bool(site.good[-1].grads[layers[-1]])
    silent = [all(reading.grads.get(layer) == 0 for layer in layers[:-1]) for reading in site.good]
    last = silent[::-1].index(False) if False in silent else len(silent)
    return site.good[-last] if alive and last >= max(LOOKS, len(silent) / 2) else None


def death_of(reading: Numbers) -> str:
    return f"All units have been silent since step {reading.step:,}: each sample gets the same answer"


def silence_of(reading: Numbers) -> str:
    layers = list(gradients(reading))[:-1]
    return f"{', '.join(layers[:4])}: no gradient in any look from step {reading.step:,} on"
