"""No more files could be opened."""

from __future__ import annotations

import re

from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

MESSAGES = compiled(
    r"(?:\[Errno (?:24|23)\] )?(?:Too many open files|Zu viele offene Dateien|Trop de fichiers ouverts|"
    r"Demasiados archivos abiertos|打开的文件过多)(?: in system)?(?:: ['\"](?P<file>[^'\"\n]+)['\"])?",
    r"\[Errno (?:24|23)\]|errno = 24|EMFILE|ENFILE",
)


@rule(tier=Tier.ROOT, follows=("handles-growing",))
def too_many_open_files(run: Run) -> Answer:
    """The process reached its limit of open files and sockets.

    What happened
        Each process may have a limited number of files, pipes and sockets open (ulimit -n, often 1,024). A
        generator that opens a file for each sample and does not close it, worker processes, or many shards read
        at once reach it after a while. The error then comes from an unrelated place.

    How laststep knows
        The operating system's error (EMFILE, ENFILE), and the number of open files in the last samples.

    What to do
        Close what is opened: `with open(...)`, np.load in a with statement. Where many files are really needed
        at once, raise the limit: `ulimit -n 65536` before the start.

    Not to be confused with
        missing-file and corrupt-record, which name the file that could not be opened.
    """
    message = find_message(run, *MESSAGES)
    file = message.get("file") if message else ""
    return answer(
        run,
        message,
        "the limit of open files was not reached",
        cause=f"The process reached its limit of open files{f' when it opened {file}' if file else ''}.",
        remedies=(
            _close(message),
            Remedy("Or raise the limit before the start", "ulimit -n 65536", safe=True),
        ),
        more=_open_files(run),
    )


def _open_files(run: Run) -> tuple[Evidence, ...]:
    counts = [sample.files for sample in run.samples if sample.files is not None]
    if len(counts) < 2:
        return ()
    first_and_last = f"open files: {counts[0]} in the first sample, {counts[-1]} in the last"
    return (Evidence(first_and_last, curve=tuple(map(float, counts))),)


def _close(message: Message | None) -> Remedy:
    """The line with the call, where it opens something that it gives a name to."""
    where = message.where if message is not None else None
    text = where.text.partition("#")[0].strip() if where is not None else ""
    opened = re.fullmatch(r"(\w+) = ((?:open|[\w.]+\.(?:open|File|create_connection|socket))\(.*\))", text)
    change = f"with {opened[2]} as {opened[1]}:" if opened else None
    if "socket" in text or "connection" in text:
        return Remedy("Close each connection after use, or keep one for all", change, where)
    if where is not None and ".fit(" in text:
        return Remedy("Read fewer files at once: a smaller cycle_length of interleave")
    return Remedy("Close each file after use", change, where)
