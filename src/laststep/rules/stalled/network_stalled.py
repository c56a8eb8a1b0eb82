"""A peer on the network does not respond."""

from __future__ import annotations

from laststep.analysis.finding import Finding, Remedy, no
from laststep.analysis.hang import hang_of, how_sure, until_the_end
from laststep.analysis.progress import progress
from laststep.analysis.stacks import SnapshotView
from laststep.analysis.stall import SOCKET, never_stuck, position, since, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ROOT, sees=("inside", "attached"))
def network_stalled(run: Run) -> Answer:
    """The program waits for another machine that does not respond.

    What happened
        A thread that training depends on waits for a connection or a response over the network: a data server, a
        bucket, a tracking service. Without a timeout such a wait never ends.

    How laststep knows
        There was no progress for far longer than before, and the thread at the line shown is blocked in a network
        call. The kernel's table of connections names the peer.

    What to do
        Set a timeout (requests.get(url, timeout=30), socket.settimeout) and retry. Check whether the peer responds.

    Not to be confused with
        data-source-unreachable (the connection failed with an error), peer-lost (another rank of the training).
    """
    hang = hang_of(run)
    if hang is None:
        return no(never_stuck(run))
    view = SnapshotView(until_the_end(run, hang))
    thread = view.blocked
    if not thread.on.startswith(SOCKET) or not view.idle:
        return no("it was stuck, but not in a network call")
    peer = thread.on.removeprefix(SOCKET)
    return Finding(
        cause=f"The program waits for {peer}, which does not respond.",
        confidence=how_sure(view),
        evidence=(since(view), position(view, thread, "the waiting thread"), used(view), progress(run)),
        remedies=(Remedy("Set a timeout on the call at this line, and retry", None, thread.place, True),),
        where=thread.place,
    )
