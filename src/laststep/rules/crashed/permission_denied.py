"""A file may not be read or written."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import ECHOES, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"PermissionError: [^\n]*?['\"](?P<file>[^'\"\n]+)['\"]",
    r"PermissionError: [^\n]*",
    r"(?:PermissionDenied(?:Error)?|PERMISSION_DENIED|Permission denied)[^\n]*?: (?P<file>[^\s;'\"]+)[;:] "
    r"?(?:Permission denied|Operation not permitted)",
    r"(?:unable to (?:open|create) file: )?name = '(?P<file>[^']+)', errno = (?:13|1|30)\b",
    r"\[Errno (?:13|30|1)\] [^\n]*?(?:: ['\"](?P<file>[^'\"\n]+)['\"])",
    r"\[WinError 5\]",
    r"(?P<file>/[\w./~-]+)[;:] (?:Permission denied|Read-only file system)",
    r"(?:PermissionDeniedError|PERMISSION_DENIED|Permission denied|Read-only file system)",
)


@rule(outranks=(*ECHOES, "missing-file", "corrupt-record"))
def permission_denied(run: Run) -> Answer:
    """The operating system did not let the program read or write a file or folder.

    What happened
        The file belongs to somebody else, the folder may not be written, the filesystem is mounted read-only, or
        a container runs as another user than the one who owns the data. On Windows a file that another program
        has open says the same.

    How laststep knows
        The operating system's error (EACCES, EPERM, EROFS), with the path in it.

    What to do
        See who owns it (`ls -ld`), and as whom the program runs (`id`). Point outputs, checkpoints and caches at
        a folder that is yours.

    Not to be confused with
        missing-file (it is not there at all), disk-full.
    """
    message = find_message(run, *SAID)
    file = message.get("file") if message else ""
    return answer(
        run,
        message,
        "no permission was denied",
        cause=f"The system did not let the program use {file or 'a file'}.",
        remedies=(
            Remedy("See who owns it and as whom the program runs", f"ls -ld {file or 'PATH'}; id", safe=True),
            Remedy("Let the program read and write where it may: its own folder, or another owner"),
        ),
    )
