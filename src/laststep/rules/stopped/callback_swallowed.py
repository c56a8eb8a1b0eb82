"""The program's own except hid why training ended."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.progress import no, progress, short_message, went_on
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(
    needs=("recorder",),
    outranks=("callback-raised", "callback-stopped-training", "finished-short", "script-exited", "stopped-on-nan"),
)
def callback_swallowed(run: Run) -> Answer:
    """An exception ended the fit, and the program's own try/except hid it.

    What happened
        fit raised, often from a callback, and the program caught the exception and went on as if training
        had come to its end: perhaps it printed a line, perhaps nothing. The model is trained less than it
        should be, and the exit code is 0.

    How laststep knows
        The exception was seen as it left fit, the program did not end by it, and no later fit came to its
        end. The except that caught it is read from the program's source.

    What to do
        Mend what raised. Where the except is on purpose, let it catch only what it expects, log the traceback
        (`logging.exception`), and raise again.

    Not to be confused with
        callback-raised (nobody caught it), a retry that works: when a later fit runs to its end, this rule
        stays quiet.
    """
    left = [event for event in run.all("exception") if event.get("left") == "fit" and event.get("function") == "fit"]
    if not left:
        return no("no exception left a fit")
    error = left[-1]
    if "KeyboardInterrupt" in error.get("bases", []):
        return no("what left fit was KeyboardInterrupt")
    if _ended_the_program(run, error):
        return no("the exception that left fit ended the program: it was not hidden")
    if went_on(run, error.time):
        return no("an exception left a fit, and a later fit came to its end")
    if run.signal is not None:
        return no("a signal ended the process after the exception")
    return _finding(run, error)


def _ended_the_program(run: Run, error: Event) -> bool:
    last = run.uncaught
    same = last is not None and last.get("type") == error.get("type") and last.get("message") == error.get("message")
    chained = last is not None and any(
        inner["message"][:200] == str(error.get("message"))[:200] for inner in last.get("because_of") or []
    )
    in_thread = any(
        event.get("left") == "thread" and event.get("message") == error.get("message") for event in run.all("exception")
    )
    return same or chained or in_thread


def _finding(run: Run, error: Event) -> Finding:
    callback = error.get("callback")
    caught = error.get("caught")
    kind = str(error.get("type", "?")).rsplit(".", 1)[-1]
    source = f"the callback {callback['class']}" if callback else "the training"
    evidence = [Evidence(f"{short_message(error)}", (error,)), Evidence(_raised_at(error, source), (error,))]
    if caught:
        evidence.append(Evidence(f"caught in line {caught.get('line')}:\n{caught.get('text', 'except')}", (error,)))
    stop = run.last("stop")
    if stop is not None and stop.time <= error.time and stop.get("callback"):
        evidence.append(Evidence(f"just before, {stop.get('callback')['class']} had set stop_training", (stop,)))
    evidence.append(progress(run))
    return Finding(
        cause=f"{source[0].upper()}{source[1:]} raised {kind}, which ended fit, and the program's own except hid it.",
        confidence=Confidence.CERTAIN if caught else Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(
            Remedy(f"Mend the line that raised, {_line(error)}", None, error.get("where")),
            Remedy("Let the except say what it caught, and not go on", "    raise", caught, safe=True),
        ),
        where=caught or error.get("where"),
    )


def _raised_at(error: Event, source: str) -> str:
    where = error.get("where") or {}
    text = f":\n{where['text']}" if where.get("text") else ""
    return f"raised by {source} in {_line(error)}{text}"


def _line(error: Event) -> str:
    where = error.get("where") or {}
    if not where.get("line"):
        return "a library"
    return f"{str(where.get('file')).rsplit('/', 1)[-1]}:{where['line']}"
