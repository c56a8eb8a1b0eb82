"""Died of SIGBUS."""

from __future__ import annotations

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Remedy
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=("end",), outranks=("killed-by-signal",))
def bus_error(run: Run) -> Answer:
    """A page of a mapped file could not be had (SIGBUS).

    What happened
        The program read or wrote memory that stands for a file, and there was nothing behind it: the file
        was cut shorter while it was mapped (np.memmap, a data file rewritten during training), shared memory
        (/dev/shm) is full, or the disk could not deliver.

    How laststep knows
        The operating system reports SIGBUS. Python's stack then names the line that touched the memory.

    What to do
        Do not rewrite data files in place while they are being read: write a new file and rename it. In a
        container, give /dev/shm more room (docker run --shm-size=2g).

    Not to be confused with
        segmentation-fault (memory that was never there), disk-full (an error that Python can raise).
    """
    return died_of(
        run,
        7,
        "SIGBUS",
        "A page of a mapped file could not be had (bus error)",
        (
            Remedy("See whether shared memory is full", "df -h /dev/shm"),
            Remedy("Write data files anew and rename them, do not cut or rewrite them while they are read"),
        ),
    )
