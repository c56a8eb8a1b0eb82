"""Died of SIGILL."""

from __future__ import annotations

import dataclasses

from laststep.analysis.fatal import died_of
from laststep.analysis.finding import Evidence, Finding, Remedy
from laststep.analysis.messages import answer, compiled, find_message
from laststep.record.events.supervisor import Limits
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.supervisor.host import FEATURES

_COMPILED_FOR = compiled(
    r"compiled to use (?P<needs>[\w., ]+?) instructions, but these aren't available",
    r"(?i)requires? a (?:CPU|processor) with (?P<needs>AVX\w*|SSE[\w.]*|FMA)|(?:CPU|processor) does not support "
    r"(?P<lacks>AVX\w*|SSE[\w.]*|FMA)",
)


@rule()
def illegal_instruction(run: Run) -> Answer:
    """The program used an instruction that this processor does not support (SIGILL).

    What happened
        A library was built for a newer processor: TensorFlow's wheels need AVX, some need more. It also happens
        in virtual machines that hide features of their host's processor.

    How laststep knows
        The operating system reports SIGILL. Python's stack shows whether it was the import of a library or a
        computation.

    What to do
        Compare the processor (`grep flags /proc/cpuinfo`, look for avx, avx2, avx512f) with what the package
        was built for. Use a build for this machine, or pass the host's processor through to the virtual
        machine.

    Not to be confused with
        segmentation-fault and aborted, which do not depend on the processor's model.
    """
    message = find_message(run, *_COMPILED_FOR)
    if message is not None and (run.signal in ("SIGILL", "SIGABRT") or message.event is not None):
        needs = message.get("needs") or message.get("lacks")
        return answer(
            run,
            message,
            "",
            cause=f"TensorFlow was built to use {needs} instructions, which this processor does not support.",
            remedies=(
                Remedy("Use a build for this processor: another wheel, conda-forge, or one of your own"),
                Remedy("In a virtual machine or an emulator, pass the host's processor through", "qemu … -cpu host"),
            ),
        )
    found = died_of(
        run,
        4,
        "SIGILL",
        "The program used an instruction that this processor does not support",
        (Remedy("Check what this processor supports", "grep -m1 flags /proc/cpuinfo"),),
    )
    more = _features(run)
    if isinstance(found, Finding) and more is not None:
        return dataclasses.replace(found, evidence=(*found.evidence, more))
    return found


def _features(run: Run) -> Evidence | None:
    for limits in run.all(Limits):
        if limits.processor is not None:
            model, has = limits.processor.model, limits.processor.has
            lacking = [name for name in FEATURES if name not in has]
            features = f"lacks {', '.join(lacking)}" if lacking else f"has {', '.join(has)}"
            return Evidence(f"this processor ({model}) {features}", (limits,))
    return None
