"""A time limit ended it."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.signals import killed_with, quoted, received_signal, reported, verdict
from laststep.record.events.supervisor import Limits, ProcessEnd
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

TIMED_OUT = 124  # the exit code of coreutils' timeout
SLURMS_OWN = ("", "slurmstepd", "slurmd", "srun")  # processes that send it; "": gone already
NEAR_THE_END = 300.0  # seconds before a batch system's limit in which its SIGTERM is one


@rule(
    outranks=(
        "terminated",
        "killed-by-signal",
        "interrupted",
        "script-exited",
        "unhandled-exception",
        "host-out-of-memory",
        "finished-short",
        "callback-stopped-training",
        "callback-raised",
        "callback-swallowed",
    )
)
def time_limit_reached(run: Run) -> Answer:
    """The time that the batch system, a wrapper or a limit gave the program was over.

    What happened
        The program ran until its time was up: the wall time of SLURM, LSF, PBS or SGE, a Kubernetes deadline,
        `timeout`, or a limit on processor time (ulimit -t). It was ended by a signal, as a matter of course.

    How laststep knows
        The batch system says so in the log; or SIGTERM came from a process called timeout, or shortly before the
        end that SLURM had set for the job; or the kernel sent SIGXCPU.

    What to do
        Ask for more time, or let the next job go on where this one ended: keras.callbacks.BackupAndRestore. Most
        batch systems can send a signal some minutes before (sbatch --signal=TERM@300).

    Not to be confused with
        terminated (somebody else's SIGTERM), host-out-of-memory (a memory limit, which the same systems enforce).
    """
    told = verdict(run, "time-limit")
    if told is not None:
        return _finding(run, f"{told.by} ended it because its time was up", quoted(told))
    if killed_with(run, 24, "SIGXCPU"):
        return _finding(run, "the limit on processor time was used up (ulimit -t)", reported(run, "SIGXCPU"))
    used = _processor_time(run)
    if used is not None:
        return _finding(run, "the hard limit on processor time was used up (ulimit -t)", used, Confidence.LIKELY)
    if run.exit_code == TIMED_OUT and _was_called_timeout(run):
        return _finding(run, "the command timeout ended it", reported(run, f"exit code {TIMED_OUT}, timeout's own"))
    term = received_signal(run, "SIGTERM")
    sent_by = term.sender if term is not None else None
    if term is not None and sent_by is not None and sent_by.name == "timeout":
        who = Evidence(f"process {sent_by.pid}, called timeout, sent SIGTERM", (term,))
        return _finding(run, "the command timeout ended it", who)
    deadline = next((event for event in run.all(Limits) if event.job_ends is not None), None)
    if term is not None and deadline is not None and (sent_by.name if sent_by else "") in SLURMS_OWN:
        left = (deadline.job_ends or 0.0) - term.time
        if left < NEAR_THE_END:
            when = (
                f"SIGTERM came {words.span(abs(left))} {'before' if left > 0 else 'after'} the end that SLURM had set"
            )
            return _finding(
                run, "SLURM's time limit for the job was reached", Evidence(when, (term, deadline)), Confidence.LIKELY
            )
        return no(f"SIGTERM came, with {words.span(left)} of the job's time left")
    return no("no time limit was seen to end it")


def _was_called_timeout(run: Run) -> bool:
    """What was started is, or became, the command timeout."""
    end = run.last(ProcessEnd)
    started = run.command[0].rsplit("/", 1)[-1] if run.command else ""
    return "timeout" in (started, end.name if end else None)


def _processor_time(run: Run) -> Evidence | None:
    """Killed when all the processor time that the hard limit allows was used."""
    end = run.last(ProcessEnd)
    if end is None or not run.samples or not killed_with(run, 9, "SIGKILL"):
        return None
    last = run.samples[-1]
    limit, used = last.cpu_limit, last.cpu_seconds
    if limit is None or used is None:
        return None
    at_most = used + max(1.0, last.cpu or 1.0) * (end.time - last.time) + 0.5
    if at_most < limit:
        return None
    return Evidence(
        f"{used:.1f} s of processor time were used in the last sample; the hard limit was {limit:.0f} s", (end,)
    )


def _finding(run: Run, why: str, evidence: Evidence, confidence: Confidence = Confidence.CERTAIN) -> Finding:
    change = 'callbacks=[keras.callbacks.BackupAndRestore("backup")]'
    return Finding(
        cause=f"The time limit was reached: {why}.",
        confidence=confidence,
        evidence=(evidence, progress(run)),
        remedies=(
            Remedy("Let the next run go on where this one ended", change, fit_place(run), safe=True),
            Remedy("Or ask for more time"),
        ),
        where=fit_place(run),
    )
