"""Memory grows, and not as tensors or graphs."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.leaks import (
    DEATHS,
    Leak,
    Owner,
    how_it_grew,
    how_long,
    is_graphs,
    is_tensors,
    keeps,
    leak_of,
    not_garbage,
    quiet,
)
from laststep.analysis.progress import fit_place, saved
from laststep.record.events.training import TracedLine
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=("recorder",), outranks=(*DEATHS, "input-starved"))
def host_memory_growing(run: Run) -> Answer:
    """The process's memory grows steadily while it trains, and it is neither tensors nor graphs that pile up.

    What happened
        Something takes a little more memory in each step or epoch and never gives it back: Python objects in a
        container, or memory below Python (a library, a data pipeline's worker, fragments).

    How laststep knows
        The lows of the process's memory rose steadily, after caches and buffers had been filled (several epochs
        ended, or ten minutes went by where there are none), and collecting garbage did not give it back. A census
        of the program's own names found no container of tensors that explains it.

    What to do
        If a container is named, let it keep less. If none is: train for a while with less in the loop (without
        callbacks, without the augmentation) and see which part makes the curve flat.

    Not to be confused with
        tensors-accumulating and graphs-accumulating (then it is known what piles up), memory that rises in the first
        epoch and stays (a cache, a shuffle buffer), memory that rises and falls (garbage).
    """
    leak = leak_of(run)
    if leak is None or not keeps(leak) or is_tensors(leak) or is_graphs(leak):
        return quiet(run, leak, "memory does not grow without a known owner")
    return _finding(run, leak, leak.owner)


def _finding(run: Run, leak: Leak, owner: Owner | None) -> Finding:
    line = _line(leak)
    slope = f"{words.size(leak.trend.slope * 60)} a minute"
    cause = f"Memory grows by {slope} while it trains; what keeps it was not found under the program's own names."
    if owner is not None:
        cause = f"{owner.name} keeps all that it is given ({owner.holds}), {owner.length:,} by now: there memory goes."
    return Finding(
        cause=cause,
        confidence=Confidence.LIKELY,
        evidence=(
            how_it_grew(leak),
            *(_kept(owner) or _grown(line)),
            *not_garbage(leak),
            *how_long(run, leak),
            *saved(run),
        ),
        remedies=_remedies(owner),
        where=(owner.where if owner else line.place if line else None) or fit_place(run),
    )


def _line(leak: Leak) -> TracedLine | None:
    """The line of the user's own that allocated most of what is alive, where Python was asked to note that."""
    lines = leak.censuses[-1].lines if leak.censuses else ()
    return lines[0] if lines else None


def _grown(line: TracedLine | None) -> list[Evidence]:
    """No container: what tracemalloc knows."""
    if line is None:
        return []
    return [Evidence(f"{words.size(line.bytes)} of what is alive was allocated at {words.place(line.place)}")]


def _kept(owner: Owner | None) -> list[Evidence]:
    if owner is None:
        return []
    told = f"{owner.name} ({owner.kind}) got {owner.added:,} more, {words.size(owner.grew / owner.added)} each, "
    share = f"{min(100, round(100 * owner.share))} % of what memory grew by"
    return [Evidence(f"{told}between two looks at it: {share}", owner.events)]


def _remedies(owner: Owner | None) -> tuple[Remedy, ...]:
    if owner is not None:
        return (Remedy(f"Let {owner.name} keep less: a summary, the last few, or a file", None, owner.where),)
    return (
        Remedy("Take parts out (callbacks, augmentation, workers) until the curve is flat: the last one is it"),
        Remedy("Let Python say which lines allocate", "PYTHONTRACEMALLOC=8 laststep run python train.py", safe=True),
    )
