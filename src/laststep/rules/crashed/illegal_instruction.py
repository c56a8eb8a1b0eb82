"""Died of SIGILL."""

from __future__ import annotations

from laststep.finding import Remedy
from laststep.rule import Answer, rule
from laststep.rules._fatal import died_of
from laststep.run import Run


@rule(needs=("end",), outranks=("killed-by-signal",))
def illegal_instruction(run: Run) -> Answer:
    """The processor met an instruction that it does not have (SIGILL).

    What happened
        A library was built for a newer processor than this one: TensorFlow's wheels need AVX, some need more.
        It also happens in virtual machines that hide what their host can do.

    How laststep knows
        The operating system reports SIGILL. Python's stack then says whether it was the import of a library or
        a computation.

    What to do
        Compare the processor (`grep flags /proc/cpuinfo`, look for avx, avx2, avx512f) with what the package
        was built for. Use a build for this machine, or let the virtual machine pass the host's processor
        through.

    Not to be confused with
        segmentation-fault and aborted, which do not depend on the processor's model.
    """
    return died_of(
        run,
        4,
        "SIGILL",
        "The processor met an instruction that it does not have",
        (Remedy("See what this processor can do", "grep -m1 flags /proc/cpuinfo"),),
    )
