"""The last part of the program's output, bounded: two files that are rotated."""

from __future__ import annotations

import os
from pathlib import Path

from laststep.record.reading import read_plain
from laststep.record.redact import redact_bytes

PIECE_BYTES = 256 << 10  # size after which a file is rotated


class ConsoleWriter:
    """Keeps one to two files of the newest output. Output that cannot be written is dropped."""

    def __init__(self, path: Path | str) -> None:
        self._path = str(path)
        self._size = 0
        try:
            self._fd = self._open()
        except OSError:  # the folder is gone or the disk is full: the relay still passes the output on
            self._fd = -1

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def write(self, chunk: bytes) -> None:
        if self._fd < 0:
            return
        try:
            if self._size > PIECE_BYTES:
                fd, self._fd = self._fd, -1  # never closed twice, even if one of the next calls fails
                os.close(fd)
                os.replace(self._path, self._path + ".old")
                self._fd = self._open()
                self._size = 0
            self._size += os.write(self._fd, redact_bytes(chunk))
        except OSError:
            pass


def read_console(path: Path) -> bytes:
    return b"".join(
        read_plain(piece, 4 * PIECE_BYTES, end=True) for piece in (path.with_name(path.name + ".old"), path)
    )
