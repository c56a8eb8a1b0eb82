"""The numbers of training as the rules read them: where gradients are taken, how the loss went, how large a step is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from laststep.event import Event
from laststep.finding import Place
from laststep.rules._shared import fit_place
from laststep.run import Run

SYMPTOMS = ("nan-loss", "loss-not-improving")  # what a cause of these comes before
# What Keras takes when nothing is asked for. Ten times as much is no longer ordinary.
DEFAULT_RATES = {"SGD": 0.01, "Adagrad": 0.01, "Adadelta": 1.0}  # these two as their papers have them
DEFAULT_RATE = 0.001
ADAMS = ("Adam", "AdamW", "Nadam", "Adamax", "RMSprop", "Lion")
UNORDINARY = 10.0
ENOUGH_STEPS = 40  # with fewer nothing can be said about what was learnt
LONG = 0.03  # of the weights in one step; what trains well is about a thousandth
HALF = ("float16", "mixed_float16")


def number(value: Any) -> float:
    """A number of the record; NaN for what is none."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


def numbers_in(value: Any) -> dict[str, float]:
    return {str(key): number(item) for key, item in value.items()} if isinstance(value, dict) else {}


def length(values: Iterable[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def tell(value: float) -> str:
    """1,234 · 0.0123 · 3.2e+05: as short as it can be said."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


@dataclass(frozen=True)
class Site:
    """One place where gradients are taken, however often it was traced."""

    run: Run
    made: Event
    looks: tuple[Event, ...]
    batches: tuple[Event, ...]
    bad: Event | None

    @property
    def good(self) -> list[Event]:
        """The looks before the first bad step."""
        return [look for look in self.looks if not look.get("bad") and math.isfinite(self.gradient(look))]

    @property
    def tensors(self) -> dict[str, dict[str, Any]]:
        return dict(self.batches[-1].data["tensors"]) if self.batches else {}

    @property
    def inputs(self) -> dict[str, dict[str, Any]]:
        """What the model is given: not the targets of its other heads, which a step is given too."""
        own = {name: told for name, told in self.tensors.items() if name == "x" or name.startswith("x/")}
        return {name: told for name, told in own.items() if not name.startswith(("x/y", "x/sample"))}

    @property
    def described(self) -> list[dict[str, Any]]:
        layers = self.made.data["model"].get("layers")
        return [layer for layer in layers if isinstance(layer, dict)] if isinstance(layers, list) else []

    @property
    def losses(self) -> list[dict[str, Any]]:
        return [loss for loss in self.made.data["losses"] if isinstance(loss, dict)]

    @property
    def settings(self) -> dict[str, Any]:
        """What is known of the optimizer: that of the fit, as it was compiled, or that of the loop."""
        asked = self.run.fit.began.get("optimizer") if self.run.fit else None
        own = {key: value for key, value in self.made.data["optimizer"].items() if value is not None}
        return (asked if isinstance(asked, dict) else {}) | own

    @property
    def optimizer(self) -> str:
        return str(self.settings.get("inner") or self.settings.get("class") or "")

    @property
    def scales_loss(self) -> bool:
        return bool(self.settings.get("scales_loss") or self.settings.get("inner"))

    @property
    def is_half(self) -> bool:
        """Whether layers compute in float16, which ends at 65,504."""
        return any(layer.get("dtype") in HALF for layer in self.described) or any(
            loss.get("y_pred_dtype") == "float16" for loss in self.losses
        )

    @property
    def where(self) -> Place | None:
        return self.made.get("where") or fit_place(self.run)

    @property
    def rate_set_at(self) -> Place | None:
        """Where the optimizer was made, or named in compile."""
        made = self.made.get("optimizer")
        place = made.get("where") if isinstance(made, dict) else None
        return place if isinstance(place, dict) else self.where

    @property
    def risky(self) -> list[Place]:
        """The program's own lines with logarithms, roots and divisions on the way to the loss, the last first."""
        told = [item for item in self.made.get("risky") or [] if isinstance(item, dict)]
        here = (self.where or {}).get("line")
        places = [item["where"] for item in told if isinstance(item.get("where"), dict)]
        return [place for place in places if place.get("line") != here]

    @property
    def steps(self) -> int:
        done = self.run.steps[-1].number if self.run.steps else 0
        return max([done, *(int(look.data["step"]) for look in self.looks)])

    def gradient(self, look: Event) -> float:
        return length(value for value in numbers_in(look.get("grads")).values() if value == value or look.get("bad"))

    def weight(self, look: Event) -> float:
        """The length of all weights; as Keras would draw them where they were no numbers any more at the look."""
        held = numbers_in(look.get("weights"))
        return length(value if math.isfinite(value) else self.usual(layer) for layer, value in held.items())

    def size(self, layer: str) -> int:
        """How many numbers a layer has that are trained."""
        return sum(math.prod(shape) for name, shape in self.shapes.items() if name.rpartition("/")[0] == layer)

    @property
    def shapes(self) -> dict[str, list[int]]:
        told = [item for item in self.made.data["variables"] if isinstance(item, dict)]
        return {str(item.get("name")): item["shape"] for item in told if _is_shape(item.get("shape"))}

    def usual(self, layer: str) -> float:
        """The length of a layer's weights as Keras would draw them (Glorot)."""
        squares = 0.0
        for name, shape in self.shapes.items():
            if name.rpartition("/")[0] == layer:
                squares += _usual_square(name, shape)
        return math.sqrt(squares)

    def layer(self, name: str) -> dict[str, Any]:
        """What is known of the layer that holds these variables."""
        for layer in self.described:
            if any(str(weight).rpartition("/")[0] == name for weight in layer.get("weights") or []):
                return layer
        return {}

    def place(self, name: str) -> Place | None:
        return self.layer(name).get("where") or self.where

    def activation_after(self, name: str) -> str:
        """The activation of this layer, its own or that of the layers after it that have no weights."""
        at = next((i for i, layer in enumerate(self.described) if layer is self.layer(name)), None)
        for layer in self.described[at:] if at is not None else ():
            told = str(layer.get("activation") or "")
            if told not in ("", "linear"):
                return told
            if layer.get("class") in ("ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax"):
                return str(layer["class"]).lower()
        return ""

    def rate(self, look: Event) -> float:
        rate = number(look.get("rate"))
        return rate if math.isfinite(rate) else number(self.settings.get("learning_rate"))

    @property
    def default_rate(self) -> float:
        return DEFAULT_RATES.get(self.optimizer, DEFAULT_RATE)

    def is_high(self, rate: float) -> bool:
        return rate > 1.001 * UNORDINARY * self.default_rate

    def stride(self, look: Event) -> float:
        """By how much a step changes the weights, as a part of their length; NaN where that is not known."""
        grads, rate = numbers_in(look.get("grads")), self.rate(look)
        usual = length(map(self.usual, grads))
        long = min(self.weight(look), usual) if usual else self.weight(look)  # what has grown is no measure
        if not long or not math.isfinite(rate) or not self.optimizer:
            return math.nan
        if self.optimizer in ADAMS:  # each number of them moves by about the rate
            return rate * math.sqrt(sum(self.size(layer) for layer in grads)) / long
        if self.optimizer != "SGD":
            return math.nan
        if any(number(self.settings.get(name)) > 0 for name in ("clipnorm", "global_clipnorm")):
            return rate / long
        momentum = number(self.settings.get("momentum"))
        return rate * self.gradient(look) / long / (1 - momentum if 0 < momentum < 1 else 1)


# What the fields of these events hold; a record may be torn, or come from a stranger.
FORMS: dict[str, dict[str, type]] = {
    "gradients": {"missing": list, "variables": list, "losses": list, "model": dict, "optimizer": dict},
    "numbers": {"grads": dict, "weights": dict, "moved": dict, "dead": dict, "broken": list},
    "batch": {"tensors": dict},
    "bad-number": {"inputs": dict, "data": dict, "grads": list, "finite": list},
}


def _read(run: Run, kind: str) -> list[Event]:
    """The events of a kind, each field of the form that it should have."""
    found = []
    for event in run.all(kind):
        told = dict(event.data)
        for name, form in FORMS[kind].items():
            told[name] = told[name] if isinstance(told.get(name), form) else form()
        for name in ("tensors", "inputs", "data"):
            if name in FORMS[kind]:
                told[name] = {key: value for key, value in told[name].items() if isinstance(value, dict)}
        told |= {name: number(told.get(name)) for name in ("loss", "rate")}
        told |= {name: _count(told.get(name)) for name in ("step", "batches")}
        told["where"] = told["where"] if isinstance(told.get("where"), dict) else None
        told["site"] = str(told.get("site"))
        found.append(dataclasses.replace(event, data=told))
    return found


def _count(value: Any) -> int:
    return int(value) if math.isfinite(number(value)) else 0


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and all(isinstance(part, int) for part in shape)


def _usual_square(name: str, shape: Sequence[int]) -> float:
    if len(shape) < 2:
        return float(math.prod(shape)) if name.rpartition("/")[2] == "gamma" else 0.0
    around = math.prod(shape[:-2])
    return math.prod(shape) * 2 / (around * (shape[-2] + shape[-1]) or 1)


def sites_of(run: Run) -> list[Site]:
    """Each place where gradients were taken and looked at; a function that was traced twice is one place."""
    looks: dict[str, list[Event]] = {}
    for look in _read(run, "numbers"):
        looks.setdefault(look.data["site"], []).append(look)
    groups: dict[str, list[Event]] = {}
    for made in _read(run, "gradients"):
        if made.data["site"] in looks:
            names = [item.get("name") for item in made.data["variables"] if isinstance(item, dict)]
            groups.setdefault(repr((made.get("where"), names, _fit_at(run, made))), []).append(made)
    batches, bad = _read(run, "batch"), _read(run, "bad-number")
    return [_join(run, group, looks, batches, bad) for group in groups.values()]


def _fit_at(run: Run, made: Event) -> int:
    return sum(fit.began.time <= made.time for fit in run.fits)


def _join(run: Run, group: list[Event], looks: dict[str, list[Event]], batches: list[Event], bad: list[Event]) -> Site:
    ids = [made.data["site"] for made in group]
    seen = sorted((look for site in ids for look in looks[site]), key=lambda look: look.time)
    mine = sorted((e for e in batches if e.data["site"] in ids), key=lambda event: number(event.get("batches")))
    first = min((e for e in bad if e.data["site"] in ids), key=lambda event: event.time, default=None)
    return Site(run, group[0], tuple(seen), tuple(mine), first)


def bad_site(run: Run) -> Site | None:
    """Where the first number was that is none, if it did harm: a step that is tried and skipped does none."""
    sites = [site for site in sites_of(run) if site.bad is not None]
    first = min(sites, key=lambda site: site.bad.time if site.bad else 0.0, default=None)
    return first if first is not None and did_harm(first) else None


def did_harm(site: Site) -> bool:
    """Whether weights were broken, or the loss was bad to the end; where nothing more is known, it did."""
    if site.bad is None or any(look.get("broken") for look in site.looks):
        return site.bad is not None
    metrics = [epoch.get("metrics") for epoch in site.run.all("epoch") if epoch.time > site.bad.time]
    told = [number(held["loss"]) for held in metrics if isinstance(held, dict) and "loss" in held]
    if told:
        return not math.isfinite(told[-1])
    step = site.bad.data["step"]
    if not site.run.fits and any(s.number > step + 1 and math.isfinite(s.loss) for s in site.run.steps):
        return False
    return not site.scales_loss or not math.isfinite(loss_of(site.looks[-1]))


def loss_of(look: Event) -> float:
    return number(look.get("loss"))


def steady_site(run: Run) -> Site | None:
    """The site of a run without bad numbers: the last one; none where several train at the same time (a GAN)."""
    sites = sites_of(run)
    if not sites or bad_site(run) is not None:
        return None
    last = sites[-1]
    begins = last.looks[0].time
    beside = any(site.looks[-1].time > begins and len(site.looks) > 2 for site in sites[:-1])
    return None if beside or last.steps < ENOUGH_STEPS or len(last.looks) < 3 else last
