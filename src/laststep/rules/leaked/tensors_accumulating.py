"""Something keeps tensors or arrays."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.card_leak import CardLeak, card_leak
from laststep.analysis.device_memory import Shortage, shortage
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.leaks import (
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
from laststep.analysis.progress import fit_place, saved
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

CALLED = {"EagerTensor": "tensors", "ndarray": "arrays"}


ON_A_CARD = ("gpu-out-of-memory", "gpu-memory-fragmented", "gpu-memory-growing")


@rule(needs=("recorder",), outranks=(*DEATHS, *ON_A_CARD, "host-memory-growing", "input-starved"))
def tensors_accumulating(run: Run) -> Answer:
    """The program keeps tensors or arrays that it no longer needs: there are more of them with every step.

    What happened
        A list of losses, a dict of predictions, an attribute of a callback or a closure gets a tensor or an array in
        each step or epoch and never lets go of one. A tensor from an eager loop may keep far more alive than it
        shows: what its gradient needed.

    How laststep knows
        Memory rose steadily after the first epoch, or long enough where there are none. A census then looked into the
        program's own names, several times: the container that is named grew by about as much as memory did. On a GPU
        the same is read from TensorFlow's allocator, and once more when it has no room left.

    What to do
        Keep numbers, not tensors: `float(loss)`, a running mean, a Keras metric. Write what is large to disk, or keep
        only the last few (`collections.deque(maxlen=…)`).

    Not to be confused with
        graphs-accumulating (models or functions made anew), host-memory-growing (it grows and nobody is found who
        keeps it), a cache or a shuffle buffer that fills and then stays.
    """
    on_card, lack = card_leak(run), shortage(run)
    if on_card is not None and lack is not None:
        return _on_card(run, on_card, lack)
    leak = leak_of(run)
    if leak is None or not keeps(leak):
        return quiet(run, leak, "no tensors or arrays pile up")
    owner = leak.owner
    if owner is not None and owner.holds in TENSORS:
        return _finding(run, leak, owner)
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


def _on_card(run: Run, leak: CardLeak, lack: Shortage) -> Finding:
    owner = leak.owner
    return Finding(
        cause=f"{owner.name} keeps tensors on the GPU, more with every step: {owner.length:,} of them filled it.",
        confidence=Confidence.LIKELY,
        evidence=(*leak.evidence, lack.message.evidence, *lack.figures(), *saved(run)),
        remedies=_remedies(owner, "tensors"),
        where=owner.where or fit_place(run),
    )


def _remedies(owner: Owner, what: str) -> tuple[Remedy, ...]:
    keep = "Keep what you need of each as a number" if what == "tensors" else "Keep a summary of each, not all of it"
    change = "….append(float(loss))" if what == "tensors" else None
    return (
        Remedy(keep, change, owner.where, safe=True),
        Remedy(f"Or write them to disk, or keep only the last few of {owner.name}: collections.deque(maxlen=10)"),
    )
