"""Waiting for the disk."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stall import DEATHS, SEEN, never_stuck, on_disk, since, stuck, used
from laststep.record.events.shared import users_line
from laststep.record.events.stacks import ThreadStack
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=(SEEN,), outranks=(*DEATHS, "input-blocked", "callback-blocked", "python-blocked"))
def disk_stalled(run: Run) -> Answer:
    """The kernel holds the program in its file system: the disk or the network file system does not answer.

    What happened
        A read or a write does not return: the disk is overloaded or failing, or a network file system (NFS, Lustre, a
        FUSE mount of a bucket) has lost its server. The process can't even be interrupted meanwhile.

    How laststep knows
        A thread is in the state D (uninterruptible: in the kernel's hands), nothing moved for far longer than before,
        and hardly a byte was read or written.

    What to do
        See whether the mount answers at all (ls, df); put the data on a local disk; write checkpoints locally and copy
        them later.

    Not to be confused with
        input-blocked (the program's own code waits), disk-full (writes fail, they do not hang).
    """
    view = stuck(run, "disk-stalled")
    if view is None:
        return no(never_stuck(run))
    task, stall = on_disk(view), view.snapshot
    on = task.on if task is not None else ""
    place = (users_line(task.frames) if isinstance(task, ThreadStack) else None) or view.blocked.place
    held = Evidence(f"a thread is held in the kernel (state D){f', at {on}' if on else ''}", (stall,))
    waited = Evidence(
        f"{stall.pressure.io or 0.0:.0f} % of the time somebody on this machine waited for a disk", (stall,)
    )
    return Finding(
        cause=f"The program waits for a file system that does not answer{f': {on}' if on else ''}.",
        confidence=Confidence.LIKELY,
        evidence=(since(view), held, waited, used(view), progress(run)),
        remedies=(Remedy(f"See whether the file system answers: ls {on or words.place(place)}"),),
        where=place or fit_place(run),
    )
