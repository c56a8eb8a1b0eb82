"""A callback does not return."""

from __future__ import annotations

from laststep.analysis.finding import Finding, Remedy, no
from laststep.analysis.hang import how_sure
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import ThreadView
from laststep.analysis.stall import never_stuck, position, since, stuck, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_place


@rule(sees=("inside", "attached"))
def callback_blocked(run: Run) -> Answer:
    """A callback does not return.

    What happened
        Keras called a callback and waits for it to return. The callback waits for a lock, for a service that does not
        respond, for a child process or for keyboard input, or it runs in an endless loop. fit runs callbacks in its
        own thread, so training makes no progress meanwhile.

    How laststep knows
        There was no progress for far longer than before, and the main thread's stack goes through Keras's callback
        list to the line shown.

    What to do
        Add a timeout to what the callback waits for, or do the work in a background thread (uploads, messages).

    Not to be confused with
        callback-raised (the callback failed), deadlocked (it waits for a thread that waits for it).
    """
    view = stuck(run, "callback-blocked")
    if view is None:
        return no(never_stuck(run))
    inside = view.main.callback or view.main
    place = inside.place
    at = f": {format_place(place)}" if place else ""
    return Finding(
        cause=f"Training waits for {_name(inside)}, which does not return{at}.",
        confidence=how_sure(view),
        evidence=(since(view), position(view, inside, "the main thread, in the callback,"), used(view), progress(run)),
        remedies=(
            Remedy("Add a timeout to the wait at this line, or do this in a background thread", None, place, True),
        ),
        where=place or fit_place(run),
    )


def _name(inside: ThreadView) -> str:
    """The method that Keras called; with the file of the callback where that is one of Keras's own."""
    hook = inside.frames[-1]
    file = hook.file.rpartition("/")[2].removesuffix(".py")
    return f"a callback's {hook.function}" if inside.place else f"Keras's own callback {file} ({hook.function})"
