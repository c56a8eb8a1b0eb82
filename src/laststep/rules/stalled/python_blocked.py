"""The main thread sits in the user's own code."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import progress
from laststep.analysis.stacks import SnapshotView
from laststep.analysis.stall import DEATHS, SEEN, never_stuck, since, standing, stuck, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

FROZEN = 5.0  # seconds without a beat


@rule(needs=(SEEN,), outranks=DEATHS)
def python_blocked(run: Run) -> Answer:
    """The main thread sits in the program's own code and does not come back to training.

    What happened
        Between two steps the program does something of its own that does not end: it waits for an event, a socket or
        another program, or it computes without end (an endless while, a regular expression that backtracks).

    How laststep knows
        The training loop was left for far longer than ever before, and the main thread's stack stands at a line of
        the program's own inside that loop. Where it computes inside C code, laststep's own heartbeat stands still too.

    What to do
        Look at the line shown: give its wait a timeout, or end its loop.

    Not to be confused with
        input-blocked (it waits for a batch), callback-blocked (a Keras callback), deadlocked (another thread waits
        for this one).
    """
    view = stuck(run, "python-blocked")
    if view is None:
        return no(never_stuck(run))
    place, age = view.main.place, view.snapshot.beat_age or 0.0
    frozen = age > FROZEN and not view.idle
    evidence = [since(view), standing(view, view.main, "the main thread"), used(view), progress(run)]
    if frozen:
        says = f"no other Python thread has run for {words.span(age)}: C code holds the interpreter"
        evidence.insert(2, Evidence(says, (view.snapshot,)))
    return Finding(
        cause=f"The program's own code does not come back to training: {words.place(place)}{_how(view, frozen)}.",
        confidence=Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(Remedy(_what_to_do(view), None, place),),
        where=place,
    )


def _how(view: SnapshotView, frozen: bool) -> str:
    if frozen:
        return " computes inside one call and lets no other thread run"
    return " waits" if view.idle else " computes and does not end"


def _what_to_do(view: SnapshotView) -> str:
    if view.main.call == "sleep":
        return "Look at what this line waits for; it sleeps until then"
    return "Give the wait at this line a timeout" if view.idle else "Make this line end"
