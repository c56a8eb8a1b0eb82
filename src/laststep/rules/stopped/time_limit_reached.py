"""A time limit ended the program."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.program import backup
from laststep.analysis.progress import fit_place, fits_are_complete, progress
from laststep.analysis.signals import killed_with, quoted, received_signal, reported, verdict
from laststep.record.events.supervisor import Limits, ProcessEnd, SignalReceived
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_duration

TIMEOUT_EXIT_CODE = 124  # of coreutils' timeout
SLURM_PROCESSES = ("", "slurmstepd", "slurmd", "srun")  # "": the sender was gone already
MAX_SECONDS_LEFT = 300.0  # of the job's time when SIGTERM arrives because of the limit
NO_LIMIT = "nothing shows that a time limit ended it"
HANGS = ("input-blocked", "callback-blocked", "python-blocked", "waiting-for-rank")  # of its own tier


@rule(follows=("stalled", "machine-overloaded", *HANGS))
def time_limit_reached(run: Run) -> Answer:
    """A time limit of the batch system, a wrapper or the operating system ended the program.

    What happened
        The program ran until its time was up: the wall time of SLURM, LSF, PBS or SGE, a Kubernetes deadline,
        `timeout`, or a limit on CPU time (ulimit -t). A signal then ended it.

    How laststep knows
        The batch system reports it in the log; or SIGTERM came from a process called timeout, or shortly before the
        end of the SLURM job's time; or the kernel sent SIGXCPU.

    What to do
        Request more time, or let the next job continue where this one ended: keras.callbacks.BackupAndRestore. Most
        batch systems can send a signal some minutes before the limit (sbatch --signal=TERM@300).

    Not to be confused with
        terminated (SIGTERM for another reason), host-out-of-memory (a memory limit, which the same systems enforce).
    """
    reported_end = verdict(run, "time-limit")
    if reported_end is not None:
        return _finding(run, f"{reported_end.by} ended it because its time was up", quoted(reported_end))
    if killed_with(run, 24, "SIGXCPU"):
        return _finding(run, "the CPU time limit was used up (ulimit -t)", reported(run, "SIGXCPU"))
    used = _cpu_time(run)
    if used is not None:
        return _finding(run, "the hard CPU time limit was used up (ulimit -t)", used, Confidence.LIKELY)
    if run.exit_code == TIMEOUT_EXIT_CODE and _was_called_timeout(run):
        code = reported(run, f"exit code {TIMEOUT_EXIT_CODE}, timeout's own")
        return _finding(run, "the command timeout ended it", code)
    term = received_signal(run, "SIGTERM")
    return _by_sigterm(run, term) if term is not None else no(NO_LIMIT)


def _by_sigterm(run: Run, term: SignalReceived) -> Answer:
    name = term.sender.name if term.sender else ""
    if term.sender and name == "timeout":
        who = Evidence(f"process {term.sender.pid}, called timeout, sent SIGTERM", (term,))
        return _finding(run, "the command timeout ended it", who)
    limits = next((event for event in run.all(Limits) if event.job_ends is not None), None)
    if limits is None or limits.job_ends is None or name not in SLURM_PROCESSES:
        return no(NO_LIMIT)
    left = limits.job_ends - term.time
    if left >= MAX_SECONDS_LEFT:
        return no(f"SIGTERM arrived with {format_duration(left)} of the job's time left")
    side = "before" if left > 0 else "after"
    when = f"SIGTERM arrived {format_duration(abs(left))} {side} the end of the SLURM job's time"
    return _finding(run, "that of the SLURM job", Evidence(when, (term, limits)), Confidence.LIKELY)


def _was_called_timeout(run: Run) -> bool:
    """What was started is, or became, the command timeout."""
    end = run.last(ProcessEnd)
    started = run.command[0].rsplit("/", 1)[-1] if run.command else ""
    return "timeout" in (started, end.name if end else None)


def _cpu_time(run: Run) -> Evidence | None:
    """Killed when all the CPU time that the hard limit allows was used."""
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
    return Evidence(f"{used:.1f} s of CPU time were used in the last sample; the hard limit was {limit:.0f} s", (end,))


def _finding(run: Run, why: str, evidence: Evidence, confidence: Confidence = Confidence.CERTAIN) -> Finding:
    trained = fits_are_complete(run)
    return Finding(
        cause=f"The time limit was reached: {why}.",
        confidence=confidence,
        evidence=(evidence, progress(run)),
        remedies=(Remedy("Request more time"),) if trained else (backup(run), Remedy("Or request more time")),
        where=fit_place(run),
    )
