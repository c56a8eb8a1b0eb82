"""Time is spent on swapping, or on reading the same pages again and again."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stall import since, stuck, used
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count, format_duration, format_size

MIN_SAMPLES = 4  # about five seconds apart, in which memory was full
MIN_FAULTS_PER_SECOND = 20.0  # major ones: each may read many pages
MIN_FAULTS_WITHOUT_PRESSURE = 300.0  # per second, where the kernel does not measure pressure
MIN_PRESSURE_PERCENT = 10.0  # of the time in which tasks waited for memory
MIN_USED_SHARE = 0.9  # of the limit
MIN_SWAPPED_SHARE = 0.05  # of the machine's memory
MAX_AVAILABLE_SHARE = 0.03  # of the machine's memory


@rule(tier=Tier.ROOT, sees=("inside",))
def memory_thrashing(run: Run) -> Answer:
    """Memory is smaller than the program's working set, and the time is spent on reading pages from disk.

    What happened
        The memory limit (or the machine's memory) is reached. What does not fit is swapped out, or pages of a
        memory-mapped file are dropped and read again, over and over. The program still runs, many times slower.

    How laststep knows
        The kernel counts major page faults (pages that had to be read from disk) and the share of the time in which
        tasks waited for memory. Memory use was at the limit the whole time.

    What to do
        Give it more memory, or reduce the working set: a smaller batch, shuffle buffer or cache. Read a memory-mapped
        array in order instead of at random.

    Not to be confused with
        host-out-of-memory (the kernel killed it), disk-stalled (the disk itself does not respond).
    """
    view = stuck(run, "memory-thrashing")
    if view is not None:
        says = f"tasks waited for memory {view.snapshot.pressure.memory or 0.0:.0f}% of the time"
        return _finding(run, (since(view), Evidence(says, (view.snapshot,)), used(view)))
    full = [(sample, sample.faults) for sample in run.samples if sample.faults is not None and _is_full(sample)]
    seconds = full[-1][0].time - full[0][0].time if full else 0.0
    if len(full) < MIN_SAMPLES or not seconds > 0:
        return _never_full(run, len(full))
    rate = (full[-1][1] - full[0][1]) / seconds
    waits = [sample.pressure.memory or 0.0 for sample, _ in full]
    waited = sum(waits) / len(waits)
    is_measured = any(sample.pressure.memory is not None for sample, _ in full)
    few = waited < MIN_PRESSURE_PERCENT if is_measured else rate < MIN_FAULTS_WITHOUT_PRESSURE
    if rate < MIN_FAULTS_PER_SECOND or few:
        return measured(f"{rate:.0f} major page faults per second; tasks waited for memory {waited:.0f}% of the time")
    says = f"memory was full for {format_duration(seconds)}, with {rate:,.0f} major page faults per second"
    waiting = f"tasks on this machine waited for memory {waited:.0f}% of the time"
    return _finding(run, (Evidence(says), Evidence(waiting, curve=tuple(waits))))


def _never_full(run: Run, full: int) -> Answer:
    if len(run.samples) < 2 * MIN_SAMPLES:
        return cannot(f"too short to tell whether memory is full: {format_count(len(run.samples), 'sample')}")
    return no(f"memory was full in {full} of {format_count(len(run.samples), 'sample')}")


def _is_full(sample: Sample) -> bool:
    """The limit is reached, or swap is in use."""
    group, machine = sample.group, sample.host
    if group is not None and group.limit and group.used > MIN_USED_SHARE * group.limit:
        return True
    swapped = machine.swap_total - machine.swap_free > MIN_SWAPPED_SHARE * machine.total
    return swapped or (machine.available is not None and machine.available < MAX_AVAILABLE_SHARE * machine.total)


def _finding(run: Run, evidence: tuple[Evidence, ...]) -> Finding:
    group = next((sample.group for sample in reversed(run.samples) if sample.group), None)
    if group is not None and group.limit:
        in_use = f"memory in use was {format_size(group.used)} of {format_size(group.limit)}"
        evidence = (*evidence, Evidence(in_use))
    return Finding(
        cause="Memory is full, and the time is spent on reading the same pages from disk again and again.",
        confidence=Confidence.LIKELY,
        evidence=(*evidence, progress(run)),
        remedies=(
            Remedy("Give the program more memory"),
            Remedy("Or reduce its working set: a smaller batch, shuffle buffer or cache, or rows read in order"),
        ),
        where=fit_place(run),
    )
