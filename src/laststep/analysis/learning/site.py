"""Where gradients are taken: what was traced there, what its steps were given, how their numbers were at each look."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from laststep.analysis.finding import Place
from laststep.analysis.learning.record import read
from laststep.analysis.progress import fit_place
from laststep.record.event import Event
from laststep.record.run import Run, view
from laststep.record.torn import number, table

SYMPTOMS = ("nan-loss", "loss-not-improving")  # what a cause of these comes before
HALF = ("float16", "mixed_float16")
Told = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """One place where gradients are taken and that really ran, however often it was traced."""

    run: Run
    made: Event
    looks: tuple[Event, ...]
    batches: tuple[Event, ...] = ()
    bad: Event | None = None

    @functools.cached_property
    def good(self) -> list[Event]:
        """The looks before the first bad step."""
        return [look for look in self.looks if not look.get("bad") and math.isfinite(gradient(look))]

    @functools.cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(str(variable.get("name")) for variable in self.made.raw["variables"])

    @functools.cached_property
    def losses(self) -> list[Told]:
        return list(self.made.raw["losses"])

    @functools.cached_property
    def layers(self) -> list[Told]:
        return list(self.made.raw["model"]["layers"])

    @functools.cached_property
    def tensors(self) -> dict[str, Told]:
        return dict(self.batches[-1].raw["tensors"]) if self.batches else {}

    @functools.cached_property
    def inputs(self) -> dict[str, Told]:
        """What the model is given: not the targets of its other heads, which a step is given too."""
        own = {name: told for name, told in self.tensors.items() if name == "x" or name.startswith("x/")}
        return {name: told for name, told in own.items() if not name.startswith(("x/y", "x/sample"))}

    @functools.cached_property
    def settings(self) -> Told:
        """What is known of the optimizer: that of the fit, as it was compiled, or that of the loop."""
        asked = self.run.fit.began.get("optimizer") if self.run.fit else None
        return {**table(asked), **self.made.raw["optimizer"]}

    @property
    def optimizer(self) -> str:
        return str(self.settings.get("inner") or self.settings.get("class") or "")

    @property
    def scales_loss(self) -> bool:
        return bool(self.settings.get("scales_loss") or self.settings.get("inner"))

    @property
    def rate_set_at(self) -> Place | None:
        """Where the optimizer was made, or named in compile."""
        return self.made.raw["optimizer"].get("where") or self.where

    @property
    def where(self) -> Place | None:
        return self.made.get("where") or fit_place(self.run)

    @functools.cached_property
    def is_half(self) -> bool:
        """Whether layers compute in float16, which ends at 65,504."""
        return any(layer.get("dtype") in HALF for layer in self.layers) or any(
            loss.get("y_pred_dtype") == "float16" for loss in self.losses
        )

    @functools.cached_property
    def steps(self) -> int:
        done = self.run.steps[-1].number if self.run.steps else 0
        return max(done, *(int(look.raw["step"]) for look in self.looks))

    def rate(self, look: Event) -> float:
        rate = number(look.get("rate"))
        return rate if math.isfinite(rate) else number(self.settings.get("learning_rate"))


def length(values: Iterable[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def gradient(look: Event) -> float:
    """The length of all gradients; before the first bad step without those that are none."""
    return length(value for value in look.raw["grads"].values() if value == value or look.get("bad"))


def loss_of(look: Event) -> float:
    return number(look.get("loss"))


def tell(value: float) -> str:
    """1,234 · 0.0123 · 3.2e+05: as short as it can be said."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


@view
def sites(run: Run) -> list[Site]:
    """Those that were looked at: of a function that was traced for its shapes only, that trace is never run."""
    looks = {site: _with_weights(found) for site, found in _by_site(run, "numbers").items()}
    groups: dict[str, list[Event]] = {}
    traces = {made.raw["site"]: made for made in read(run, "gradients")}  # one each, whatever a damaged record says
    for site, made in traces.items():
        if site in looks:
            names = [variable.get("name") for variable in made.raw["variables"]]
            groups.setdefault(repr((made.get("where"), names, _fits_before(run, made))), []).append(made)
    batches, bad = _by_site(run, "batch"), _by_site(run, "bad-number")
    return [_join(run, group, looks, batches, bad) for group in groups.values()]


Found = dict[str, list[Event]]


def _by_site(run: Run, kind: str) -> Found:
    found: Found = {}
    for event in read(run, kind):
        found.setdefault(event.raw["site"], []).append(event)
    return found


def _fits_before(run: Run, made: Event) -> int:
    return bisect.bisect_right(run.fits, made.time, key=lambda fit: fit.began.time)


def _join(run: Run, traces: list[Event], looks: Found, batches: Found, bad: Found) -> Site:
    """What was seen of all these traces."""
    ids = dict.fromkeys(made.raw["site"] for made in traces)
    seen, given, broke = ([event for id in ids for event in of.get(id, ())] for of in (looks, batches, bad))
    return Site(
        run,
        traces[-1],
        tuple(sorted(seen, key=lambda look: look.time)),
        tuple(sorted(given, key=lambda batch: int(batch.raw["batches"]))),
        min(broke, key=lambda event: event.time, default=None),
    )


def _with_weights(looks: list[Event]) -> list[Event]:
    """Weights are looked at in some of the looks: they hold for those that follow."""
    known: dict[str, float] = {}
    found = []
    for look in sorted(looks, key=lambda look: look.time):
        own = look.raw["weights"]
        known = own or known
        found.append(look if own else replace(look, raw={**look.raw, "weights": known}))
    return found


def last_site(run: Run) -> Site | None:
    """The one that was looked at last: the training that matters."""
    return max(sites(run), key=lambda site: site.looks[-1].time, default=None)


def latest_sites(run: Run) -> list[Site]:
    """Of those that train the same variables, the last."""
    return list({site.variables: site for site in sites(run)}.values())


def are_rivals(run: Run) -> bool:
    """Several places take gradients in turns: a GAN, two optimizers. Their losses need not fall."""
    spans = sorted((site.looks[0].time, site.looks[-1].time) for site in sites(run))
    return any(after[0] < before[1] for before, after in itertools.pairwise(spans))
