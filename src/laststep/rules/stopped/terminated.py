"""The process received SIGTERM."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.program import backup
from laststep.analysis.progress import fits_are_complete, progress, saved
from laststep.analysis.signals import (
    killed_with,
    quoted,
    received_signal,
    reported,
    sender,
    sent_by_program,
    stopped_by_laststep,
    unknown_sender,
    verdict,
)
from laststep.record.events.process import Exiting
from laststep.record.events.supervisor import ProcessEnd, Verdict
from laststep.record.events.training import Saved, Stop
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_duration

REPORTED = {
    "asked": "that it was cancelled or killed on request",
    "preempted": "that it was preempted",
    "node-lost": "that its machine was taken away",
}


@rule(tier=Tier.CONSEQUENCE, follows=("stalled", "time-limit-reached", "peer-lost", "host-out-of-memory"))
def terminated(run: Run) -> Answer:
    """The process got SIGTERM, the request to terminate: from a scheduler, a container stop, a preemption, a person.

    What happened
        SIGTERM is the request to terminate. Batch systems send it before their time limit, Kubernetes and Docker when a
        container is stopped or moved, cloud providers when they take a machine back. SIGKILL follows after a grace
        period (Docker 10 s, Kubernetes 30 s).

    How laststep knows
        The operating system reports that SIGTERM ended it, or laststep forwarded the signal, and recorded the process
        that sent it and how long the program continued after it.

    What to do
        If it was the scheduler, request more time or save more often. keras.callbacks.BackupAndRestore lets the next
        run continue where this one ended.

    Not to be confused with
        killed-by-signal (SIGKILL: no time to react), interrupted (Ctrl-C), time-limit-reached (the batch system reports
        that it was the limit).
    """
    reported_end = verdict(run, *REPORTED)
    if reported_end is not None and (run.uncaught is None or run.uncaught.time > reported_end.time):
        return _by_verdict(run, reported_end)
    end = run.last(ProcessEnd)
    if run.is_log and run.uncaught is not None and end is not None:
        if run.uncaught.time < end.time and "KeyboardInterrupt" not in run.uncaught.bases:
            return no("an error came before the signal, which ended the other processes")
    if stopped_by_laststep(run):
        return no("laststep stopped it because it was stuck, as requested")
    died = killed_with(run, 15, "SIGTERM")
    handled = next((stop for stop in run.all(Stop) if stop.signal_handler == "SIGTERM"), None)
    if not died and handled is None and received_signal(run, "SIGTERM") is None:
        return measured("no SIGTERM was recorded") if run.signal or run.vanished else no("no SIGTERM was recorded")
    if not died and run.exit_code == 0 and all(fit.complete for fit in run.fits) and run.has(Exiting):
        return no("SIGTERM arrived, and the program finished anyway")
    return _finding(run, died, handled)


def _finding(run: Run, died: bool, handled: Stop | None) -> Finding:
    evidence = [reported(run, "SIGTERM")] if died else []
    if handled is not None:
        evidence.append(Evidence("the program's own SIGTERM handler set stop_training", (handled,)))
    by_whom = sender(run, "SIGTERM")
    evidence.append(by_whom or unknown_sender(run))
    received, end = received_signal(run, "SIGTERM"), run.last(ProcessEnd)
    if received is not None and end is not None:
        later = format_duration(max(0.0, end.time - received.time))
        evidence.append(Evidence(f"it ended {later} after the signal", (received, end)))
    evidence += [progress(run), *saved(run)]
    own = sent_by_program(run, "SIGTERM")
    return Finding(
        cause=f"The process was asked to terminate (SIGTERM){': ' + by_whom.says if by_whom else ''}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=_remedies(run),
        where=own.where if own else None,
    )


def _by_verdict(run: Run, reported_end: Verdict) -> Finding:
    """The batch system writes into the log why it ended the job."""
    return Finding(
        cause=f"The process was asked to terminate: {reported_end.by} reports {REPORTED[reported_end.why]}.",
        confidence=Confidence.CERTAIN,
        evidence=(quoted(reported_end), progress(run)),
        remedies=(Remedy("Find out who ended the job; let the next run continue where this one ended"),),
    )


def _remedies(run: Run) -> tuple[Remedy, ...]:
    saves = {"BackupAndRestore", "ModelCheckpoint"}
    fit = run.fit
    model = run.last(Saved)
    if model is not None and model.path and model.path.endswith(".keras"):
        load = f'model = keras.models.load_model("{model.path}")'
        return (Remedy("Let the next run continue with the saved model", load),)
    used = {callback.class_name for callback in fit.began.callbacks} if fit else set()
    if fit is None or used & saves or fits_are_complete(run):
        return (Remedy("Find out who sent it: the scheduler's log, `kubectl describe pod`, `docker events`"),)
    return (backup(run),)
