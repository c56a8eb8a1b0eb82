"""The program's own except hid why training ended."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import short_message
from laststep.analysis.progress import progress, went_on
from laststep.record.events.process import Raised
from laststep.record.events.training import Stop
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ROOT, sees=("inside",), outranks=("callback-raised", "callback-stopped-training"))
def callback_swallowed(run: Run) -> Answer:
    """An exception ended the fit, and the program's own try/except hid it.

    What happened
        fit raised, often in a callback, and the program caught the exception and continued as if training had
        finished: perhaps with a printed line, perhaps silently. The model is trained less than it should be, and
        the exit code is 0.

    How laststep knows
        The exception was recorded when it left fit, it did not end the program, and no later fit finished. The
        except clause that caught it is read from the program's source.

    What to do
        Fix the line that raised. Where the except is intended, let it catch only what it expects, log the traceback
        (`logging.exception`), and raise again.

    Not to be confused with
        callback-raised (the exception was not caught), a retry that works: if a later fit finishes, this is not
        reported.
    """
    left = [event for event in run.all(Raised) if event.left == "fit" and event.function == "fit"]
    if not left:
        return no("no exception left a fit")
    error = left[-1]
    if "KeyboardInterrupt" in error.bases:
        return no("the exception that left fit was KeyboardInterrupt")
    if _ended_the_program(run, error):
        return no("the exception that left fit ended the program: it was not hidden")
    if went_on(run, error.time):
        return no("an exception left a fit, and a later fit finished")
    if run.signal is not None:
        return no("a signal ended the process after the exception")
    return _finding(run, error)


def _ended_the_program(run: Run, error: Raised) -> bool:
    last = run.uncaught
    same = last is not None and (last.type, last.message) == (error.type, error.message)
    chained = last is not None and any(inner.message[:200] == error.message[:200] for inner in last.because_of)
    in_thread = any(event.left == "thread" and event.message == error.message for event in run.all(Raised))
    return same or chained or in_thread


def _finding(run: Run, error: Raised) -> Finding:
    caught = error.caught
    kind = (error.type or "?").rsplit(".", 1)[-1]
    source = f"the callback {error.callback.class_name}" if error.callback else "the training"
    evidence = [Evidence(short_message(error), (error,)), Evidence(_raised_at(error, source), (error,))]
    if caught:
        evidence.append(Evidence(f"caught in line {caught.line}:\n{caught.text or 'except'}", (error,)))
    stop = run.last(Stop)
    if stop is not None and stop.time <= error.time and stop.callback is not None:
        evidence.append(Evidence(f"just before, {stop.callback.class_name} had set stop_training", (stop,)))
    evidence.append(progress(run))
    return Finding(
        cause=f"{source[0].upper()}{source[1:]} raised {kind}, which ended fit, and the program's own except hid it.",
        confidence=Confidence.CERTAIN if caught else Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(
            Remedy(f"Fix the line that raised, {_line(error)}", None, error.where),
            Remedy("Report the exception in the except clause, and raise it again", "    raise", caught, safe=True),
        ),
        where=caught or error.where,
    )


def _raised_at(error: Raised, source: str) -> str:
    text = f":\n{error.where.text}" if error.where and error.where.text else ""
    return f"raised by {source} in {_line(error)}{text}"


def _line(error: Raised) -> str:
    return f"{error.where.file.rsplit('/', 1)[-1]}:{error.where.line}" if error.where else "a library"
