"""All units fell silent on the way: from some step on no layer but the last has any gradient."""

from __future__ import annotations

from laststep.analysis.learning.site import Site
from laststep.record.event import Event

LOOKS = 5


def died_at(site: Site) -> Event | None:
    """The look from which on it is so, for half of all looks or longer; what is left is one constant answer."""
    layers = list(site.good[-1].raw["grads"]) if site.good else []
    alive = len(layers) > 1 and bool(site.good[-1].raw["grads"][layers[-1]])
    silent = [all(look.raw["grads"].get(layer) == 0 for layer in layers[:-1]) for look in site.good]
    last = silent[::-1].index(False) if False in silent else len(silent)
    return site.good[-last] if alive and last >= max(LOOKS, len(silent) / 2) else None


def death_of(look: Event) -> str:
    return f"All units have been silent since step {look.raw['step']:,}: each sample gets the same answer"


def silence_of(look: Event) -> str:
    layers = list(look.raw["grads"])[:-1]
    return f"{', '.join(layers[:4])}: no gradient in any look from step {look.raw['step']:,} on"
