"""NaN or Inf in the data."""

from __future__ import annotations

from typing import Any

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_inputs, bad_site, first_bad, is_late
from laststep.analysis.learning.scale import data_place
from laststep.analysis.learning.site import SYMPTOMS, Site, Told
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

CALLED = {"x": "the inputs", "y": "the targets", "sample_weight": "the sample weights"}


@rule(needs=("recorder",), outranks=SYMPTOMS)
def bad_input_values(run: Run) -> Answer:
    """The data holds NaN or Inf, and they went into a training step.

    What happened
        One value that is not a finite number makes the loss of its batch NaN, the gradients too, and with the next
        update every weight. It is often a missing value, a division by 0 in the preparation, or the logarithm of 0.
        With relu layers on a CPU the loss may go on looking like a number while the weights are NaN.

    How laststep knows
        The batch of the first bad step is looked at, and the arrays that fit was given: how many values, in which
        features and samples.

    What to do
        Look at these rows. Fill or drop them before training (np.isfinite finds NaN and Inf; np.nanmean does not
        leave out Inf), or repair the step of the preparation that makes them.

    Not to be confused with
        invalid-loss-math (the data is finite, the model or the loss makes the NaN), exploding-gradients.
    """
    site = bad_site(run)
    if site is None or site.bad is None:
        return no("no step with a bad number was seen")
    found, everywhere = bad_inputs(site), dict(site.bad.raw["data"])
    unseen = not site.tensors or is_late(site)  # too large to be kept, or that of a step after: the arrays tell
    if not found and not (unseen and everywhere):
        return measured(f"the data of the first bad step ({_step(site)}) is finite") if site.tensors else no("not seen")
    name, told = next(iter((found or everywhere).items()))
    whole = everywhere.get(name)
    return Finding(
        cause=f"{_called(name).capitalize()} hold {_kinds(whole or told)}: {_count(whole or told)}.",
        confidence=Confidence.CERTAIN if found else Confidence.LIKELY,
        evidence=(*_evidence(site, found, everywhere), first_bad(site), progress(run)),
        remedies=(
            Remedy(
                "Fill or drop them before training",
                f"np.isfinite({_variable(name)})",
                data_place(site, name),
                trial={"inputs": "finite"},
            ),
            Remedy("keras.callbacks.TerminateOnNaN() ends a run at its first bad loss", safe=True),
        ),
        where=data_place(site, name),
    )


def _evidence(site: Site, found: dict[str, Told], everywhere: dict[str, Told]) -> list[Evidence]:
    assert site.bad is not None
    told = [Evidence(f"{_called(name)} as fit got them: {_places(bad, 'row')}", (site.bad,))
            for name, bad in everywhere.items()]  # fmt: skip
    batch = [Evidence(f"{_called(name)} of step {_step(site)}: {_places(bad, 'sample')}", (site.bad,))
             for name, bad in found.items()]  # fmt: skip
    return told + batch


def _places(bad: Told, noun: str) -> str:
    """27 of 2,880 values are NaN, in feature 3; rows 9, 28, 57 …"""
    told = f"{_count(bad)} {'is' if _many(bad) == 1 else 'are'} {_kinds(bad)}"
    features, samples, shape = (bad.get(name, []) for name in ("features", "samples", "shape"))
    if features and shape and len(features) < shape[-1]:
        told += f", in feature {_list(features)}"
    return told + (f"; {noun} {_list(samples)}" if samples else "")


def _many(bad: Told) -> int:
    return int(bad.get("nan", 0)) + int(bad.get("inf", 0))


def _count(bad: Told) -> str:
    return f"{_many(bad):,} of {words.count(int(bad.get('of', 0)), 'value')}"


def _kinds(bad: Told) -> str:
    return " and ".join(word for word, key in (("NaN", "nan"), ("Inf", "inf")) if bad.get(key))


def _list(items: list[Any]) -> str:
    return ", ".join(str(item) for item in items[:5]) + (" …" if len(items) > 5 else "")


def _called(name: str) -> str:
    return CALLED.get(name.partition("/")[0], f"the values of {name}") if name else "the data"


def _variable(name: str) -> str:
    return name.partition("/")[0] or "x"


def _step(site: Site) -> str:
    return words.value(site.bad.get("step")) if site.bad is not None else "?"
