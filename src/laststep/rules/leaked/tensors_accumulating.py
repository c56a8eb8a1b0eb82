"""Something keeps tensors or arrays."""

from __future__ import annotations

from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.reports import words
from laststep.rule import Answer, rule
from laststep.rules._leaks import (
    DEATHS,
    TENSORS,
    Leak,
    Owner,
    how_it_grew,
    how_long,
    keeps,
    leak_of,
    not_garbage,
    quiet,
)
from laststep.rules._shared import fit_place, saved
from laststep.run import Run

CALLED = {"EagerTensor": "tensors", "ndarray": "arrays"}


@rule(needs=("recorder",), outranks=(*DEATHS, "host-memory-growing", "gpu-memory-growing", "input-starved"))
def tensors_accumulating(run: Run) -> Answer:
    """The program keeps tensors or arrays that it no longer needs: there are more of them with every step.

    What happened
        A list of losses, a dict of predictions, an attribute of a callback or a closure gets a tensor or an array in
        each step or epoch and never lets go of one. A tensor from an eager loop may keep far more alive than it
        shows: what its gradient needed.

    How laststep knows
        Memory rose steadily after the first epoch, or long enough where there are none, and stayed when garbage was
        collected. A census then looked into the program's own names, several times: the container that is named
        grew by about as much as memory did.

    What to do
        Keep numbers, not tensors: `float(loss)`, a running mean, a Keras metric. Write what is large to disk, or keep
        only the last few (`collections.deque(maxlen=…)`).

    Not to be confused with
        graphs-accumulating (models or functions made anew), host-memory-growing (it grows and nobody is found who
        keeps it), a cache or a shuffle buffer that fills and then stays.
    """
    leak = leak_of(run)
    if leak is None or not keeps(leak):
        return quiet(run, leak, "no tensors or arrays pile up")
    owner = leak.owner
    if owner is not None and owner.holds in TENSORS:
        return _finding(run, leak, owner)
    if owner is None and leak.counts.get("EagerTensor bytes", 0) > 0.5 * leak.trend.rise:
        return _nameless(run, leak)
    return quiet(run, leak, "what grows is not made of tensors or arrays")


def _finding(run: Run, leak: Leak, owner: Owner) -> Finding:
    what = CALLED.get(owner.holds, "variables" if "Variable" in owner.holds else "arrays")
    each = words.size(owner.grew / owner.added)
    return Finding(
        cause=f"{owner.name} keeps {what}, {owner.length:,} by now and more all the time: there memory goes.",
        confidence=Confidence.LIKELY,
        evidence=(
            how_it_grew(leak),
            Evidence(
                f"{owner.name} ({owner.kind}) got {owner.added:,} more, {each} each, between two looks at it: "
                f"{min(100, round(100 * owner.share))} % of what memory grew by",
                owner.events,
            ),
            *not_garbage(leak),
            *how_long(run, leak),
            *saved(run),
        ),
        remedies=_remedies(owner, what),
        where=owner.where or fit_place(run),
    )


def _remedies(owner: Owner, what: str) -> tuple[Remedy, ...]:
    keep = "Keep what you need of each as a number" if what == "tensors" else "Keep a summary of each, not all of it"
    change = "….append(float(loss))" if what == "tensors" else None
    return (
        Remedy(keep, change, owner.where, safe=True),
        Remedy(f"Or write them to disk, or keep only the last few of {owner.name}: collections.deque(maxlen=10)"),
    )


def _nameless(run: Run, leak: Leak) -> Finding:
    more, size = leak.counts.get("EagerTensor", 0), words.size(leak.counts["EagerTensor bytes"])
    return Finding(
        cause="More and more tensors stay alive; who keeps them was not found under the program's own names.",
        confidence=Confidence.LIKELY,
        evidence=(
            how_it_grew(leak),
            Evidence(f"{more:,} more tensors were alive, {size}", leak.censuses[:1] + leak.censuses[-1:]),
            *not_garbage(leak),
            *how_long(run, leak),
            *saved(run),
        ),
        remedies=(Remedy("Look for what keeps a result of each step: a list, a closure, a generator's local"),),
        where=fit_place(run),
    )
