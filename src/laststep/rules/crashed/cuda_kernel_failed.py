"""A CUDA kernel failed."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

MESSAGES = compiled(
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
    "ILLEGAL_ADDRESS": "it accessed invalid memory",
    "an illegal memory access was encountered": "it accessed invalid memory",
    "ASSERT": "an assertion in it failed, most often an index or a label out of range",
    "device-side assert triggered": "an assertion in it failed, most often an index or a label out of range",
    "LAUNCH_TIMEOUT": "it ran longer than the display driver allows",
    "the launch timed out and was terminated": "it ran longer than the display driver allows",
    "LAUNCH_OUT_OF_RESOURCES": "it needed more registers or threads than the GPU has",
}
LABELS = Remedy(
    "Check for an index or a label out of range: on the CPU, the error message contains its value",
    "CUDA_VISIBLE_DEVICES=-1 python train.py",
)
BLOCKING = Remedy(
    "Find the op that failed: run once with synchronous kernel launches",
    "CUDA_LAUNCH_BLOCKING=1 python train.py",
    safe=True,
)


@rule()
def cuda_kernel_failed(run: Run) -> Answer:
    """A CUDA kernel failed: a launch failure, an illegal address, an assertion on the device.

    What happened
        A kernel that was already running on the GPU failed. The GPU works asynchronously, so the error is
        reported later, in an unrelated op, and every op after it fails too.

    How laststep knows
        CUDA's own error, in the exception or on the console. Its name gives the kind of failure; the op that is
        named is only the one that ran when the error was reported.

    What to do
        Run once with CUDA_LAUNCH_BLOCKING=1: then the op that is named is the one that failed. A failed
        assertion is most often an index or a label out of range, for which the CPU gives a clear message. If it
        occurs at random places, look for Xid lines in the kernel's log.

    Not to be confused with
        gpu-out-of-memory (no memory), gpu-hardware-fault (the GPU itself), gpu-libraries-unusable (CUDA could
        not start at all).
    """
    message = find_message(run, *MESSAGES)
    meaning = MEANINGS.get(message.get("error")) if message else None
    return answer(
        run,
        message,
        "no CUDA kernel failed",
        cause=f"A CUDA kernel failed{': ' + meaning if meaning else _error_name(message)}.",
        remedies=(LABELS, BLOCKING) if meaning and "label" in meaning else (BLOCKING, LABELS),
    )


def _error_name(message: Message | None) -> str:
    error = message.get("error") if message else ""
    return f" ({error})" if error else ""
