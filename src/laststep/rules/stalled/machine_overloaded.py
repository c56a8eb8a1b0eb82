"""Others use the cores."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.cores import Overload, overload_of, stretches_of
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stall import since, stuck, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SLOWER = 1.3  # times


@rule(needs=("recorder",), outranks=("time-limit-reached", "input-starved", "threads-oversubscribed"))
def machine_overloaded(run: Run) -> Answer:
    """Other processes use the cores, and the training gets only a part of the processor time that it needs.

    What happened
        More work is ready to run on this machine (or on the cores that the training may use) than it has cores:
        other jobs, other users, other containers. The kernel lets all of them run in turns. Nothing is wrong with the
        program: each step takes as many times longer as it has to share.

    How laststep knows
        The kernel counts how long the program's threads ran, and how long they were ready to run and had no core. It
        also counts the work of each core; what remains after taking off the program, its children and laststep is
        the others' work. The processes that used most are named where they can be seen: not from inside a container.

    What to do
        Run fewer jobs at a time on these cores, lower the others' priority (nice, or a CPU quota of their container),
        or move to cores that are free. More threads (OMP_NUM_THREADS, tf.config.threading) do not help: they share the
        same cores.

    Not to be confused with
        threads-oversubscribed (the program's own threads are too many), a program whose own workers use all cores,
        memory-thrashing (the time goes into the disk), input-starved (the pipeline is slow on a free machine too).
    """
    found, stall = overload_of(run), stuck(run, "machine-overloaded")
    if found is None:
        return _quiet(run)
    evidence = [
        Evidence(
            f"for {words.span(found.seconds)} its threads got {found.share:.0%} of the processor time that they wanted",
            curve=tuple(each.ran / (each.ran + each.waited) for each in found.stretches),
        ),
        Evidence(f"other processes used {found.others:.1f} of {found.of:g} cores meanwhile: {_who(found)}"),
    ]
    if found.slower is not None and found.slower > SLOWER:
        evidence.append(Evidence(f"a step took {found.slower:.1f} times as long as in the rest of the run"))
    if stall is not None:
        evidence = [since(stall), *evidence, used(stall)]
    return Finding(
        cause=f"Others use the cores: the training gets {found.share:.0%} of the processor time that it needs.",
        confidence=Confidence.LIKELY,
        evidence=(*evidence, progress(run)),
        remedies=(
            Remedy("Run fewer jobs at a time on these cores, or train where they are free", safe=True),
            Remedy("Or lower the priority of the others", _renice(found), safe=True),
            Remedy("More threads do not help (OMP_NUM_THREADS, tf.config.threading): they share the same cores"),
        ),
        where=fit_place(run),
    )


def _who(found: Overload) -> str:
    if not found.top:
        return "which processes can't be seen from here (a container, another user, or the host of a virtual machine)"
    told = ", ".join(f"{name} (pid {pid}, {cores:.1f})" for name, pid, cores in found.top)
    rest = found.others - sum(cores for _, _, cores in found.top)
    return told + (f" and more ({rest:.1f})" if rest > 0.2 else "")


def _renice(found: Overload) -> str | None:
    pids = " ".join(str(pid) for _, pid, _ in found.top if pid > 0)
    return f"renice -n 10 -p {pids}" if pids else None


def _quiet(run: Run) -> Answer:
    every = stretches_of(run)
    if not every:
        return no("how long it waited for a core is not known")
    most = max(each.others / each.of for each in every)
    return measured(f"others used at most {most:.0%} of its cores") if most < 0.3 else no("it got the cores it wanted")
