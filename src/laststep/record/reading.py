"""Read a run folder of unknown origin: regular files only, no links or pipes, and bounded amounts."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_BYTES = 64 << 20  # larger than any file that laststep writes


def open_plain(path: Path | str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; OSError for anything else. It must neither block nor follow a link."""
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a plain file")
    return fd


def read_plain(path: Path | str, max_bytes: int = MAX_FILE_BYTES, *, end: bool = False) -> bytes:
    """The beginning (or the end) of a regular file; b"" for anything else."""
    try:
        fd = open_plain(path)
    except (OSError, ValueError):
        return b""
    try:
        with open(fd, "rb", closefd=False) as file:
            if end:
                file.seek(max(0, os.fstat(fd).st_size - max_bytes))
            return file.read(max_bytes)
    except OSError:
        return b""
    finally:
        os.close(fd)


class Allowance:
    """Limits on what is read from one folder, so that a folder of unknown origin takes neither minutes nor much memory.

    They are several times what laststep writes. `notes` says which files were cut.
    """

    def __init__(self) -> None:
        self.bytes = 32 << 20
        self.values = 3_000_000  # in JSON; a value of a few bytes can take 100 bytes in memory
        self.entries = 200_000
        self.notes: list[str] = []

    def lines(self, path: Path, max_bytes: int, max_line_bytes: int) -> Iterator[bytes]:
        """The lines of a file within the limits; a line that is too long is skipped."""
        content = read_plain(path, min(max_bytes, self.bytes) + 1)
        if len(content) > min(max_bytes, self.bytes):
            self._note(path, min(max_bytes, self.bytes))
        self.bytes = max(0, self.bytes - len(content))
        offset = 0
        for line in filter(None, content.split(b"\n")):
            if len(line) > max_line_bytes:
                continue
            self.values -= line.count(b",") + line.count(b":") + line.count(b"[") + line.count(b"{")
            self.entries -= 1
            if self.values < 0 or self.entries < 0:
                return self._note(path, offset)
            offset += len(line) + 1
            yield line

    def _note(self, path: Path, offset: int) -> None:
        self.notes.append(f"{path.name} is too large: read up to byte {offset:,}")
