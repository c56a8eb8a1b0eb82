"""Shared memory was full."""

from __future__ import annotations

from laststep.analysis.fatal import place_of_fault
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.signals import killed_with
from laststep.record.events.supervisor import ProcessEnd
from laststep.record.run import Run
from laststep.record.sample import DiskSpace
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_size

MESSAGES = compiled(
    r"No space left on device: ['\"]/(?:dev/shm/|psm_|torch_|nccl-|[\w-]*shm)[^'\"]*['\"]",
    r"(?:/dev/shm|shared memory)[^\n]*(?:No space left|Cannot allocate memory|not enough|insufficient|Bus error)",
    r"(?:insufficient shared memory|out of shared memory|Unexpected bus error[^\n]*shm)",
    r"(?:Error|Failed)[^\n]*(?:shared memory segment|shm_open|shm file)[^\n]*",
    r"\[Errno 28\][^\n]*(?:/dev/shm|/psm_|shared_memory)",
    r"unable to (?:open|write|resize|allocate) shared memory|ftruncate failed[^\n]*shm",
)
MIN_SHM_BYTES = 16e6  # a smaller one is too small for workers, however much of it is free
MIN_FILLED_SHARE = 0.5  # in the last sample: the segment that did not fit is not counted
CAUSE = "Shared memory (/dev/shm) was full."
REMEDIES = (
    Remedy("Enlarge it for the container", "docker run --shm-size=8g …", safe=True),
    Remedy("Check its size and what is in it", "df -h /dev/shm; ls -la /dev/shm", safe=True),
)
_FULL = compiled(r"\[Errno (?:28|12)\][^\n]*")
_IN_SHARED_MEMORY = ("shared_memory.py", "multiprocessing/heap.py", "multiprocessing/synchronize.py")


@rule(tier=Tier.ROOT)
def shared_memory_full(run: Run) -> Answer:
    """Shared memory (/dev/shm) was full.

    What happened
        Processes pass arrays to each other through /dev/shm, a filesystem in memory. A container has 64 MB of
        it by default, which a few worker processes fill with one batch each. Python then raises "No space left
        on device", NCCL fails to create its segment, or the process dies of a bus error.

    How laststep knows
        The error names /dev/shm or a segment of shared memory, or was raised in Python's shared_memory module.
        Or the process died of SIGBUS, and in the last sample /dev/shm was filled.

    What to do
        Enlarge it: docker run --shm-size=8g, or in Kubernetes an emptyDir with medium: Memory mounted at
        /dev/shm. Fewer workers and smaller queues need less. Segments of dead programs remain: ls /dev/shm.

    Not to be confused with
        disk-full (a real disk), bus-error (a mapped file that was truncated), host-out-of-memory.
    """
    message = find_message(run, *MESSAGES) or _raised_there(run)
    sampled = _full_when_it_died(run) if message is None else None
    if sampled is not None:
        where = place_of_fault(run) or fit_place(run)
        return Finding(CAUSE, Confidence.LIKELY, (sampled, progress(run)), REMEDIES, where)
    return answer(
        run,
        message,
        "no message says that shared memory was full",
        cause=CAUSE,
        remedies=REMEDIES,
    )


def _full_when_it_died(run: Run) -> Evidence | None:
    """A bus error, and a /dev/shm that was filled in the last sample or is very small."""
    shm: DiskSpace | None = run.samples[-1].shm if run.samples else None
    if not killed_with(run, 7, "SIGBUS") or shm is None or shm.free is None or not shm.total:
        return None
    used = shm.total - shm.free
    if used < MIN_FILLED_SHARE * shm.total and shm.total > MIN_SHM_BYTES:
        return None
    filled = f"{format_size(used)} of {format_size(shm.total)} were in use"
    return Evidence(
        f"the process died of SIGBUS; in the last sample {filled} in /dev/shm", tuple(run.all(ProcessEnd)[-1:])
    )


def _raised_there(run: Run) -> Message | None:
    """ENOSPC from Python's own shared memory, whose segments may have any name."""
    full = find_message(run, *_FULL, console=False)
    frames = full.event.frames if full is not None and full.event is not None else ()
    return full if any(frame.file.endswith(_IN_SHARED_MEMORY) for frame in frames) else None
