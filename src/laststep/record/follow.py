"""Follow a live run cheaply: its present phase, last step and last heartbeat, without reading all steps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from laststep.record.reading import open_plain
from laststep.record.steps import (
    HEADER_BYTES,
    LEVELS,
    MAGIC,
    REQUEST,
    REQUEST_OFFSET,
    SLOT,
    Beat,
    Now,
    Step,
    read_beat,
    read_calls,
    read_now,
)


class Live(NamedTuple):
    """The present state of a run, as reported from inside."""

    now: Now | None = None
    beat: Beat | None = None
    step: Step | None = None
    calls: int = 0  # of Python by the input pipeline, so far; 0 where they are not counted


class Follower:
    """Reads a few bytes of the newest steps file of a run folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> Live:
        path = self._newest()
        if path is None:
            return Live()
        try:
            fd = open_plain(path)
        except OSError:
            return Live()
        try:
            header = os.pread(fd, HEADER_BYTES, 0)
            if len(header) < HEADER_BYTES or header[:8] != MAGIC:
                return Live()
            beat = read_beat(header)
            return Live(read_now(header), beat, _slot(fd, beat.step) if beat else None, read_calls(header))
        except OSError:
            return Live()
        finally:
            os.close(fd)

    def ask(self, what: int) -> bool:
        """Request something from the recorder at its next heartbeat; each request is served once per run."""
        path = self._newest()
        if path is None:
            return False
        try:
            fd = open_plain(path, os.O_RDWR)
        except OSError:
            return False
        try:
            before = os.pread(fd, REQUEST.size, REQUEST_OFFSET)
            if len(before) < REQUEST.size:
                return False
            os.pwrite(fd, REQUEST.pack(REQUEST.unpack(before)[0] | what), REQUEST_OFFSET)
        finally:
            os.close(fd)
        return True

    def _newest(self) -> Path | None:
        files = [path for path in self._folder.glob("steps.*") if not path.name.endswith(".new")]
        return max(files, key=modified, default=None)


def modified(path: Path) -> int:
    """0 for a file that is gone."""
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _slot(fd: int, number: int) -> Step | None:
    content = os.pread(fd, SLOT.size, HEADER_BYTES + (number % LEVELS[0][1]) * SLOT.size)
    if number == 0 or len(content) < SLOT.size:
        return None
    values = SLOT.unpack(content)
    return Step._make(values[:9]) if values[0] == values[10] == number else None
