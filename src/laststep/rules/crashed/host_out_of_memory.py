"""The kernel killed the process for memory."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.memory import (
    MemoryKill,
    can_tell,
    grew,
    growth_while_training,
    held_by_stages,
    in_use,
    limit_of,
    memory_kill,
    others_with_memory,
    smaller,
    was_killed,
    was_near_the_limit,
)
from laststep.analysis.messages import answer, compiled, find_message
from laststep.analysis.progress import fit_place, progress, saved
from laststep.analysis.signals import quoted, verdict
from laststep.record.events.supervisor import Aftermath, ProcessEnd, Verdict
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_size

BY_RAY = compiled(
    r"(?:ray\.exceptions\.)?OutOfMemoryError: Task was killed|Ray killed this worker|exceeds the memory usage threshold"
)
MIN_GROWTH_SHARE = 0.25  # of the limit, since training began: then it is growth, not the size of one step


@rule(follows=("leaked", "host-memory-growing"))
def host_out_of_memory(run: Run) -> Answer:
    """The kernel killed the process because the machine, or its control group, ran out of memory.

    What happened
        The process and its children used more memory than the machine has or its control group (a container, a
        batch job, a systemd unit) allows. The kernel then sends SIGKILL: no message, no traceback, exit status
        137.

    How laststep knows
        The kernel counts its kills, for each control group and for the machine; the counters are read before
        the start and after the end. Its log, where it can be read, names the process that it killed. Memory use
        is sampled during the run. SIGKILL alone is not taken as evidence.

    What to do
        Check the curve. A steady climb means that something keeps growing (a list of results, a model rebuilt
        in a loop, a cache that fills): stop the growth. One jump is one large object: an array loaded at once,
        a shuffle buffer, a batch. Make it smaller, or give the job more memory.

    Not to be confused with
        killed-by-signal (SIGKILL was sent for another reason than memory), gpu-out-of-memory (an error from the
        GPU's allocator, not a kill), host-allocation-failed (an error, not a kill).
    """
    ruling = verdict(run, "memory")
    if ruling is not None:
        return _by_verdict(run, ruling)
    ray = find_message(run, *BY_RAY)
    if ray is not None:
        cause = "Ray killed the worker because the machine ran out of memory."
        fewer = Remedy("Run fewer tasks at once, or give each more memory: num_cpus, memory=")
        return answer(run, ray, "", cause, (fewer,))
    if run.is_log:
        return no("no line of the log says that memory ran out")
    kill = memory_kill(run)
    if kill is None and was_killed(run) and not can_tell(run):
        return cannot("neither the kernel's kill counters nor its log could be read here")
    if kill is None:
        return measured(_memory_was_enough(run)) if run.samples else no("nothing recorded says that memory ran out")
    if kill.sure:
        return _finding(run, kill, Confidence.CERTAIN)
    return _finding(run, kill, Confidence.LIKELY if was_near_the_limit(run) else Confidence.POSSIBLE)


def _by_verdict(run: Run, ruling: Verdict) -> Finding:
    """A batch system, a container engine or the kernel reports it in the log."""
    return Finding(
        cause=f"The process was killed because memory ran out, as {ruling.by} reports.",
        confidence=Confidence.CERTAIN,
        evidence=(quoted(ruling), progress(run)),
        remedies=(
            Remedy("Hold less in memory at once: read the data in chunks, use smaller buffers and batches"),
            Remedy(
                "Or request more memory; record the run to see its growth and the limit", "laststep run python train.py"
            ),
        ),
    )


def _memory_was_enough(run: Run) -> str:
    peak, limit, total = max(map(in_use, run.samples)), limit_of(run), run.samples[-1].host.total
    out_of = f" of the limit of {format_size(limit)}" if limit else f" of {format_size(total)}" if total else ""
    counters = ", and the kernel's kill counters did not change" if run.has(Aftermath) and was_killed(run) else ""
    return f"memory in use peaked at {format_size(peak)}{out_of}{counters}"


def _finding(run: Run, kill: MemoryKill, confidence: Confidence) -> Finding:
    limit = limit_of(run, kill.group)
    why = f"its control group reached its limit of {format_size(limit)}" if limit else "the machine ran out of memory"
    likely = "" if confidence is Confidence.CERTAIN else "Most likely "
    growth = growth_while_training(run)
    grows = growth is not None and growth.last - growth.first > MIN_GROWTH_SHARE * (limit or growth.last)
    return Finding(
        cause=f"{likely}{'t' if likely else 'T'}he kernel killed the process because {why}.",
        confidence=confidence,
        evidence=(
            *_evidence(run, kill),
            *grew(growth if grows else None),
            *held_by_stages(run, limit),
            progress(run),
            *saved(run),
        ),
        remedies=smaller(run, limit, grows),
        where=fit_place(run),
    )


def _evidence(run: Run, kill: MemoryKill) -> list[Evidence]:
    found = []
    after = run.last(Aftermath)
    if kill.victim is not None:
        found.append(Evidence(f"the kernel's log: “{kill.victim.line.split(', UID')[0]}”", (kill.victim,)))
    if kill.group is not None and after is not None:
        before, now = kill.group_kills_before, kill.group.kills
        found.append(Evidence(f"the kill counter of {kill.group.group} went from {before} to {now}", (after,)))
    if not kill.sure and kill.machine_kills and after is not None:
        kills = f"{kill.machine_kills} process{'' if kill.machine_kills == 1 else 'es'}"
        found.append(Evidence(f"the kernel killed {kills} for memory on this machine during the run", (after,)))
    if not run.has(ProcessEnd):
        found.append(Evidence("the record ends early: the supervisor was killed at the same moment"))
    curve = tuple(in_use(sample) for sample in run.samples)
    if curve:
        both = f"memory in use: {format_size(curve[0])} at the start, {format_size(curve[-1])} in the last sample"
        found.append(Evidence(both, curve=curve))
    others = others_with_memory(run) if limit_of(run, kill.group) is None else ""
    if others:
        found.append(Evidence(f"other processes on this machine after the end: {others}", (after,) if after else ()))
    return found or [Evidence("the process was killed, and memory was close to its limit")]
