"""The journal: append-only, one line of JSON per event, bounded, readable while it is written."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the training process only writes: it need not load what reading takes
    from pathlib import Path

    from laststep.event import Event

VERSION = 1
HEAD_BYTES = 4 << 20  # the first events are never dropped
TAIL_BYTES = 2 << 20  # after that, the newest two pieces of this size are kept
RESERVE_BYTES = 128 << 10  # allocated at the start, so that a full disk does not hide why the run died
HIGH_FD = 230  # the host keeps the file descriptor numbers that it would have had


def move_up(fd: int) -> int:
    """The same file under a high descriptor number."""
    import fcntl

    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH_FD)
    except OSError:
        return fd
    os.close(fd)
    return high


class JournalWriter:
    """Writes events at once. A failed write stops the journal, never the caller."""

    def __init__(self, path: Path | str, source: str, clock: Any = time.time) -> None:
        self.path = str(path)
        self.source = source
        self.stopped: str | None = None
        self.dropped = 0
        self._clock = clock
        self._lock = threading.Lock()
        self._number = 0
        self._limit = HEAD_BYTES
        self._open(self.path, RESERVE_BYTES)

    def _open(self, path: str, reserve: int) -> None:
        self._fd = move_up(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        status = os.fstat(self._fd)
        self._identity = (status.st_dev, status.st_ino)
        self._offset = 0
        if reserve and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._fd, 0, reserve)
            except OSError:
                pass  # full or unable: the writes below will tell
        self._put({"laststep": VERSION, "source": self.source})

    def write(self, kind: str, data: Mapping[str, Any], at: float | None = None) -> None:
        with self._lock:
            if self.stopped:
                self.dropped += 1
                return
            self._number += 1
            record = {"t": at if at is not None else self._clock(), "n": self._number, "kind": kind, "data": data}
            try:
                self._put(record)
            except OSError as error:
                self.stopped = errno.errorcode.get(error.errno or 0, str(error))
                self.dropped += 1

    def _put(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record, separators=(",", ":"), default=str).encode("utf-8", "replace") + b"\n"
        status = os.fstat(self._fd)
        if (status.st_dev, status.st_ino) != self._identity:
            # The program closed our descriptor and the number now belongs to a file of its own.
            raise OSError(errno.EBADF, "descriptor taken over")
        if self._offset + len(line) > self._limit:
            self._rotate()
        os.pwrite(self._fd, line, self._offset)
        self._offset += len(line)

    def _rotate(self) -> None:
        tail = self.path + ".tail"
        if os.path.exists(tail):
            os.replace(tail, tail + ".old")
        os.close(self._fd)
        self._limit = TAIL_BYTES
        self._open(tail, 0)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        with self._lock:
            self.stopped = self.stopped or "closed"
            try:
                status = os.fstat(self._fd)
                if (status.st_dev, status.st_ino) == self._identity:
                    os.ftruncate(self._fd, self._offset)
                    os.close(self._fd)
            except OSError:
                pass


def trim(path: Path) -> None:
    """Cut the unused reserve off a journal whose writer is dead."""
    try:
        with open(path, "r+b") as journal:
            journal.truncate(len(journal.read().rstrip(b"\0")))
    except OSError:
        pass


def read_journal(path: Path) -> Iterator[Event]:
    """Every whole line of one journal and its rotated pieces; torn or foreign lines are skipped."""
    from laststep.event import Event

    for piece in (path, path.with_name(path.name + ".tail.old"), path.with_name(path.name + ".tail")):
        try:
            content = piece.read_bytes()
        except OSError:
            continue
        source = path.name
        for line in content.split(b"\n"):
            record = _parse(line.strip(b"\0"))
            if record is None:
                continue
            if "laststep" in record:
                source = str(record.get("source", source))
            elif isinstance(record.get("data"), dict) and isinstance(record.get("t"), (int, float)):
                yield Event(float(record["t"]), str(record.get("kind")), record["data"], source)


def _parse(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b"{"):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
