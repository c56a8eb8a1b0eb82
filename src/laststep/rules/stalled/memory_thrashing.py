"""Swapping, or reading the same pages again and again, eats the time."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stall import DEATHS, since, stuck, used
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.rules.rule import Answer, rule

FEWEST = 4  # samples, five seconds apart, in which memory was full
FAULTS, MANY_FAULTS = 20.0, 300.0  # a second: each may bring many pages; so many alone are enough
WAITED = 10.0  # per cent of the time in which somebody waited for memory
FULL = 0.9  # of the limit


@rule(needs=("recorder",), outranks=(*DEATHS, "input-starved", "disk-stalled", "machine-overloaded"))
def memory_thrashing(run: Run) -> Answer:
    """There is less memory than the program works with, and the time goes into fetching pages from the disk.

    What happened
        The memory limit (or the machine's memory) is full. What does not fit is swapped out, or a memory-mapped file is
        dropped from memory and read again, over and over: the program still runs, many times slower.

    How laststep knows
        The kernel counts the pages that had to be read from disk because they were no longer in memory, and the share
        of the time in which somebody waited for memory; memory in use was at the limit all the while.

    What to do
        Give it more memory, or work on less at a time: a smaller batch, shuffle buffer or cache; read a memory-mapped
        array in its own order instead of at random.

    Not to be confused with
        host-out-of-memory (the kernel killed it), disk-stalled (the disk itself does not answer).
    """
    view = stuck(run, "memory-thrashing")
    if view is not None:
        says = f"somebody waited for memory {view.snapshot.pressure.memory or 0.0:.0f} % of the time"
        return _finding(run, (since(view), Evidence(says, (view.snapshot,)), used(view)))
    full = [(sample, sample.faults) for sample in run.samples if sample.faults is not None and _is_full(sample)]
    seconds = full[-1][0].time - full[0][0].time if full else 0.0
    if len(full) < FEWEST or not seconds > 0:
        return no("memory was not full for long")
    rate = (full[-1][1] - full[0][1]) / seconds
    waits = [sample.pressure.memory or 0.0 for sample, _ in full]
    waited = sum(waits) / len(waits)
    is_measured = any(sample.pressure.memory is not None for sample, _ in full)
    if rate < FAULTS or (waited < WAITED if is_measured else rate < MANY_FAULTS):
        return measured(f"{rate:.0f} pages a second had to be read again, somebody waited {waited:.0f} % of the time")
    says = (
        f"for {words.span(seconds)} memory was full; {rate:,.0f} times a second a page had to be read from disk again"
    )
    waiting = f"somebody on this machine waited for memory {waited:.0f} % of the time"
    return _finding(run, (Evidence(says), Evidence(waiting, curve=tuple(waits))))


def _is_full(sample: Sample) -> bool:
    """The limit is reached, or swap is in use."""
    group, machine = sample.group, sample.host
    if group is not None and group.limit and group.used > FULL * group.limit:
        return True
    swapped = machine.swap_total - machine.swap_free > 0.05 * machine.total
    return swapped or (machine.available is not None and machine.available < 0.03 * machine.total)


def _finding(run: Run, evidence: tuple[Evidence, ...]) -> Finding:
    group = next((sample.group for sample in reversed(run.samples) if sample.group), None)
    if group is not None and group.limit:
        used_of = f"memory in use was {words.size(group.used)} of {words.size(group.limit)}"
        evidence = (*evidence, Evidence(used_of))
    return Finding(
        cause="Memory is full, and the time goes into fetching the same pages from disk again and again.",
        confidence=Confidence.LIKELY,
        evidence=(*evidence, progress(run)),
        remedies=(
            Remedy("Give the program more memory"),
            Remedy(
                "Or let it work on less at a time: a smaller batch, shuffle buffer or cache, rows in their own order"
            ),
        ),
        where=fit_place(run),
    )
