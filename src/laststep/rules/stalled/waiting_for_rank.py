"""The processes that train together wait for one that does not arrive."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.hang import how_sure
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import EXECUTE, ThreadView
from laststep.analysis.stall import never_stuck, ranks, since, stuck, used
from laststep.record.events.stacks import Snapshot
from laststep.record.events.training import Setup
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_place


@rule(sees=("inside", "attached"))
def waiting_for_rank(run: Run) -> Answer:
    """This process waits in a collective operation for another rank that does not arrive.

    What happened
        Several processes train together and exchange gradients in each step. One of them does not arrive: it is
        stuck in its own code, its data arrives more slowly, or it is gone. All the others wait and print nothing:
        TensorFlow reports a dead peer after some seconds, but not one that is merely stuck.

    How laststep knows
        TF_CONFIG names several workers, and this process is inside a TensorFlow call without using the CPU and
        without waiting for its own data. Snapshots of the other ranks on the same machine show their lines.

    What to do
        Check the rank shown, at its line. Run each rank with laststep to see the same of the others.

    Not to be confused with
        peer-lost (a rank died and TensorFlow says so), input-blocked (this rank itself waits for data).
    """
    if ranks(run) < 2:
        return no("one process trains alone")
    view = stuck(run, "waiting-for-rank")
    if view is None:
        return no(never_stuck(run))
    rank, place, pid = _missing(view.snapshot) or (None, None, 0)
    missing = f"rank {rank}" if rank is not None else "another rank"
    at = f"at {format_place(place)}" if place else ""
    evidence = [since(view), Evidence(f"TF_CONFIG names {ranks(run)} ranks", tuple(run.all(Setup)[-1:]))]
    if rank is not None:
        says = f"{missing} is on this machine (process {pid}){f'; it is {at}' if at else ''}"
        evidence.append(Evidence(says, (view.snapshot,)))
    return Finding(
        cause=f"This rank waits in a collective operation for {missing}{f', which is {at}' if at else ''}.",
        confidence=how_sure(view) if rank is not None else Confidence.POSSIBLE,
        evidence=(*evidence, used(view), progress(run)),
        remedies=(Remedy(f"Find out why {missing} does not reach this operation", None, place),),
        where=place or fit_place(run),
    )


def _missing(snapshot: Snapshot) -> tuple[str, Place | None, int] | None:
    """(its name, its line, its pid): of the ranks on this machine the one that is not inside TensorFlow's call."""
    for peer in snapshot.peers:
        main = next((ThreadView(thread) for thread in peer.threads if thread.current), None)
        if main is not None and not main.has(EXECUTE):
            return str(peer.rank), main.place, peer.pid
    return None
