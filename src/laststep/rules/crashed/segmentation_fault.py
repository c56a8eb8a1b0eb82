"""Died of SIGSEGV."""

from __future__ import annotations

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Remedy
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ECHO, follows=("crashed",))
def segmentation_fault(run: Run) -> Answer:
    """Native code accessed invalid memory, and the kernel ended the process (SIGSEGV).

    What happened
        A library written in C or C++ (TensorFlow, NumPy, a decoder, an extension of your own) read or wrote
        outside its memory. Python cannot raise an error for that: the process ends at once, often without a
        message.

    How laststep knows
        The operating system reports SIGSEGV. faulthandler records Python's stack at that moment, and the
        kernel's log, where it can be read, names the library in which it happened.

    What to do
        Check the Python line first: it shows which call went into native code. Then the library. Typical
        causes: two packages that bring different builds of the same library (run `pip check`, make a fresh
        environment), an extension built for another NumPy, a stack overflow by endless recursion in C, a custom
        op. If it happens at random in unrelated places, test the machine's memory.

    Not to be confused with
        aborted (a library detected the error itself and called abort), bus-error (a mapped file that was
        truncated, a full /dev/shm), host-out-of-memory (SIGKILL, never SIGSEGV).
    """
    return died_of(
        run,
        11,
        "SIGSEGV",
        "Native code accessed invalid memory (segmentation fault)",
        (
            Remedy("Check that no two packages bring different builds of the same library", "pip check"),
            Remedy(
                "Get the native stack too: run it once under gdb",
                f"gdb -ex run -ex bt --args {' '.join(run.command) or 'python train.py'}",
            ),
        ),
    )
