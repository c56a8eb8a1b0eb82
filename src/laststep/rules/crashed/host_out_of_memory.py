"""Killed for using too much memory."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
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
from laststep.analysis.messages import answer, compiled, said
from laststep.analysis.progress import cannot, fit_place, measured, no, progress, quoted, saved, verdict
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

BY_RAY = compiled(
    r"(?:ray\.exceptions\.)?OutOfMemoryError: Task was killed|Ray killed this worker|exceeds the memory usage threshold"
)
GROWS = 0.25  # of the limit, after training had begun: then it is growth, not the size of one step


@rule(outranks=("killed-by-signal", "terminated", "unhandled-exception", "aborted"))
def host_out_of_memory(run: Run) -> Answer:
    """The kernel (or the container's limit) killed the process because memory ran out.

    What happened
        The process, with its children, used more memory than the machine or its control group (a container,
        a batch job, a systemd unit) may have. The kernel then kills with SIGKILL: no message, no traceback,
        exit status 137.

    How laststep knows
        The kernel counts its kills, for each control group and for the machine: the counters are read before
        the start and after the end. Its log, where it can be read, names the process that it killed. The
        memory in use is sampled all the time. SIGKILL alone is no proof and is not taken for one.

    What to do
        See what the curve does. A steady climb is something that keeps growing (a list of results, a model
        rebuilt in a loop, a cache that is being filled): stop the growth. One big jump is one big thing: an
        array loaded at once, a shuffle buffer, a batch. Use smaller pieces, or give the job more memory.

    Not to be confused with
        killed-by-signal (somebody sent SIGKILL and memory had nothing to do with it), gpu-out-of-memory (an
        error from the device's allocator, not a kill), host-allocation-failed (an error, not a kill).
    """
    told = verdict(run, "memory")
    ray = said(run, *BY_RAY)
    if ray is not None and told is None:
        cause = "Ray killed the worker because the machine's memory ran out."
        return answer(
            run, ray, "", cause, (Remedy("Run fewer tasks at once, or give each more memory: num_cpus, memory="),)
        )
    if told is not None:
        return _by_verdict(run, told)
    if run.is_log:
        return no("nothing in the log says that memory ran out")
    kill = memory_kill(run)
    if kill is None and was_killed(run) and not can_tell(run):
        return cannot("neither the kernel's kill counters nor its log could be read here")
    if kill is None:
        return measured(_all_clear(run)) if run.samples else no("nothing says that memory ran out")
    if kill.sure:
        return _finding(run, kill, Confidence.CERTAIN)
    return _finding(run, kill, Confidence.LIKELY if was_near_the_limit(run) else Confidence.POSSIBLE)


def _by_verdict(run: Run, told: Event) -> Finding:
    """A batch system, a container engine or the kernel itself says so in the log."""
    return Finding(
        cause=f"The process was killed because memory ran out: {told.get('by')} says so.",
        confidence=Confidence.CERTAIN,
        evidence=(
            quoted(told),
            progress(run),
        ),
        remedies=(
            Remedy("Hold less in memory at once: load the data in pieces, smaller buffers, smaller batches"),
            Remedy(
                "Or ask for more memory; recorded, the growth and its limit are shown", "laststep run python train.py"
            ),
        ),
    )


def _all_clear(run: Run) -> str:
    most = max(in_use(sample) for sample in run.samples)
    limit = limit_of(run)
    total = (run.samples[-1].get("host") or {}).get("total")
    room = f" of the limit of {words.size(limit)}" if limit else f" of {words.size(total)}" if total else ""
    counters = ", and the kernel's kill counters did not move" if run.has("aftermath") and was_killed(run) else ""
    return f"memory in use was {words.size(most)} at most,{room.replace(' of', ' out of', 1)}{counters}"


def _finding(run: Run, kill: MemoryKill, confidence: Confidence) -> Finding:
    limit = limit_of(run, kill.group)
    what = f"its control group reached its limit of {words.size(limit)}" if limit else "the machine ran out of memory"
    sure = confidence is Confidence.CERTAIN
    growth = growth_while_training(run)
    grows = growth is not None and growth.last - growth.first > GROWS * (limit or growth.last)
    return Finding(
        cause=f"{'T' if sure else 'Most likely t'}he kernel killed the process because {what}.",
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
    after = run.last("aftermath")
    if kill.victim is not None:
        found.append(Evidence(f"the kernel's log: “{str(kill.victim.get('line')).split(', UID')[0]}”", (kill.victim,)))
    if kill.group is not None and after is not None:
        before, now = kill.group_kills_before, kill.group.kills
        found.append(Evidence(f"the kill counter of {kill.group.group} went from {before} to {now}", (after,)))
    if not kill.sure and kill.machine_kills and after is not None:
        told = f"the kernel killed {kill.machine_kills} for memory on this machine during the run"
        found.append(Evidence(told, (after,)))
    if not run.has("end"):
        found.append(Evidence("the record breaks off: the supervisor was killed in the same moment"))
    curve = tuple(in_use(sample) for sample in run.samples)
    if curve:
        told = f"memory in use: {words.size(curve[0])} at the start, {words.size(curve[-1])} in the last sample"
        found.append(Evidence(told, curve=curve))
    others = others_with_memory(run) if limit_of(run, kill.group) is None else ""
    if others:
        found.append(Evidence(f"others on this machine after the end: {others}", (after,) if after else ()))
    return found or [Evidence("the process ended by SIGKILL and memory was close to its limit")]
