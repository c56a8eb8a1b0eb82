"""The main thread does not leave the program's own code."""

from __future__ import annotations

from laststep.analysis.finding import Evidence, Finding, Remedy, no
from laststep.analysis.hang import how_sure
from laststep.analysis.progress import progress
from laststep.analysis.stacks import SnapshotView
from laststep.analysis.stall import never_stuck, position, since, stuck, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_duration, format_place

MIN_FROZEN_SECONDS = 5.0  # without a heartbeat


@rule(sees=("inside", "attached"))
def python_blocked(run: Run) -> Answer:
    """The main thread stays in the program's own code and does not return to training.

    What happened
        Between two steps the program does something of its own that does not end: it waits for an event, a socket or
        another program, or it computes without end (an endless while loop, a regular expression that backtracks).

    How laststep knows
        The time since the last step is far longer than ever before, and the main thread is at a line of the program's
        own inside the training loop. Where it computes inside C code, laststep's own heartbeat stops too.

    What to do
        Check the line shown: add a timeout to its wait, or end its loop.

    Not to be confused with
        input-blocked (it waits for a batch), callback-blocked (a Keras callback), deadlocked (another thread waits
        for this one).
    """
    view = stuck(run, "python-blocked")
    if view is None:
        return no(never_stuck(run))
    place, age = view.main.place, view.snapshot.beat_age or 0.0
    frozen = age > MIN_FROZEN_SECONDS and not view.idle
    evidence = [since(view), position(view, view.main, "the main thread"), used(view), progress(run)]
    if frozen:
        says = f"no other Python thread has run for {format_duration(age)}: C code holds the GIL"
        evidence.insert(2, Evidence(says, (view.snapshot,)))
    return Finding(
        cause=f"The program's own code does not return to training: {format_place(place)} {_what(view, frozen)}.",
        confidence=how_sure(view),
        evidence=tuple(evidence),
        remedies=(Remedy(_remedy(view), None, place),),
        where=place,
    )


def _what(view: SnapshotView, frozen: bool) -> str:
    if frozen:
        return "computes inside one call that holds the GIL"
    return "is waiting" if view.idle else "computes without end"


def _remedy(view: SnapshotView) -> str:
    if view.main.call == "sleep":
        return "Check what this line waits for: it sleeps until then"
    return "Add a timeout to the wait at this line" if view.idle else "Make the computation at this line end"
