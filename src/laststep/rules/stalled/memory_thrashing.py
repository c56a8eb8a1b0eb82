"""Swapping, or reading the same pages again and again, eats the time."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.progress import fit_place, measured, no, progress
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
    found = stuck(run, "memory-thrashing")
    if found is not None:
        event, look = found
        says = f"somebody waited for memory {float((event.get('pressure') or {}).get('memory') or 0):.0f} % of the time"
        return _finding(run, (since(event, look), Evidence(says, (event,)), used(event, look)))
    full = [sample for sample in run.samples if sample.get("faults") is not None and _is_full(sample)]
    if len(full) < FEWEST:
        return no("memory was not full for long")
    seconds = full[-1]["t"] - full[0]["t"]
    rate = (full[-1]["faults"] - full[0]["faults"]) / seconds
    waits = [float((sample.get("pressure") or {}).get("memory") or 0.0) for sample in full]
    waited = sum(waits) / len(waits)
    told = any((sample.get("pressure") or {}).get("memory") is not None for sample in full)
    if rate < FAULTS or (waited < WAITED if told else rate < MANY_FAULTS):
        return measured(f"{rate:.0f} pages a second had to be read again, somebody waited {waited:.0f} % of the time")
    says = (
        f"for {words.span(seconds)} memory was full; {rate:,.0f} times a second a page had to be read from disk again"
    )
    waiting = f"somebody on this machine waited for memory {waited:.0f} % of the time"
    return _finding(run, (Evidence(says), Evidence(waiting, curve=tuple(waits))))


def _is_full(sample: Sample) -> bool:
    """The limit is reached, or swap is in use."""
    group, machine = sample.get("group") or {}, sample.get("host") or {}
    if group.get("limit") and group.get("used", 0) > FULL * group["limit"]:
        return True
    swapped = machine.get("swap_total", 0) - machine.get("swap_free", 0)
    return bool(swapped > 0.05 * machine.get("total", 1)) or machine.get("available", 1) < 0.03 * machine.get(
        "total", 1
    )


def _finding(run: Run, evidence: tuple[Evidence, ...]) -> Finding:
    group = next((sample["group"] for sample in reversed(run.samples) if sample.get("group")), None) or {}
    if group.get("limit"):
        told = f"memory in use was {words.size(group.get('used', 0))} of {words.size(group['limit'])}"
        evidence = (*evidence, Evidence(told))
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
