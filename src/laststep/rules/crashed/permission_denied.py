"""The program may not read or write a file."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

MESSAGES = compiled(
    r"PermissionError: [^\n]*?['\"](?P<file>[^'\"\n]+)['\"]",
    r"PermissionError: [^\n]*",
    r"(?:PermissionDenied(?:Error)?|PERMISSION_DENIED|Permission denied)[^\n]*?: (?P<file>[^\s;'\"]+)[;:] "
    r"?(?:Permission denied|Operation not permitted)",
    r"(?:unable to (?:open|create) file: )?name = '(?P<file>[^']+)', errno = (?:13|1|30)\b",
    r"\[Errno (?:13|30|1)\] [^\n]*?(?:: ['\"](?P<file>[^'\"\n]+)['\"])",
    r"\[WinError 5\]",
    r"(?P<file>[\w.~-]*/[\w./~-]+)[;:] (?:Permission denied|Read-only file system)",
    r"(?:PermissionDeniedError|PERMISSION_DENIED|Permission denied|Read-only file system)",
)


@rule(tier=Tier.ROOT)
def permission_denied(run: Run) -> Answer:
    """The operating system did not allow the program to read or write a file or folder.

    What happened
        The file belongs to another user, the folder is not writable, the filesystem is mounted read-only, or a
        container runs as another user than the owner of the data. On Windows, a file that another program has
        open gives the same error.

    How laststep knows
        The operating system's error (EACCES, EPERM, EROFS), which contains the path.

    What to do
        Check who owns it (`ls -ld`), and as which user the program runs (`id`). Write outputs, checkpoints and
        caches to a folder that you own.

    Not to be confused with
        missing-file (it does not exist at all), disk-full.
    """
    message = find_message(run, *MESSAGES)
    file = message.get("file") if message else ""
    return answer(
        run,
        message,
        "no permission was denied",
        cause=f"The program has no permission to use {file or 'a file'}.",
        remedies=(
            Remedy("Check who owns it and as which user the program runs", f"ls -ld {file or 'PATH'}; id", safe=True),
            Remedy("Use a folder that the program's user owns, or change the owner"),
        ),
    )
