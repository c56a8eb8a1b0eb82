"""All hidden units died during training: from some step on, no layer but the last has a gradient."""

from __future__ import annotations

from laststep.analysis.learning.site import Site, gradient_norms
from laststep.record.events.numbers import Numbers

MIN_READINGS = 5


def died_at(site: Site) -> Numbers | None:
    """The first reading without them, where that holds for at least half of all readings, up to the last."""
    layers = list(gradient_norms(site.good[-1])) if site.good else []
    alive = len(layers) > 1 and bool(site.good[-1].grads[layers[-1]])
    dead = [all(reading.grads.get(layer) == 0 for layer in layers[:-1]) for reading in site.good]
    at_end = dead[::-1].index(False) if False in dead else len(dead)
    return site.good[-at_end] if alive and at_end >= max(MIN_READINGS, len(dead) / 2) else None


def describe_death(reading: Numbers) -> str:
    return f"All hidden units have been dead since step {reading.step:,}: every sample gets the same prediction"


def describe_dead_layers(reading: Numbers) -> str:
    layers = list(gradient_norms(reading))[:-1]
    return f"{', '.join(layers[:4])}: gradient 0 in every sampled step since step {reading.step:,}"
