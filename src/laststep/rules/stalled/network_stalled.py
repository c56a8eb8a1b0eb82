"""Waiting for the network."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Finding, Remedy, no
from laststep.analysis.progress import progress
from laststep.analysis.stacks import SnapshotView
from laststep.analysis.stall import DEATHS, SEEN, SOCKET, never_stuck, since, stall_of, standing, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=(SEEN,), outranks=(*DEATHS, "input-blocked", "callback-blocked", "python-blocked"))
def network_stalled(run: Run) -> Answer:
    """The program waits for another machine that does not answer.

    What happened
        A thread that training depends on waits for a connection or for an answer over the network: a data server, a
        bucket, a tracking service. Without a timeout such a wait has no end.

    How laststep knows
        Nothing moved for far longer than before, and the thread at the line shown is blocked in a network call; the
        kernel's table of connections gives the peer.

    What to do
        Set a timeout (requests.get(url, timeout=30), socket.settimeout) and try again; see whether the peer answers.

    Not to be confused with
        data-source-unreachable (the connection failed, with an error), peer-lost (another rank of the training).
    """
    stall = stall_of(run)
    if stall is None:
        return no(never_stuck(run))
    view = SnapshotView(stall)
    thread = view.blocked
    if not thread.on.startswith(SOCKET) or not view.idle:
        return no("it was stuck, but in no network call")
    peer = thread.on.removeprefix(SOCKET)
    return Finding(
        cause=f"The program waits for {peer}, which does not answer.",
        confidence=Confidence.LIKELY,
        evidence=(since(view), standing(view, thread, "the waiting thread"), used(view), progress(run)),
        remedies=(
            Remedy("Give the call at this line a timeout, and try again when it is over", None, thread.place, True),
        ),
        where=thread.place,
    )
