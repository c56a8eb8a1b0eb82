"""Reading a run folder that may come from a stranger: plain files only, never a link, a pipe or more than fits."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_BYTES = 64 << 20  # more than any file that laststep writes


def open_plain(path: Path | str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; OSError for anything else: nothing here may hang or follow a link."""
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a plain file")
    return fd


def read_plain(path: Path | str, most: int = MOST_BYTES, *, end: bool = False) -> bytes:
    """The beginning (or the end) of a regular file, b"" for anything else."""
    try:
        fd = open_plain(path)
    except (OSError, ValueError):
        return b""
    try:
        with open(fd, "rb", closefd=False) as file:
            if end:
                file.seek(max(0, os.fstat(fd).st_size - most))
            return file.read(most)
    except OSError:
        return b""
    finally:
        os.close(fd)


class Allowance:
    """How much of one folder is read, so that a stranger's takes neither minutes nor the memory; several times what
    laststep writes itself. What did not fit is named in `notes`."""

    def __init__(self) -> None:
        self.bytes = 32 << 20
        self.values = 3_000_000  # in JSON: a few bytes there are up to 100 in memory
        self.entries = 200_000
        self.notes: list[str] = []

    def lines(self, path: Path, most: int, longest: int) -> Iterator[bytes]:
        """The lines of a file that may hold JSON, as long as the allowance lasts; one that is too long is left out."""
        content = read_plain(path, min(most, self.bytes) + 1)
        if len(content) > min(most, self.bytes):
            self._note(path, min(most, self.bytes))
        self.bytes = max(0, self.bytes - len(content))
        at = 0
        for line in filter(None, content.split(b"\n")):
            if len(line) > longest:
                continue
            self.values -= line.count(b",") + line.count(b":") + line.count(b"[") + line.count(b"{")
            self.entries -= 1
            if self.values < 0 or self.entries < 0:
                return self._note(path, at)
            at += len(line) + 1
            yield line

    def _note(self, path: Path, at: int) -> None:
        self.notes.append(f"{path.name} is too large: read up to byte {at:,}")
