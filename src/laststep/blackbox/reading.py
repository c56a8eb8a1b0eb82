"""Reading a run folder that may come from a stranger: plain files only, never a link, a pipe or more than fits."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 64 << 20  # more than any file that laststep writes


def read_plain(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file, b"" for anything else: nothing here may hang, follow or fill the memory."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return b""
        with open(fd, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return b""
    finally:
        os.close(fd)
