"""The card itself failed."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.memory import pids
from laststep.analysis.messages import ECHOES, Message, compiled, find_message
from laststep.analysis.progress import progress
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.untyped import untyped
from laststep.rules.rule import Answer, rule

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?(?P<bus>[\w:.]+)\): (?P<xid>\d+)(?P<rest>.*)")
# NVIDIA's list: those that the card, its memory, its links or its firmware cause; 13, 31, 43 and 45 are programs' own.
HARDWARE = {
    48: "an uncorrectable error in the card's memory (double-bit ECC)",
    61: "a fault of the card's firmware",
    62: "a fault of the card's firmware",
    63: "a row of the card's memory was replaced after an error",
    64: "a row of the card's memory could not be replaced",
    74: "a fault of the NVLink",
    79: "the card has fallen off the bus: power, heat, riser or the card itself",
    92: "many corrected errors in the card's memory",
    94: "an uncorrectable memory error, contained to this program",
    95: "an uncorrectable memory error, not contained",
    119: "the card's system processor does not answer",
    120: "the card's system processor failed",
    140: "an unrecovered ECC error",
}
_NONE = untyped(0.0, "limits", {})
_CUDA = compiled(r"CUDA_ERROR|CUDA error|cudaError|GPU:\d")
SAID = compiled(
    r"(?i)fallen off the bus",
    r"CUDA_ERROR_(?:ECC_UNCORRECTABLE|NVLINK_UNCORRECTABLE|HARDWARE_STACK_ERROR|CONTAINED)",
    r"(?i)uncorrectable (?:ECC|NVLink|memory) error|ECC error encountered",
    r"(?i)GPU is lost|Unable to determine the device handle for GPU",
    r"RmInitAdapter failed",
)


@rule(outranks=(*ECHOES, "cuda-kernel-failed", "gpu-libraries-unusable", "gpu-out-of-memory"))
def gpu_hardware_fault(run: Run) -> Answer:
    """The card itself failed: an Xid of the hardware kind, an uncorrectable memory error, a lost card.

    What happened
        The GPU, its memory, its link or its power failed. Every computation on it then ends with some CUDA
        error that names an innocent op.

    How laststep knows
        The driver's Xid lines in the kernel's log during the run, where that may be read, and CUDA's errors that
        only hardware causes. Xids that programs cause themselves (13, 31, 43, 45) do not count.

    What to do
        Take the card out of service and tell whoever runs the machine: `nvidia-smi -q -d ECC,ROW_REMAPPER`,
        `dcgmi diag -r 3`. A new start on another card is the quick way on.

    Not to be confused with
        cuda-kernel-failed (a program's own error), gpu-libraries-unusable.
    """
    line = _hardware_xid(run)
    message = find_message(run, *SAID)
    if line is None and message is None:
        return no("neither the driver nor CUDA spoke of a hardware fault")
    return Finding(
        cause=f"The GPU itself failed: {_what(line, message)}.",
        confidence=Confidence.CERTAIN,
        evidence=(*_evidence(line, message), progress(run)),
        remedies=(
            Remedy("See the card's own counters, and take it out of service", "nvidia-smi -q -d ECC,ROW_REMAPPER"),
            Remedy("Start again on another card", "CUDA_VISIBLE_DEVICES=1 python train.py", safe=True),
        ),
        where=message.where if message else None,
    )


def _hardware_xid(run: Run) -> tuple[Event, re.Match[str]] | None:
    for event in run.all("kernel"):
        found = _XID.search(str(event.get("line", "")))
        if found and int(found["xid"]) in HARDWARE and _is_about_us(run, found["rest"]):
            return event, found
    return None


def _is_about_us(run: Run, rest: str) -> bool:
    """The line names the process, or it names none and this run used a card."""
    named = re.search(r"pid=(\d+)", rest)
    if named and not run.is_log:
        return int(named[1]) in pids(run)
    return run.is_log or bool((run.first("limits") or _NONE).get("gpus")) or find_message(run, *_CUDA) is not None


def _what(line: tuple[Event, re.Match[str]] | None, message: Message | None) -> str:
    if line is not None:
        return f"Xid {line[1]['xid']}, {HARDWARE[int(line[1]['xid'])]}"
    return message.found[0] if message else ""


def _evidence(line: tuple[Event, re.Match[str]] | None, message: Message | None) -> list[Evidence]:
    found = [Evidence(f"the kernel's log: “{str(line[0].get('line'))[:160]}”", (line[0],))] if line else []
    return found + ([message.evidence] if message else [])
