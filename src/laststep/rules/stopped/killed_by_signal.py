"""A signal killed the process, and memory was not the reason."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.memory import memory_kill
from laststep.analysis.messages import survived_errors
from laststep.analysis.progress import progress
from laststep.analysis.signals import (
    killed_with,
    quoted,
    reported,
    sender,
    sent_by_program,
    stopped_by_laststep,
    verdict,
)
from laststep.record.events.process import RecorderStart, SignalSent
from laststep.record.events.supervisor import ProcessEnd, Verdict
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

MEANINGS = {
    "SIGHUP": "the terminal or the ssh connection closed",
    "SIGXCPU": "the CPU time limit was reached (ulimit -t)",
    "SIGXFSZ": "the file size limit was reached (ulimit -f)",
    "SIGPIPE": "the reader of its output closed the pipe",
    "SIGQUIT": "Ctrl-\\ was pressed, or a process sent SIGQUIT",
    "SIGUSR1": "a batch system's warning that the program does not handle",
    "SIGUSR2": "a batch system's warning that the program does not handle",
}
HAVE_A_RULE = ("SIGTERM", "SIGINT", "SIGSEGV", "SIGABRT", "SIGILL", "SIGBUS")


@rule(tier=Tier.ECHO, follows=("stopped", "crashed", "stalled"))
def killed_by_signal(run: Run) -> Answer:
    """A signal killed the process, and nothing measured points to memory.

    What happened
        A fatal signal was sent: by a person, a batch system, a container stop after its grace period, a user-space OOM
        killer (earlyoom, systemd-oomd), a terminal that closed.

    How laststep knows
        The operating system reports the signal. For SIGKILL the kernel's OOM-kill counters and its log were read before
        and after, and they rule memory out. The sender is known when laststep forwarded the signal or when the program
        sent it to itself; the kernel does not report the sender of SIGKILL. The log of a notebook server only shows
        that the kernel died: it writes "restarting kernel" when the kernel is gone without having been asked to stop.

    What to do
        Find out what may kill processes on this machine: the scheduler's log, `docker events`,
        `journalctl -u systemd-oomd`, a colleague. For SIGHUP start the run in tmux or with nohup.

    Not to be confused with
        host-out-of-memory ("137 means out of memory" is folklore: it means SIGKILL), terminated (SIGTERM),
        interrupted (Ctrl-C).
    """
    if stopped_by_laststep(run):
        return no("laststep stopped it because it was stuck, as requested")
    died = verdict(run, "kernel-died")
    if died is not None and run.signal is None and run.uncaught is None:
        return _kernel_died(run, died)
    name = run.signal or ("SIGKILL" if killed_with(run, 9, "SIGKILL") else None)
    if name is None and not run.vanished:
        return no("no signal ended the process")
    if name in HAVE_A_RULE:
        return no(f"{name} has its own rule")
    kill = memory_kill(run)
    if kill is not None and kill.sure:
        return measured("the kernel killed the process to free memory")
    return _vanished(run) if name is None else _finding(run, name)


def _finding(run: Run, name: str) -> Finding:
    evidence = [reported(run, name)]
    by_whom = sender(run, name)
    if by_whom:
        evidence.append(by_whom)
    elif name == "SIGKILL":
        not_own = ", and the program did not send it itself" if run.has(RecorderStart) else ""
        evidence.append(Evidence(f"the kernel does not report who sent SIGKILL{not_own}"))
    evidence += [*survived_errors(run), progress(run)]
    own = sent_by_program(run, name)
    meaning = MEANINGS.get(name, "its sender is not known")
    return Finding(
        cause=f"{name} ended the process: {by_whom.says if by_whom else meaning}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=_remedies(name, own is not None),
        where=own.where if own else None,
    )


def _kernel_died(run: Run, died: Verdict) -> Finding:
    """A notebook server restarts a kernel that is gone; its log does not say why the kernel died."""
    times = sum(event.why == "kernel-died" for event in run.all(Verdict))
    more = [Evidence(f"the log has {times} such lines")] if times > 1 else []
    return Finding(
        cause="The notebook's kernel died; its server does not report why.",
        confidence=Confidence.LIKELY,
        evidence=(quoted(died), *more, progress(run)),
        remedies=(
            Remedy("Record it with laststep, in the notebook's first cell", "import laststep; laststep.start()"),
            Remedy(
                "Check whether the machine ran out of memory at that time",
                "dmesg -T | grep -i -e oom -e killed",
                safe=True,
            ),
        ),
    )


def _vanished(run: Run) -> Finding:
    """The exit status is not known: only a signal leaves no trace, and which one is not known either."""
    own = run.last(SignalSent)
    evidence = [Evidence("no normal end, no exception and no call to exit was recorded", tuple(run.all(ProcessEnd)))]
    if own is not None:
        evidence.append(Evidence(f"the program sent {own.signal} to itself with {own.how}", (own,)))
    elif run.has(ProcessEnd):
        evidence.append(Evidence("laststep did not start it, so its exit status went to its own parent process"))
    else:
        evidence.append(Evidence("the supervisor was gone too, so its exit status is not known"))
    evidence += [*survived_errors(run), progress(run)]
    return Finding(
        cause="The process disappeared, as after a signal (most likely SIGKILL).",
        confidence=Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=_remedies("SIGKILL", own is not None),
        where=own.where if own else None,
    )


def _remedies(name: str, by_itself: bool) -> tuple[Remedy, ...]:
    if by_itself:
        return (Remedy("Check the line above: it sends the signal"),)
    if name == "SIGHUP":
        return (Remedy("Start it so that it survives the terminal", "tmux new -s train laststep run …", safe=True),)
    if name == "SIGXCPU":
        return (Remedy("Raise the limit on CPU time before the start", "ulimit -t unlimited", safe=True),)
    return (Remedy("Check the logs of what may kill processes here: scheduler, container engine, OOM daemons"),)
