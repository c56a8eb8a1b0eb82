"""Swapping, or reading the same pages again and again, eats the time."""

from __future__ import annotations

import itertools

from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.reports import words
from laststep.rule import Answer, rule
from laststep.rules._shared import fit_place, measured, no, progress
from laststep.rules.stalled._stuck import DEATHS, THRASHING, since, stuck, used
from laststep.run import Run

FAULTS, SECONDS = 300.0, 15.0  # pages a second that had to be read again, and for how long
FULL = 0.9  # of the limit


@rule(needs=("recorder",), outranks=(*DEATHS, "input-starved", "disk-stalled"))
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
    faults = [(sample["t"], sample["faults"]) for sample in run.samples if sample.get("faults") is not None]
    late = faults[len(faults) // 3 :]
    if len(late) < 3:
        return no("too short to tell")
    seconds = late[-1][0] - late[0][0]
    rate = (late[-1][1] - late[0][1]) / seconds if seconds else 0.0
    if rate < FAULTS or seconds < SECONDS or not _is_full(run):
        return measured(f"{rate:.0f} pages a second had to be read again")
    says = f"for {words.span(seconds)} {rate:,.0f} pages a second had to be read from disk again"
    return _finding(run, (Evidence(says, curve=tuple(b[1] - a[1] for a, b in itertools.pairwise(faults))),))


def _is_full(run: Run) -> bool:
    """Most of the time the limit was reached, swap was in use, or somebody waited for memory."""
    signs = [
        (group.get("limit") and group.get("used", 0) > FULL * group["limit"])
        or (machine.get("swap_total", 0) - machine.get("swap_free", 0) > 0.05 * machine.get("total", 1))
        or float((sample.get("pressure") or {}).get("memory") or 0.0) > THRASHING
        for sample in run.samples
        for group, machine in [(sample.get("group") or {}, sample.get("host") or {})]
    ]
    late = signs[len(signs) // 3 :]
    return sum(bool(sign) for sign in late) > 0.5 * len(late)


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
