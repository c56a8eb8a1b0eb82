"""A computation on the GPU failed."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import ECHOES, Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

FAILED = compiled(
    r"CUDA_ERROR_(?P<error>ILLEGAL_ADDRESS|LAUNCH_FAILED|LAUNCH_TIMEOUT|ASSERT|MISALIGNED_ADDRESS|ILLEGAL_INSTRUCTION|"
    r"INVALID_ADDRESS_SPACE|INVALID_PC|LAUNCH_OUT_OF_RESOURCES)",
    r"(?P<error>device-side assert triggered|an illegal memory access was encountered|unspecified launch failure|"
    r"misaligned address|the launch timed out and was terminated|an illegal instruction was encountered)",
    r"(?:CUDNN|CUBLAS|CUSOLVER|CUSPARSE)_STATUS_(?P<error>EXECUTION_FAILED|MAPPING_ERROR)",
    r"Non-OK-status: GpuLaunchKernel",
    r"(?:Failed to launch|failed to enqueue|Failed to synchronize|Could not synchronize)[^\n]*(?:CUDA|cuda|"
    r"stream|GPU)",
    r"NVRM: Xid \([^)]*\): (?:13|31|43|45)\b",
    r"GPU sync failed|Unexpected Event status: \d+",
    r"(?i)cud\w* (?:error|failure)[^\n]*launch failure|launch failure",
)
MEANINGS = {
    "ILLEGAL_ADDRESS": "a kernel touched memory that is not its own",
    "an illegal memory access was encountered": "a kernel touched memory that is not its own",
    "ASSERT": "a check inside a kernel failed, most often an index or a label out of range",
    "device-side assert triggered": "a check inside a kernel failed, most often an index or a label out of range",
    "LAUNCH_TIMEOUT": "a kernel ran longer than the display driver allows",
    "the launch timed out and was terminated": "a kernel ran longer than the display driver allows",
    "LAUNCH_OUT_OF_RESOURCES": "a kernel wanted more registers or threads than the card has",
}
LABELS = Remedy(
    "See whether an index or a label is out of range: the CPU says which one", "CUDA_VISIBLE_DEVICES=-1 python train.py"
)
BLOCKING = Remedy(
    "See which op it was: run it once with every launch waited for", "CUDA_LAUNCH_BLOCKING=1 python train.py", safe=True
)


@rule(outranks=(*ECHOES, "gpu-libraries-unusable"))
def cuda_kernel_failed(run: Run) -> Answer:
    """A computation on the GPU failed: a launch failure, an illegal address, an assert on the device.

    What happened
        A kernel that was already running on the card failed. The card works asynchronously, so the error shows
        itself later, in an op that has nothing to do with it, and all that follows fails too.

    How laststep knows
        CUDA's own error, in the exception or on the console. Its name says what kind of failure it was; the
        op that is named is the one that noticed.

    What to do
        Run once with CUDA_LAUNCH_BLOCKING=1, which makes the op that is named the right one. An assert is mostly
        an index or a label out of range: the CPU gives a clear message for it. If it comes at random places,
        look for Xid lines in the kernel's log.

    Not to be confused with
        gpu-out-of-memory (no memory), gpu-hardware-fault (the card itself), gpu-libraries-unusable (CUDA could
        not start at all).
    """
    message = find_message(run, *FAILED)
    meaning = MEANINGS.get(message.get("error")) if message else None
    return answer(
        run,
        message,
        "no error of a computation on the GPU was seen",
        cause=f"A computation on the GPU failed{': ' + meaning if meaning else _what(message)}.",
        remedies=(LABELS, BLOCKING) if meaning and "label" in meaning else (BLOCKING, LABELS),
    )


def _what(message: Message | None) -> str:
    error = message.get("error") if message else ""
    return f" ({error})" if error else ""
