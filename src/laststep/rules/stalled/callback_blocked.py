"""The time goes into a callback."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import ThreadView
from laststep.analysis.stall import DEATHS, SEEN, never_stuck, since, standing, stuck, used
from laststep.record.events.stacks import ThreadStack
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=(SEEN,), outranks=DEATHS)
def callback_blocked(run: Run) -> Answer:
    """A callback does not come back.

    What happened
        Keras called one of the callbacks and waits for it to return: it waits for a lock, for a service that does not
        answer, for a child process, for somebody's input, or it runs in an endless loop. fit runs callbacks in its
        own thread, so training stands still meanwhile.

    How laststep knows
        Nothing moved for far longer than before, and the main thread's stack goes through Keras's list of callbacks
        into the line shown.

    What to do
        Give what the callback waits for a timeout, or do it in a thread of its own (uploads, messages).

    Not to be confused with
        callback-raised (the callback failed), deadlocked (it waits for a thread that waits for it).
    """
    view = stuck(run, "callback-blocked")
    if view is None:
        return no(never_stuck(run))
    inside = view.main.callback or view.main
    place = inside.place
    who = _name(inside)
    blocked = ThreadView(ThreadStack(frames=inside.frames, call=view.main.call, on=view.main.on))
    return Finding(
        cause=f"Training waits for {who}, which does not come back" + (f": {words.place(place)}." if place else "."),
        confidence=Confidence.LIKELY,
        evidence=(
            since(view),
            standing(view, blocked, "the main thread, inside it,"),
            used(view),
            progress(run),
        ),
        remedies=(
            Remedy("Let what it waits for at this line time out, or do it in a thread of its own", None, place, True),
        ),
        where=place or fit_place(run),
    )


def _name(inside: ThreadView) -> str:
    """The hook that Keras called, and the callback's own file where it is one of Keras's."""
    outer = inside.frames[-1]
    file = outer.file.rpartition("/")[2].removesuffix(".py")
    return f"the callback's {outer.function}" if inside.place else f"Keras's callback {file} ({outer.function})"
