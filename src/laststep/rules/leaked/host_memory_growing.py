"""Memory grows, and it is neither tensors nor graphs."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, RuledOut, measured
from laststep.analysis.leaks import (
    Leak,
    Owner,
    exhaustion_evidence,
    garbage_evidence,
    growth_evidence,
    leak_of,
)
from laststep.analysis.no_leak import no_leak
from laststep.analysis.progress import fit_place, saved
from laststep.record.events.training import TracedLine
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_count, format_place, format_size


@rule(sees=("inside",), follows=("tensors-accumulating", "graphs-accumulating"))
def host_memory_growing(run: Run) -> Answer:
    """The process's memory grows steadily during training, and neither tensors nor graphs account for it.

    What happened
        Something allocates more memory in each step or epoch and never frees it: Python objects in a container, or
        memory below Python (a library, a worker of the data pipeline, fragmentation).

    How laststep knows
        The minima of the process's memory rose steadily after caches and buffers had been filled (several epochs
        ended, or ten minutes passed where there are none), and a garbage collection did not free it. A census
        measures the containers that the program's variables refer to: none with tensors accounts for the growth.

    What to do
        If a container is named, store less in it. If not, train for a while with less in the loop (without callbacks,
        without augmentation) and find the part without which memory stays flat.

    Not to be confused with
        tensors-accumulating and graphs-accumulating (what accumulates is known), memory that rises in the first epoch
        and stays (a cache, a shuffle buffer), memory that rises and falls (garbage).
    """
    leak = leak_of(run)
    if leak is None or not leak.is_reportable or leak.is_of_tensors or leak.is_of_graphs:
        answer = no_leak(run, leak, "no growth of memory apart from tensors and graphs")
        return measured(answer.because) if leak is None and isinstance(answer, RuledOut) and run.steps else answer
    return _of_container(run, leak, leak.owner) if leak.owner else _of_unknown(run, leak)


def _of_container(run: Run, leak: Leak, owner: Owner) -> Finding:
    held = f"{format_count(owner.length, 'element')} ({owner.holds})"
    return Finding(
        cause=f"{owner.label} holds {held} and keeps growing: it accounts for the leak.",
        confidence=Confidence.LIKELY,
        evidence=(growth_evidence(leak), owner.growth, *_ending(run, leak)),
        remedies=(Remedy(f"Store less in {owner.name}: a summary, the last few, or a file", None, owner.where),),
        where=owner.where or fit_place(run),
    )


def _of_unknown(run: Run, leak: Leak) -> Finding:
    rate, line = format_size(leak.trend.slope * 60), _largest_line(leak)
    return Finding(
        cause=f"Memory grows by {rate} per minute during training; none of the program's containers accounts for it.",
        confidence=Confidence.LIKELY,
        evidence=(growth_evidence(leak), *_allocated(line), *_ending(run, leak)),
        remedies=(
            Remedy("Remove parts (callbacks, augmentation, workers) until memory is flat: the last one is the cause"),
            Remedy(
                "Let tracemalloc find the lines that allocate",
                "PYTHONTRACEMALLOC=8 laststep run python train.py",
                safe=True,
            ),
        ),
        where=(line.place if line else None) or fit_place(run),
    )


def _ending(run: Run, leak: Leak) -> list[Evidence]:
    return [*garbage_evidence(leak), *exhaustion_evidence(run, leak), *saved(run)]


def _largest_line(leak: Leak) -> TracedLine | None:
    """The user's own line that allocated most of the live memory, where the program has switched tracemalloc on."""
    lines = leak.censuses[-1].lines if leak.censuses else ()
    return lines[0] if lines else None


def _allocated(line: TracedLine | None) -> list[Evidence]:
    if line is None:
        return []
    return [Evidence(f"{format_size(line.bytes)} of the live memory was allocated at {format_place(line.place)}")]
