"""Other processes use the cores."""

from __future__ import annotations

from laststep.analysis.cores import MIN_INTERVALS, Overload, intervals_of, overload_of
from laststep.analysis.finding import TOO_SHORT, Confidence, Evidence, Finding, Remedy, cannot, measured
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stall import since, stuck, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_duration

MIN_SLOWDOWN = 1.3
MIN_MEASURED_SECONDS = 15.0  # its waits are read every five seconds
MAX_QUIET_SHARE = 0.3  # of the cores in use by others: below that the machine is called free
MIN_OTHER_CORES = 0.2  # in use by processes that are not named


@rule(sees=("inside",), ends=False)
def machine_overloaded(run: Run) -> Answer:
    """Other processes use the cores, and training gets only a part of the CPU time that it needs.

    What happened
        More work is ready to run on this machine (or on the cores that training may use) than there are cores: other
        jobs, other users, other containers. The kernel lets them take turns. Nothing is wrong with the program: each
        step takes longer in proportion.

    How laststep knows
        The kernel counts how long the program's threads ran, and how long they were ready to run and had no core. It
        also counts the load of each core; what is not the program, its children or laststep is other processes. Those
        that used most are named where they are visible, which they are not from inside a container.

    What to do
        Run fewer jobs at a time on these cores, lower the priority of the others (nice, or a CPU quota for their
        container), or move to cores that are free. More threads (OMP_NUM_THREADS, tf.config.threading) do not help:
        they share the same cores.

    Not to be confused with
        threads-oversubscribed (the program's own threads are too many), a program whose own workers use all cores,
        memory-thrashing (the time is spent on disk reads), input-starved (the pipeline is slow on a free machine
        too).
    """
    found, stall = overload_of(run), stuck(run, "machine-overloaded")
    if found is None:
        return _not_overloaded(run)
    span = format_duration(found.seconds)
    evidence = [
        Evidence(
            f"for {span} its threads got {found.share:.0%} of the CPU time that they could have used",
            curve=tuple(each.ran / (each.ran + each.waited) for each in found.intervals),
        ),
        Evidence(f"meanwhile other processes used {found.others:.1f} of {found.of:g} cores: {_names(found)}"),
    ]
    if found.slowdown is not None and found.slowdown > MIN_SLOWDOWN:
        evidence.append(Evidence(f"a step took {found.slowdown:.1f} times as long as in the rest of the run"))
    if stall is not None:
        evidence = [since(stall), *evidence, used(stall)]
    return Finding(
        cause=f"Other processes use the cores: training gets {found.share:.0%} of the CPU time that it needs.",
        confidence=Confidence.LIKELY,
        evidence=(*evidence, progress(run)),
        remedies=(
            Remedy("Run fewer jobs at a time on these cores, or train on cores that are free", safe=True),
            Remedy("Or lower the priority of the other processes", _renice(found), safe=True),
            Remedy("More threads do not help (OMP_NUM_THREADS, tf.config.threading): they share the same cores"),
        ),
        where=fit_place(run),
    )


def _names(found: Overload) -> str:
    if not found.top:
        return "which ones is not visible from here (a container, another user, or the host of a virtual machine)"
    named = ", ".join(f"{name} (pid {pid}, {cores:.1f})" for name, pid, cores in found.top)
    rest = found.others - sum(cores for _, _, cores in found.top)
    return named + (f" and more ({rest:.1f})" if rest > MIN_OTHER_CORES else "")


def _renice(found: Overload) -> str | None:
    pids = " ".join(str(pid) for _, pid, _ in found.top if pid > 0)
    return f"renice -n 10 -p {pids}" if pids else None


def _not_overloaded(run: Run) -> Answer:
    every = intervals_of(run)
    if not every:
        if run.seconds < MIN_MEASURED_SECONDS:
            return cannot(f"{TOO_SHORT} who uses the cores")
        return cannot("how long the program waited for a core is not known")
    seconds = format_duration(sum(each.seconds for each in every))
    if len(every) < MIN_INTERVALS:
        return cannot(f"too short to tell who uses the cores: {seconds} were measured")
    most = max(each.others / each.of for each in every)
    if most < MAX_QUIET_SHARE:
        return measured(f"other processes used at most {most:.0%} of its cores")
    busy = sum(each.seconds for each in every if each.is_overloaded)
    return measured(
        f"it lacked CPU time for {format_duration(busy)} of {format_duration(sum(each.seconds for each in every))}"
    )
