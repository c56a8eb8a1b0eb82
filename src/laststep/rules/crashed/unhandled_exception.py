"""An exception that nobody caught."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.messages import missing_package, short_message, traceback_on_console
from laststep.analysis.progress import progress
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule()
def unhandled_exception(run: Run) -> Answer:
    """An exception ended the program, and no more special rule knows its cause.

    What happened
        Python raised an exception, nobody caught it, and the program (or the thread that trained) ended.

    How laststep knows
        The exception itself, as Python handed it out, with all its frames. The line shown is the deepest one
        of your own code, not of a library. Where laststep could not look inside, the last traceback on the
        console is read instead.

    What to do
        Start at that line. `laststep why -v` shows the whole stack, also the frames that Keras and TensorFlow
        cut out of their tracebacks.

    Not to be confused with
        callback-raised (training itself was fine), script-exited (the program left on its own account),
        callback-swallowed (the program caught the error and said nothing).
    """
    error = run.uncaught or _in_training_thread(run)
    confidence = Confidence.CERTAIN
    if error is None and not run.has("recorder") and run.exit_code:
        error, confidence = traceback_on_console(run), Confidence.LIKELY
    if error is None:
        seen = run.has("recorder") and not run.alive
        return measured("no exception left the program: it would have been seen") if seen else no("none was seen")
    if "KeyboardInterrupt" in error.get("bases", []):
        return no("the exception was KeyboardInterrupt")
    evidence = [Evidence(short_message(error, 600), (error,))]
    for inner in error.get("because_of") or []:
        evidence.append(Evidence(f"while handling {inner['type']}: {inner['message'][:200]}", (error,)))
    evidence.append(progress(run))
    where, install = error.get("where"), missing_package(error)
    start = Remedy(f"Start at your own line above; `laststep {_verb(run)} -v` shows the whole stack")
    kind = str(error.get("type", "?")).rsplit(".", 1)[-1]
    thread = f" in the thread {error.get('thread')}" if error.get("left") == "thread" else ""
    return Finding(
        cause=f"{kind} was raised{thread}{_at(where)} and nobody caught it.",
        confidence=confidence,
        evidence=tuple(evidence),
        remedies=(install or start,),
        where=where,
    )


def _verb(run: Run) -> str:
    return "diagnose" if run.is_log else "why"


def _at(where: object) -> str:
    function = where.get("function") if isinstance(where, dict) else None
    return f" in {function}" if function and function != "<module>" else ""


def _in_training_thread(run: Run) -> Event | None:
    """fit in a thread: its exception ends the training, not the program."""
    if not any(not fit.complete for fit in run.fits) and not (run.is_log and not run.fits):
        return None
    return next((e for e in reversed(run.all("exception")) if e.get("left") == "thread"), None)
