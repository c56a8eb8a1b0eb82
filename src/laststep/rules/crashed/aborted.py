"""Died of SIGABRT."""

from __future__ import annotations

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Remedy
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ECHO, follows=("crashed",))
def aborted(run: Run) -> Answer:
    """The process aborted (SIGABRT): native code called abort().

    What happened
        Code in C or C++ called abort(): a failed check in TensorFlow ("Check failed: …"), an uncaught C++
        exception ("terminate called after throwing …"), the C library's heap check ("free(): invalid pointer"),
        or Python itself ("Fatal Python error").

    How laststep knows
        The operating system reports SIGABRT. The last message that the library printed is shown, with Python's
        stack at that moment.

    What to do
        The last message usually names the reason: follow it rather than the stack. A failed heap check ("double
        free", "corrupted") points at a native extension, or at two builds of one library in the same
        environment.

    Not to be confused with
        segmentation-fault (the kernel found the error, not the library), killed-by-signal (another process
        ended it).
    """
    return died_of(
        run,
        6,
        "SIGABRT",
        "The process aborted (SIGABRT)",
        (Remedy("Follow the last message above: it comes from the library that called abort()"),),
    )
