"""The disk, or the share of it that is allowed, was full."""

from __future__ import annotations

import os

from laststep import text as words
from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import ECHOES, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_FULL = (
    r"(?i:No space left on device|Disk quota exceeded|There is not enough space on the disk|Kein Speicherplatz|"
    r"Aucun espace disponible|No queda espacio|Не осталось свободного места|设备上没有空间)"
)
SAID = compiled(
    rf"(?P<file>/?[\w./~-]*/[\w.~-]+)[;:'\"]? ?(?:{_FULL})",
    rf"(?:{_FULL}|\[Errno (?:28|122)\][^\n:]*)(?:: ['\"](?P<file>[^'\"\n]+)['\"])?",
    r"name = '(?P<file>[^']+)', errno = (?:28|122)",
    r"\d+ requested and \d+ written|errno = 28|error message = 'No space left|Can't write data \(file write failed",
    r"(?:ResourceExhausted(?:Error)?|Resource exhausted)[^\n]*: (?P<file>/?\S*(?:tempstate|ckpt|\.tmp)\S*)",
    r"\[WinError 112\]|ENOSPC|EDQUOT",
)
_SHARED_MEMORY = compiled(r"/dev/shm|/psm_|shared memory|/torch_|/nccl-")


@rule(outranks=(*ECHOES, "corrupt-record", "gpu-out-of-memory", "host-allocation-failed"))
def disk_full(run: Run) -> Answer:
    """The disk, or the share of it that you may use, was full.

    What happened
        A checkpoint, a log, a cache or a temporary file could not be written. Checkpoints of every epoch, the
        profiler, and dataset.cache("file") fill disks quietly; a home folder's quota is full long before the
        disk is. TensorFlow may call it RESOURCE_EXHAUSTED.

    How laststep knows
        The operating system's error (ENOSPC, EDQUOT), and what was free on the disks at the end.

    What to do
        Make room, then keep only the best checkpoint (save_best_only=True) or the last few
        (tf.train.CheckpointManager(max_to_keep=3)). A file that was being written is cut: do not trust it.

    Not to be confused with
        shared-memory-full (/dev/shm is memory, not disk), gpu-out-of-memory (RESOURCE_EXHAUSTED on a device).
    """
    message = find_message(run, *SAID)
    if message is not None and _SHARED_MEMORY[0].search(message.quote):
        message = None
    file = message.get("file") if message else ""
    return answer(
        run,
        message,
        "nothing said that a disk was full",
        cause=f"The disk was full{f' when {file} was written' if file else ''}.",
        remedies=(
            Remedy("See what is full, and what fills it", f"df -h {os.path.dirname(file) or '.'}; du -sh *", safe=True),
            Remedy("Keep one checkpoint, not one of each epoch", "ModelCheckpoint(path, save_best_only=True)"),
        ),
        more=_free(run),
    )


def _free(run: Run) -> tuple[Evidence, ...]:
    after = run.last("aftermath")
    disks = [disk for disk in (after.get("disks") or []) if disk.get("free") is not None] if after else []
    told = [f"{words.size(disk['free'])} free in {disk.get('folder') or disk.get('path')}" for disk in disks]
    return (Evidence("after the end: " + ", ".join(told), (after,)),) if told and after else ()
