"""No more files could be opened."""

from __future__ import annotations

from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import ECHOES, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"(?:\[Errno (?:24|23)\] )?(?:Too many open files|Zu viele offene Dateien|Trop de fichiers ouverts|"
    r"Demasiados archivos abiertos|打开的文件过多)(?: in system)?(?:: ['\"](?P<file>[^'\"\n]+)['\"])?",
    r"\[Errno (?:24|23)\]|errno = 24|EMFILE|ENFILE",
)


@rule(outranks=(*ECHOES, "missing-file", "corrupt-record", "data-source-unreachable"))
def too_many_open_files(run: Run) -> Answer:
    """The process had as many files and sockets open as it may have.

    What happened
        Each process may hold a limited number of files, pipes and sockets open (ulimit -n, often 1,024). A
        generator that opens a file for each sample and keeps it, worker processes, or many shards read at once
        reach it after a while; the error then comes from an innocent place.

    How laststep knows
        The operating system's error (EMFILE, ENFILE), and the number of open files in the last samples.

    What to do
        Close what is opened: `with open(...)`, np.load inside a with. Where many files are really needed at once,
        raise the limit: `ulimit -n 65536` before the start.

    Not to be confused with
        missing-file and corrupt-record, which name the file that could not be opened next.
    """
    message = find_message(run, *SAID)
    file = message.get("file") if message else ""
    return answer(
        run,
        message,
        "the limit of open files was not reached",
        cause=f"The process could open no more files{f'; the next one was {file}' if file else ''}.",
        remedies=(
            Remedy("Close each file after use", "with open(path, 'rb') as file:", message.where if message else None),
            Remedy("Or allow more of them before the start", "ulimit -n 65536", safe=True),
        ),
        more=_open(run),
    )


def _open(run: Run) -> tuple[Evidence, ...]:
    counts = [(sample["t"], sample["files"]) for sample in run.samples if isinstance(sample.get("files"), int)]
    if len(counts) < 2:
        return ()
    told = f"open files: {counts[0][1]} in the first sample, {counts[-1][1]} in the last"
    return (Evidence(told, curve=tuple(float(count) for _, count in counts)),)
