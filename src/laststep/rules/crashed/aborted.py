"""Died of SIGABRT."""

from __future__ import annotations

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Remedy
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=("end",), outranks=("killed-by-signal",))
def aborted(run: Run) -> Answer:
    """A native library found itself in an impossible state and gave up (SIGABRT).

    What happened
        Code in C or C++ called abort(): a failed check in TensorFlow ("Check failed: …"), a C++ exception
        that nobody caught ("terminate called after throwing …"), the C library's heap check ("free(): invalid
        pointer"), or Python itself ("Fatal Python error").

    How laststep knows
        The operating system reports SIGABRT. What the library printed before is on the console and is shown,
        with Python's stack at that moment.

    What to do
        The last words usually name the reason: follow them, not the stack. A heap check that fails ("double
        free", "corrupted") points at a native extension or at two builds of one library in the same
        environment.

    Not to be confused with
        segmentation-fault (nobody noticed before the kernel did), killed-by-signal (somebody else ended it).
    """
    return died_of(
        run,
        6,
        "SIGABRT",
        "A native library gave up (abort)",
        (Remedy("Follow the last words above; they come from the library that gave up"),),
    )
