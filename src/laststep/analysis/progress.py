"""How far training came, where the model was saved, and the user's line that trains."""

from __future__ import annotations

from laststep.analysis.finding import Evidence
from laststep.analysis.still import seconds_still
from laststep.record.events.logs import Progress
from laststep.record.events.stacks import Attached
from laststep.record.events.training import LoopSeen, Saved
from laststep.record.place import Place
from laststep.record.run import Fit, Run
from laststep.text import format_count, format_duration

MIN_STILL_SECONDS = 8.0  # that are worth a word
MAX_LATE_SECONDS = 1.0  # by which a step of a fit may be written after its end


def progress(run: Run) -> Evidence:
    """How far training had come, and what it was doing."""
    if run.is_log:
        return _progress_in_log(run)
    attached = run.last(Attached)
    if attached is not None:
        return Evidence(attached.progress or "how far training has come cannot be seen from outside", (attached,))
    if not run.training_seen:
        return Evidence("no training step had been recorded yet")
    done = run.steps[-1].number if run.steps else 0
    text = f"{format_count(done, 'step')} {'was' if done == 1 else 'were'} complete" if done else "no step was complete"
    fit = run.fit
    if fit is not None and fit.asked:
        text += f", {fit.reached} of {format_count(fit.asked, 'epoch')}"
    doing = {"step": "in a training step", "validation": "in validation", "epoch-end": "at the end of an epoch"}
    if run.now is not None and run.now.phase in doing:
        still = seconds_still(run)
        since = f" for {format_duration(still)}" if still >= MIN_STILL_SECONDS else ""
        text += f"; it was {doing[run.now.phase]}{since}"
    return Evidence(text, (fit.began,) if fit else ())


def _progress_in_log(run: Run) -> Evidence:
    fit, last = run.fit, run.last(Progress)
    log = "the console" if run.is_kept_console else "the log"
    if fit is None and last is None:
        return Evidence(f"{log} shows no training progress")
    if fit is None or not fit.epochs:
        shown = f"a counter at {last.done:,}" if last and last.done is not None else "that training had begun"
        return Evidence(f"{log} shows {shown}", (last,) if last else ())
    epoch = fit.epochs[-1]
    batches = f"{epoch.batches} of {epoch.of} batches" if epoch.of else "some batches"
    return Evidence(f"{log} shows epoch {epoch.epoch + 1} of {fit.asked}, {batches}", (epoch,))


def fits_are_complete(run: Run) -> bool:
    """Each fit that began had done all that was asked of it: the program ended in its own code."""
    return not run.is_log and run.fit is not None and run.fit.complete and not _loops_after(run.fit, run)


def training_is_complete(run: Run) -> bool:
    """The same, and by the program's source no more training was to come."""
    return fits_are_complete(run) and run.fits[-1].began.more_follows is False


def _loops_after(fit: Fit, run: Run) -> bool:
    """A hand-written loop trained after it."""
    ended = fit.ended.time + MAX_LATE_SECONDS if fit.ended is not None else 0.0
    return any(step.time > ended for step in run.steps[-1:])


def saved(run: Run) -> list[Evidence]:
    """Where the model is, if it was saved before the end."""
    event = run.last(Saved)
    if event is None:
        return []
    if event.path:
        weights = "the weights were" if event.path.endswith(".h5") else "the model was"
        return [Evidence(f"{weights} saved at step {event.step:,}: {event.path}", (event,))]
    return [Evidence(f"the model could not be saved before the end: {event.because}", (event,))]


def went_on(run: Run, time: float) -> bool:
    """Whether a fit that began after this moment came to its end, or is still running."""
    return run.last_trained > time


def target_place(run: Run) -> Place | None:
    """The line that last set the targets that fit was given; where that is not known, the one that trains."""
    return (run.fit.began.data.y_made_at if run.fit else None) or fit_place(run)


def fit_place(run: Run) -> Place | None:
    """The user's line that called fit."""
    return run.fit.began.where if run.fit else _loop_place(run)


def _loop_place(run: Run) -> Place | None:
    loop, attached = run.last(LoopSeen), run.last(Attached)
    where = attached.where if attached else None
    return where or ((loop.where or loop.function) if loop else None)
