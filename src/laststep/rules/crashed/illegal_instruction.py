"""Died of SIGILL."""

from __future__ import annotations

import dataclasses

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Evidence, Finding, Remedy
from laststep.analysis.messages import answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.supervisor.host import FEATURES

_COMPILED_FOR = compiled(
    r"compiled to use (?P<needs>[\w., ]+?) instructions, but these aren't available",
    r"(?i)requires? a (?:CPU|processor) with (?P<needs>AVX\w*|SSE[\w.]*|FMA)|(?:CPU|processor) does not support "
    r"(?P<lacks>AVX\w*|SSE[\w.]*|FMA)",
)


@rule(outranks=("killed-by-signal", "aborted"))
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
    told = find_message(run, *_COMPILED_FOR)
    if told is not None and (run.signal in ("SIGILL", "SIGABRT") or told.event is not None):
        lacks = told.get("needs") or told.get("lacks")
        return answer(
            run,
            told,
            "",
            cause=f"TensorFlow was built to use {lacks} instructions, which this processor does not have.",
            remedies=(
                Remedy("Use a build for this processor: another wheel, conda-forge, or one of your own"),
                Remedy("In a virtual machine or an emulator, pass the host's processor through", "qemu … -cpu host"),
            ),
        )
    found = died_of(
        run,
        4,
        "SIGILL",
        "The processor met an instruction that it does not have",
        (Remedy("See what this processor can do", "grep -m1 flags /proc/cpuinfo"),),
    )
    more = _lacks(run)
    if isinstance(found, Finding) and more is not None:
        return dataclasses.replace(found, evidence=(*found.evidence, more))
    return found


def _lacks(run: Run) -> Evidence | None:
    limits = next((event for event in run.all("limits") if event.get("processor")), None)
    if limits is None:
        return None
    processor = limits.get("processor")
    lacking = [name for name in FEATURES if name not in processor["has"]]
    told = f"lacks {', '.join(lacking)}" if lacking else f"has {', '.join(processor['has'])}: look for what is newer"
    return Evidence(f"this processor ({processor['model']}) {told}", (limits,))
