"""An exception that was not caught."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.messages import missing_package, short_message
from laststep.analysis.progress import progress
from laststep.record.events.process import Raised, RecorderStart
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ECHO, follows=("stopped", "crashed", "stalled", "nan-loss"))
def unhandled_exception(run: Run) -> Answer:
    """An exception ended the program, and no more specific rule knows its cause.

    What happened
        Python raised an exception that was not caught, and the program (or the thread that trained) ended.

    How laststep knows
        The exception itself, as Python raised it, with all its frames. The line shown is the innermost one of
        your own code, not of a library. Where laststep could not look inside the process, the last traceback on
        the console is used instead.

    What to do
        Start at that line. `laststep why -v` shows the whole stack, including the frames that Keras and
        TensorFlow remove from their tracebacks.

    Not to be confused with
        callback-raised (training itself was fine), script-exited (the program called exit), callback-swallowed
        (the program caught the error and did not report it).
    """
    error = run.uncaught or _in_training_thread(run)
    if error is None:
        seen = run.has(RecorderStart) and not run.alive
        return measured("no exception left the program") if seen else no("no exception was recorded")
    if "KeyboardInterrupt" in error.bases:
        return no("the exception was a KeyboardInterrupt")
    raised = run.has(RecorderStart) or run.is_log  # from outside it is only seen that it was printed
    evidence = [Evidence(short_message(error, 600), (error,))]
    for inner in error.because_of:
        evidence.append(Evidence(f"while handling {inner.type}: {inner.message[:200]}", (error,)))
    evidence.append(progress(run))
    install = missing_package(error)
    start = Remedy(f"Start at your own line, shown above; `laststep {_verb(run)} -v` shows the whole stack")
    kind = error.type.rsplit(".", 1)[-1] or "?"
    thread = f" in the thread {error.thread}" if error.left == "thread" else ""
    return Finding(
        cause=f"{kind} was raised{thread}{_at(error.where)} and not caught.",
        confidence=Confidence.CERTAIN if raised else Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(install or start,),
        where=error.where,
    )


def _verb(run: Run) -> str:
    return "diagnose" if run.is_log else "why"


def _at(where: Place | None) -> str:
    function = where.function if where is not None else ""
    return f" in {function}" if function and function != "<module>" else ""


def _in_training_thread(run: Run) -> Raised | None:
    """fit in a thread: its exception ends the training, not the program."""
    if not any(not fit.complete for fit in run.fits) and not (run.is_log and not run.fits):
        return None
    return next((error for error in reversed(run.all(Raised)) if error.left == "thread"), None)
