"""Killed, and not for memory."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.memory import memory_kill
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
from laststep.rules.rule import Answer, rule

MEANINGS = {
    "SIGHUP": "the terminal or the ssh connection closed",
    "SIGXCPU": "a limit on processor time was reached (ulimit -t)",
    "SIGXFSZ": "a limit on file size was reached (ulimit -f)",
    "SIGPIPE": "whoever read its output went away",
    "SIGQUIT": "somebody pressed Ctrl-\\ or sent SIGQUIT",
    "SIGUSR1": "a batch system's warning that the program does not handle",
    "SIGUSR2": "a batch system's warning that the program does not handle",
}
HAVE_A_RULE = ("SIGTERM", "SIGINT", "SIGSEGV", "SIGABRT", "SIGILL", "SIGBUS")


@rule()
def killed_by_signal(run: Run) -> Answer:
    """A signal ended the process, and nothing measured says that memory was the reason.

    What happened
        Somebody or something sent a signal that ends a process: a person, a batch system, a container's
        stop after its grace period, a user-space memory killer (earlyoom, systemd-oomd), a terminal that
        closed.

    How laststep knows
        The operating system reports the signal. For SIGKILL the kernel's kill counters and its log were read
        before and after, and they say that memory was not it. The sender is known when the signal came through
        laststep or when the program sent it to itself; the kernel does not tell the sender of SIGKILL. Of a notebook's
        log only that the kernel died is known: "restarting kernel" is written when it is gone without being asked.

    What to do
        Ask who may kill on this machine: the scheduler's log, `docker events`, `journalctl -u systemd-oomd`,
        a colleague. For SIGHUP start the run in tmux or with nohup.

    Not to be confused with
        host-out-of-memory ("137 means out of memory" is folklore: it means SIGKILL), terminated (SIGTERM),
        interrupted (Ctrl-C).
    """
    if stopped_by_laststep(run):
        return no("laststep itself stopped it, as asked, because it was stuck")
    died = verdict(run, "kernel-died")
    if died is not None and run.signal is None and run.uncaught is None:
        return _kernel_died(run, died)
    name = run.signal or ("SIGKILL" if killed_with(run, 9, "SIGKILL") else None)
    if name is None and not run.vanished:
        return no("no signal ended the process")
    if name in HAVE_A_RULE:
        return no(f"{name} has a rule of its own")
    kill = memory_kill(run)
    if kill is not None and kill.sure:
        return measured("the kernel itself killed the process, for memory")
    if name is None:
        return _vanished(run)
    evidence = [reported(run, name)]
    by_whom = sender(run, name)
    if by_whom:
        evidence.append(by_whom)
    elif name == "SIGKILL":
        seen = ", and the program did not send it itself" if run.has(RecorderStart) else ""
        evidence.append(Evidence(f"the kernel does not tell who sends SIGKILL{seen}"))
    evidence.append(progress(run))
    own = sent_by_program(run, name)
    meaning = MEANINGS.get(name, "somebody sent it")
    return Finding(
        cause=f"{name} ended the process: {by_whom.says if by_whom else meaning}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=_remedies(name, own is not None),
        where=own.where if own else None,
    )


def _kernel_died(run: Run, died: Verdict) -> Finding:
    """A notebook's server restarts a kernel that is gone, and does not say, or know, of what it died."""
    times = sum(event.why == "kernel-died" for event in run.all(Verdict))
    more = [Evidence(f"the log has {times} such lines")] if times > 1 else []
    return Finding(
        cause="The notebook's kernel died; its server does not say of what.",
        confidence=Confidence.LIKELY,
        evidence=(quoted(died), *more, progress(run)),
        remedies=(
            Remedy(
                "Let laststep see it die: record it, in the notebook's first cell", "import laststep; laststep.start()"
            ),
            Remedy("See whether the machine's memory ran out then", "dmesg -T | grep -i -e oom -e killed", safe=True),
        ),
    )


def _vanished(run: Run) -> Finding:
    """Nobody could tell us the exit status: a signal is what leaves no trace, and which one is not known."""
    own = run.last(SignalSent)
    evidence = [Evidence("it ended without a normal end, an exception or a call to exit", tuple(run.all(ProcessEnd)))]
    if own is not None:
        evidence.append(Evidence(f"the program sent {own.signal} to itself, by {own.how}", (own,)))
    elif run.has(ProcessEnd):
        evidence.append(Evidence("laststep did not start it, so the system tells its exit status to its own parent"))
    else:
        evidence.append(Evidence("the supervisor was gone too, so nobody saw its exit status"))
    evidence.append(progress(run))
    return Finding(
        cause="The process was gone at once, as only a signal does it (SIGKILL most likely).",
        confidence=Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=_remedies("SIGKILL", own is not None),
        where=own.where if own else None,
    )


def _remedies(name: str, by_itself: bool) -> tuple[Remedy, ...]:
    if by_itself:
        return (Remedy("The line above sends the signal: that is the place to look"),)
    if name == "SIGHUP":
        return (Remedy("Start it so that it outlives the terminal", "tmux new -s train laststep run …", safe=True),)
    return (Remedy("Look into the log of whatever may kill here: scheduler, container engine, oom daemons"),)
