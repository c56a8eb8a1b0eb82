"""The file system does not respond."""

from __future__ import annotations

from laststep.analysis.finding import Evidence, Finding, Remedy, no
from laststep.analysis.hang import how_sure
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stall import never_stuck, on_disk, since, stuck, used
from laststep.record.events.shared import users_line
from laststep.record.events.stacks import ThreadStack
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_place


@rule(tier=Tier.ROOT, sees=("inside", "attached"))
def disk_stalled(run: Run) -> Answer:
    """The file system does not respond: a read or a write does not return.

    What happened
        A read or a write does not return: the disk is overloaded or failing, or a network file system (NFS, Lustre, a
        FUSE mount of a bucket) has lost its server. The process cannot even be interrupted meanwhile.

    How laststep knows
        A thread is in state D (uninterruptible sleep in the kernel), there was no progress for far longer than
        before, and almost nothing was read or written.

    What to do
        Check whether the mount responds at all (ls, df). Put the data on a local disk. Write checkpoints locally and
        copy them later.

    Not to be confused with
        input-blocked (the program's own code waits), disk-full (writes fail; they do not hang).
    """
    view = stuck(run, "disk-stalled")
    if view is None:
        return no(never_stuck(run))
    task, stall = on_disk(view), view.snapshot
    on = task.on if task is not None else ""
    place = (users_line(task.frames) if isinstance(task, ThreadStack) else None) or view.blocked.place
    sleeps = f"a thread is in uninterruptible sleep in the kernel (state D){f', on {on}' if on else ''}"
    waited = f"tasks on this machine waited for I/O {stall.pressure.io or 0.0:.0f}% of the time"
    return Finding(
        cause=f"The program waits for a file system that does not respond{f': {on}' if on else ''}.",
        confidence=how_sure(view),
        evidence=(since(view), Evidence(sleeps, (stall,)), Evidence(waited, (stall,)), used(view), progress(run)),
        remedies=(Remedy(f"Check whether the file system responds: ls {on or format_place(place)}"),),
        where=place or fit_place(run),
    )
