"""The processes that train together wait for one that is not there."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import EXECUTE, ThreadView
from laststep.analysis.stall import DEATHS, SEEN, never_stuck, ranks, since, stuck, used
from laststep.record.events.stacks import Snapshot
from laststep.record.events.training import Setup
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=(SEEN,), outranks=DEATHS)
def waiting_for_rank(run: Run) -> Answer:
    """This process waits in a collective for another rank that does not come.

    What happened
        Several processes train together and exchange gradients in each step. One of them does not take part: it is
        stuck in its own code, reads slower data, or is gone. All the others wait, without a word: TensorFlow notices a
        peer that is dead after some seconds, one that is merely stuck never.

    How laststep knows
        TF_CONFIG names several workers, and this process stands inside a TensorFlow call without using the processor
        and without waiting for its own data. Other ranks on the same machine are looked at too: their line is shown.

    What to do
        Look at the rank shown, at the line where it stands. Run each rank with laststep to see the same of the others.

    Not to be confused with
        peer-lost (a rank died and TensorFlow says so), input-blocked (this rank itself waits for data).
    """
    if ranks(run) < 2:
        return no("one process trains alone")
    view = stuck(run, "waiting-for-rank")
    if view is None:
        return no(never_stuck(run))
    peer = _peer(view.snapshot)
    missing = f"rank {peer[0]}" if peer else "another rank"
    at = f", which stands at {words.place(peer[1])}" if peer and peer[1] else ""
    evidence = [since(view), Evidence(f"TF_CONFIG names {ranks(run)} ranks", tuple(run.all(Setup)[-1:]))]
    if peer:
        says = f"rank {peer[0]} is on this machine (process {peer[2]}){at}"
        evidence.append(Evidence(says.replace(", which", "; it"), (view.snapshot,)))
    return Finding(
        cause=f"This rank waits in a collective for {missing}{at}.",
        confidence=Confidence.LIKELY if peer else Confidence.POSSIBLE,
        evidence=(*evidence, used(view), progress(run)),
        remedies=(Remedy(f"Find out why {missing} does not take part", None, peer[1] if peer else None),),
        where=(peer[1] if peer else None) or fit_place(run),
    )


def _peer(snapshot: Snapshot) -> tuple[str, Place | None, int] | None:
    """(its name, its line, its pid): of the peers on this machine the one that is not inside TensorFlow's call."""
    for peer in snapshot.peers:
        main = next((ThreadView(thread) for thread in peer.threads if thread.current), None)
        if main is not None and not main.has(EXECUTE):
            return str(peer.rank), main.place, peer.pid
    return None
