"""/dev/shm was full."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.fatal import place_of_fault
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.messages import ECHOES, Message, answer, compiled, find_message
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.signals import killed_with
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"No space left on device: ['\"]/(?:dev/shm/|psm_|torch_|nccl-|[\w-]*shm)[^'\"]*['\"]",
    r"(?:/dev/shm|shared memory)[^\n]*(?:No space left|Cannot allocate memory|not enough|insufficient|Bus error)",
    r"(?:insufficient shared memory|out of shared memory|Unexpected bus error[^\n]*shm)",
    r"(?:Error|Failed)[^\n]*(?:shared memory segment|shm_open|shm file)[^\n]*",
    r"\[Errno 28\][^\n]*(?:/dev/shm|/psm_|shared_memory)",
    r"unable to (?:open|write|resize|allocate) shared memory|ftruncate failed[^\n]*shm",
)
TINY = 16e6
CAUSE = "Shared memory (/dev/shm) was full."
REMEDIES = (
    Remedy("Give the container more of it", "docker run --shm-size=8g …", safe=True),
    Remedy("See how much there is and what lies in it", "df -h /dev/shm; ls -la /dev/shm", safe=True),
)
_FULL = compiled(r"\[Errno (?:28|12)\][^\n]*")
_IN_SHARED_MEMORY = ("shared_memory.py", "multiprocessing/heap.py", "multiprocessing/synchronize.py")


@rule(outranks=(*ECHOES, "disk-full", "bus-error", "host-allocation-failed"))
def shared_memory_full(run: Run) -> Answer:
    """Shared memory (/dev/shm) was full.

    What happened
        Processes that hand arrays to each other do it through /dev/shm, a filesystem in memory. A container has
        64 MB of it unless told otherwise, which a few worker processes fill with one batch each. Python then says
        "No space left on device", NCCL fails to make its segment, or the process dies of a bus error.

    How laststep knows
        The error names /dev/shm or a segment of shared memory, or was raised in Python's shared_memory module.

    What to do
        Give the container more: docker run --shm-size=8g, or in Kubernetes an emptyDir with medium: Memory mounted
        at /dev/shm. Fewer workers and smaller queues need less. Segments of dead programs stay: ls /dev/shm.

    Not to be confused with
        disk-full (a real disk), bus-error (a mapped file that was cut), host-out-of-memory.
    """
    message = find_message(run, *SAID) or _raised_there(run)
    shown = _full_when_it_died(run) if message is None else None
    if shown is not None:
        return Finding(
            CAUSE, Confidence.LIKELY, (shown, progress(run)), REMEDIES, place_of_fault(run) or fit_place(run)
        )
    return answer(
        run,
        message,
        "nothing said that shared memory was full",
        cause=CAUSE,
        remedies=REMEDIES,
    )


def _full_when_it_died(run: Run) -> Evidence | None:
    """A bus error, and a /dev/shm that was well filled in the last sample or can hold next to nothing."""
    shm = (run.samples[-1].get("shm") or {}) if run.samples else {}
    if not killed_with(run, 7, "SIGBUS") or not shm.get("total"):
        return None
    used = shm["total"] - shm["free"]
    if used < 0.5 * shm["total"] and shm["total"] > TINY:
        return None
    told = (
        f"it died of SIGBUS, and of /dev/shm's {words.size(shm['total'])} it had filled {words.size(used)} a "
        f"moment before"
    )
    return Evidence(told, tuple(run.all("end")[-1:]))


def _raised_there(run: Run) -> Message | None:
    """ENOSPC out of Python's own shared memory, whose segments have names of any kind."""
    full = find_message(run, *_FULL, console=False)
    frames = full.event.get("frames", []) if full is not None and full.event is not None else []
    return full if any(str(frame.get("file", "")).endswith(_IN_SHARED_MEMORY) for frame in frames) else None
