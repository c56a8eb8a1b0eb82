"""Died of SIGSEGV."""

from __future__ import annotations

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Remedy
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=("end",), outranks=("killed-by-signal",))
def segmentation_fault(run: Run) -> Answer:
    """Native code touched memory that is not its own, and the kernel ended the process.

    What happened
        A library written in C or C++ (TensorFlow, NumPy, a decoder, an extension of your own) read or wrote
        outside its memory. Python cannot raise an error for that: the process is gone at once, often without
        a word.

    How laststep knows
        The operating system reports SIGSEGV. Python's stack at that instant is kept by faulthandler, and the
        kernel's log, where it can be read, names the library in whose code it happened.

    What to do
        Look at the Python line first: it says which call went into native code. Then at the library. Typical:
        two packages that bring different builds of the same library (run `pip check`, make a fresh
        environment), an extension built for another NumPy, a stack overflow by endless recursion in C, a custom
        op. If it happens at random in unrelated places, test the memory of the machine.

    Not to be confused with
        aborted (a library noticed trouble itself and gave up), bus-error (a mapped file that shrank, /dev/shm
        that is full), host-out-of-memory (SIGKILL, never SIGSEGV).
    """
    return died_of(
        run,
        11,
        "SIGSEGV",
        "Native code touched memory that is not its own (segmentation fault)",
        (
            Remedy("Make sure that no two packages bring different builds of the same library", "pip check"),
            Remedy(
                "See the native stack too: run it once under gdb",
                f"gdb -ex run -ex bt --args {' '.join(run.command) or 'python train.py'}",
            ),
        ),
    )
