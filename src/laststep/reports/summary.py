"""What happened to a run, in one or two sentences."""

from __future__ import annotations

from laststep.analysis.finding import Diagnosis
from laststep.analysis.progress import fits_are_complete, progress, training_is_complete
from laststep.analysis.signals import stopped_by_laststep
from laststep.record.events.process import RecorderStart
from laststep.record.run import Run
from laststep.text import format_count, format_duration


def what_happened(diagnosis: Diagnosis) -> str:
    run = diagnosis.run
    verbs = {
        "finished": "The program finished",
        "running": "The program is running",
        "stopped": "Training stopped early",
        "crashed": "The program crashed",
        "stalled": "The program is alive but makes no progress",
        "unknown": "The log does not say how it ended",
    }
    if run.uncaught is not None and run.uncaught.left == "cell":
        verbs["crashed"] = "A cell of the notebook failed"
    if fits_are_complete(run) or (diagnosis.outcome == "stopped" and not run.training_seen):
        verbs["stopped"] = "The program was stopped"
    if stopped_by_laststep(run):
        verbs["stopped"] = "Training was stuck and laststep stopped it, as requested"
    if run.is_log:
        return f"{verbs[diagnosis.outcome]}{_how(diagnosis)}; {progress(run).says}."
    if training_is_complete(run) and diagnosis.outcome in ("stopped", "crashed"):
        return f"{_completed(run)} {_afterwards(diagnosis, verbs[diagnosis.outcome])}"
    return f"{verbs[diagnosis.outcome]}{_how(diagnosis)}{_progress(diagnosis)}, after {format_duration(run.seconds)}."


def _completed(run: Run) -> str:
    fit, steps = run.fits[-1], run.steps[-1].number if run.steps else 0
    epochs = f"{fit.reached} of {format_count(fit.asked, 'epoch')}, " if fit.asked else ""
    return f"Training was complete ({epochs}{format_count(steps, 'step')})."


def _afterwards(diagnosis: Diagnosis, what: str) -> str:
    """What ended the program when its training was over."""
    run, ended = diagnosis.run, diagnosis.run.fits[-1].ended
    later = max(0.0, run.began + run.seconds - ended.time) if ended is not None else 0.0
    return f"{what}{_how(diagnosis)} {format_duration(later)} later, {format_duration(run.seconds)} after its start."


def _how(diagnosis: Diagnosis) -> str:
    run = diagnosis.run
    if run.signal:
        return f" ({run.signal})"
    if run.exit_code:
        return f" (exit code {run.exit_code})"
    return " (exit status unknown)" if run.vanished else ""


def _progress(diagnosis: Diagnosis) -> str:
    run = diagnosis.run
    if not run.training_seen:
        return ", no training step seen" if run.has(RecorderStart) else ""
    at = f" at step {run.steps[-1].number:,}" if run.steps else " before the first step"
    fit = run.fit
    if fit is not None and fit.asked:
        at += f", {fit.reached} of {format_count(fit.asked, 'epoch')} complete"
    return at
