"""The disk or a quota was full."""

from __future__ import annotations

import os

from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import answer, compiled, find_message
from laststep.record.events.supervisor import Aftermath
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_size

_FULL = (
    r"(?i:No space left on device|Disk quota exceeded|There is not enough space on the disk|Kein Speicherplatz|"
    r"Aucun espace disponible|No queda espacio|Не осталось свободного места|设备上没有空间)"
)
MESSAGES = compiled(
    rf"(?P<file>/?[\w./~-]*/[\w.~-]+)[;:'\"]? ?(?:{_FULL})",
    rf"(?:{_FULL}|\[Errno (?:28|122)\][^\n:]*)(?:: ['\"](?P<file>[^'\"\n]+)['\"])?",
    r"name = '(?P<file>[^']+)', errno = (?:28|122)",
    r"\d+ requested and \d+ written|errno = 28|error message = 'No space left|Can't write data \(file write failed",
    r"(?:ResourceExhausted(?:Error)?|Resource exhausted)[^\n]*: (?P<file>/?\S*(?:tempstate|ckpt|\.tmp)\S*)",
    r"\[WinError 112\]|ENOSPC|EDQUOT",
)
_SHARED_MEMORY = compiled(r"/dev/shm|/psm_|shared memory|/torch_|/nccl-")


@rule()
def disk_full(run: Run) -> Answer:
    """The disk, or your quota on it, was full.

    What happened
        A checkpoint, a log, a cache or a temporary file could not be written. Checkpoints of every epoch, the
        profiler and dataset.cache("file") fill disks unnoticed; the quota of a home folder is reached long
        before the disk is full. TensorFlow may report it as RESOURCE_EXHAUSTED.

    How laststep knows
        The operating system's error (ENOSPC, EDQUOT), and the free space on the disks at the end.

    What to do
        Free some space. Then keep only the best checkpoint (save_best_only=True) or the last few
        (tf.train.CheckpointManager(max_to_keep=3)). A file that was being written is truncated: do not use it.

    Not to be confused with
        shared-memory-full (/dev/shm is memory, not disk), gpu-out-of-memory (RESOURCE_EXHAUSTED on a device).
    """
    message = find_message(run, *MESSAGES)
    if message is not None and _SHARED_MEMORY[0].search(message.quote):
        message = None
    file = message.get("file") if message else ""
    return answer(
        run,
        message,
        "no message says that a disk was full",
        cause=f"The disk was full{f' when {file} was written' if file else ''}.",
        remedies=(
            Remedy(
                "Find out what is full, and what fills it", f"df -h {os.path.dirname(file) or '.'}; du -sh *", safe=True
            ),
            *_fewer_checkpoints(run, file),
        ),
        more=_free_space(run),
    )


def _free_space(run: Run) -> tuple[Evidence, ...]:
    after = run.last(Aftermath)
    if after is None:
        return ()
    free = [f"{format_size(disk.free)} free in {disk.path}" for disk in after.disks if disk.free is not None]
    return (Evidence("after the end: " + ", ".join(free), (after,)),) if free else ()


def _fewer_checkpoints(run: Run, file: str) -> tuple[Remedy, ...]:
    """Where it was a checkpoint that could not be written."""
    saver = next(
        (each for each in (run.fit.began.callbacks if run.fit else ()) if "ModelCheckpoint" in each.class_name), None
    )
    if saver is not None:
        does = "Keep one checkpoint instead of one per epoch: a path without {epoch}"
        return (Remedy(f"{does}, or only the best", "save_best_only=True", saver.made_at),)
    if "ckpt" in file or ".tempstate" in file:
        return (Remedy("Keep the last few checkpoints only, with a CheckpointManager or Saver", "max_to_keep=3"),)
    return ()
