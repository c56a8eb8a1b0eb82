"""Died of SIGBUS."""

from __future__ import annotations

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Remedy
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ECHO, follows=("crashed",))
def bus_error(run: Run) -> Answer:
    """A page of a memory-mapped file could not be accessed (SIGBUS).

    What happened
        The program accessed memory that is mapped to a file, and there was no data behind it: the file was
        truncated while it was mapped (np.memmap, a data file rewritten during training), shared memory
        (/dev/shm) is full, or the disk failed to deliver.

    How laststep knows
        The operating system reports SIGBUS. Python's stack names the line that accessed the memory.

    What to do
        Do not rewrite data files in place while they are being read: write a new file and rename it. In a
        container, enlarge /dev/shm (docker run --shm-size=2g).

    Not to be confused with
        segmentation-fault (an address that was never valid), disk-full (an error that Python can raise).
    """
    return died_of(
        run,
        7,
        "SIGBUS",
        "A page of a memory-mapped file could not be accessed (bus error)",
        (
            Remedy("Check whether shared memory is full", "df -h /dev/shm"),
            Remedy("Do not truncate or rewrite a data file while it is read: write a new one and rename it"),
        ),
    )
