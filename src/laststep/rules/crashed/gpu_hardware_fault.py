"""The GPU itself failed."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.memory import pids
from laststep.analysis.messages import Message, compiled, find_message
from laststep.analysis.progress import progress
from laststep.record.events.supervisor import KernelLine, Limits
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

Xid = tuple[KernelLine, re.Match[str]]

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?(?P<bus>[\w:.]+)\): (?P<xid>\d+)(?P<rest>.*)")
# NVIDIA's list: those that the GPU, its memory, its links or its firmware cause; programs cause 13, 31, 43 and 45.
HARDWARE = {
    48: "an uncorrectable error in GPU memory (double-bit ECC)",
    61: "a fault of the GPU's firmware",
    62: "a fault of the GPU's firmware",
    63: "a row of GPU memory was remapped after an error",
    64: "a row of GPU memory could not be remapped",
    74: "an NVLink error",
    79: "the GPU has fallen off the bus (power, heat, the riser or the GPU itself)",
    92: "a high rate of corrected errors in GPU memory",
    94: "an uncorrectable memory error, contained to this program",
    95: "an uncorrectable memory error, not contained",
    119: "the GPU system processor (GSP) does not respond",
    120: "the GPU system processor (GSP) failed",
    140: "an unrecovered ECC error",
}
_USES_CUDA = compiled(r"CUDA_ERROR|CUDA error|cudaError|GPU:\d")
MESSAGES = compiled(
    r"(?i)fallen off the bus",
    r"CUDA_ERROR_(?:ECC_UNCORRECTABLE|NVLINK_UNCORRECTABLE|HARDWARE_STACK_ERROR|CONTAINED)",
    r"(?i)uncorrectable (?:ECC|NVLink|memory) error|ECC error encountered",
    r"(?i)GPU is lost|Unable to determine the device handle for GPU",
    r"RmInitAdapter failed",
)


@rule(tier=Tier.ROOT)
def gpu_hardware_fault(run: Run) -> Answer:
    """The GPU itself failed: a hardware Xid, an uncorrectable memory error, a lost GPU.

    What happened
        The GPU, its memory, its link or its power supply failed. Every computation on it then ends with some
        CUDA error that names an unrelated op.

    How laststep knows
        The driver's Xid lines in the kernel's log during the run, where that log can be read, and CUDA errors
        that only hardware causes. Xids that programs cause themselves (13, 31, 43, 45) do not count.

    What to do
        Take the GPU out of service and tell the administrator: `nvidia-smi -q -d ECC,ROW_REMAPPER`, `dcgmi diag
        -r 3`. To continue at once, restart on another GPU.

    Not to be confused with
        cuda-kernel-failed (an error in a program), gpu-libraries-unusable.
    """
    line = _hardware_xid(run)
    message = find_message(run, *MESSAGES)
    if line is None and message is None:
        return no("neither the driver nor CUDA reported a hardware fault")
    return Finding(
        cause=f"The GPU itself failed: {_fault(line, message)}.",
        confidence=Confidence.CERTAIN,
        evidence=(*_evidence(line, message), progress(run)),
        remedies=(
            Remedy("Check the GPU's error counters, and take it out of service", "nvidia-smi -q -d ECC,ROW_REMAPPER"),
            Remedy("Restart on another GPU", "CUDA_VISIBLE_DEVICES=1 python train.py", safe=True),
        ),
        where=message.where if message else None,
    )


def _hardware_xid(run: Run) -> Xid | None:
    for event in run.all(KernelLine):
        found = _XID.search(event.line)
        if found and int(found["xid"]) in HARDWARE and _is_about_this_run(run, found["rest"]):
            return event, found
    return None


def _is_about_this_run(run: Run, rest: str) -> bool:
    """The line names this process, or it names none and this run used a GPU."""
    named = re.search(r"pid=(\d+)", rest)
    if named and not run.is_log:
        return int(named[1]) in pids(run)
    limits = run.first(Limits)
    return run.is_log or (limits is not None and bool(limits.gpus)) or find_message(run, *_USES_CUDA) is not None


def _fault(line: Xid | None, message: Message | None) -> str:
    if line is not None:
        return f"Xid {line[1]['xid']}, {HARDWARE[int(line[1]['xid'])]}"
    return message.found[0] if message else ""


def _evidence(line: Xid | None, message: Message | None) -> list[Evidence]:
    found = [Evidence(f"the kernel's log: “{line[0].line[:160]}”", (line[0],))] if line else []
    return found + ([message.evidence] if message else [])
