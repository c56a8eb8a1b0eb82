"""The journal: append-only, one line of JSON per event, bounded, readable while it is written."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from laststep.record.reading import Allowance, read_plain
from laststep.record.redact import may_hold_secrets, redact_all

if TYPE_CHECKING:  # the training process only writes, so it does not load the reader
    from pathlib import Path

    from laststep.record.event import Event

VERSION = 1
HEAD_BYTES = 4 << 20  # first part of the journal: never dropped
TAIL_BYTES = 2 << 20  # after that the newest two pieces of this size are kept
RESERVE_BYTES = 128 << 10  # allocated at the start, so that the cause of death can be written on a full disk
HEADER_BYTES = 256
CLOSED = "closed"  # `stopped` after a normal end
MAX_LINE_BYTES = 256 << 10
MIN_OWN_FD = 230  # our descriptors are numbered from here, so that the host gets the numbers it would have had


def move_to_high_fd(fd: int) -> int:
    """Duplicate the descriptor to a high number and close the original."""
    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, MIN_OWN_FD)
    except OSError:
        return fd
    os.close(fd)
    return high


def check_file_size_limit(end: int) -> None:
    """Raise an error before a write that would exceed RLIMIT_FSIZE: the kernel would send SIGXFSZ to the program."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and end > limit:
        raise OSError(errno.EFBIG, "the limit on the size of files is lower")


def identity(fd: int) -> tuple[int, int]:
    """Device and inode of a descriptor: if the program closes ours, its number may be reused for another file."""
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def _encode(record: Mapping[str, Any]) -> bytes:
    line = (
        json.dumps(record, separators=(",", ":"), default=_type_name, skipkeys=True).encode("utf-8", "replace") + b"\n"
    )
    if len(line) <= MAX_LINE_BYTES:
        return _without_secrets(line) if may_hold_secrets(line) else line
    return _encode({**record, "data": {"too_long": len(line)}})


def _without_secrets(line: bytes) -> bytes:
    """Redact the whole event: secrets occur in messages, source lines and commands."""
    return json.dumps(redact_all(json.loads(line)), separators=(",", ":")).encode() + b"\n"


def _type_name(value: Any) -> str:
    return type(value).__name__  # not str(), which could run the program's own code


class JournalWriter:
    """Writes each event immediately. If a write fails, the journal stops; the caller never sees an error.

    The first line has a fixed length, so that it can be rewritten in place on a full disk. If the journal had to stop,
    it holds the reason and the number of lost events.
    """

    def __init__(self, path: Path | str, source: str, clock: Any = time.time, held: int = -1) -> None:
        self.path = str(path)
        self._held = held  # a descriptor that stays open as long as the journal
        self.source = source
        self.stopped: str | None = None
        self.dropped = 0
        self._clock = clock
        # Reentrant: a signal handler of the program may run while we write, and may write an event itself.
        self._lock = threading.RLock()
        self._number = 0
        self._limit = HEAD_BYTES
        self._fd = -1
        try:
            self._open(self.path, RESERVE_BYTES)
        except OSError as error:  # disk full or folder gone: record nothing, and let the program run
            self.stopped = errno.errorcode.get(error.errno or 0, "EIO")

    def _open(self, path: str, reserve: int) -> None:
        self._fd = move_to_high_fd(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        status = os.fstat(self._fd)
        self._identity = identity(self._fd)
        # Keep what an earlier program of this process wrote before it called exec.
        self._offset = len(os.pread(self._fd, status.st_size, 0).rstrip(b"\0")) if status.st_size else HEADER_BYTES
        if reserve and hasattr(os, "posix_fallocate"):
            try:
                check_file_size_limit(reserve)
                os.posix_fallocate(self._fd, 0, reserve)
            except OSError:
                pass  # disk full or not supported: the writes below report it
        self._write_header()

    def _write_header(self) -> None:
        header: dict[str, Any] = {"laststep": VERSION, "source": self.source}
        if self.stopped and self.stopped != CLOSED:
            header.update(stopped=self.stopped, lost=self.dropped, t=self._clock())
        line = json.dumps(header).ljust(HEADER_BYTES - 1) + "\n"
        check_file_size_limit(HEADER_BYTES)
        os.pwrite(self._fd, line.encode(), 0)

    def write(self, kind: str, data: Mapping[str, Any], at: float | None = None) -> None:
        with self._lock:
            if self.stopped is None:
                self._number += 1
                now = at if at is not None else self._clock()
                try:
                    self._append({"t": now, "n": self._number, "kind": kind, "data": data})
                    return
                except OSError as error:
                    self.stopped = errno.errorcode.get(error.errno or 0, "EIO")
                except (TypeError, ValueError, RecursionError):
                    pass  # not representable as JSON: only this event is lost
            self.dropped += 1
            self._update_header()

    def _update_header(self) -> None:
        try:
            if self._is_ours():
                self._write_header()
        except OSError:
            pass

    def _is_ours(self) -> bool:
        return identity(self._fd) == self._identity

    def _append(self, record: Mapping[str, Any]) -> None:
        line = _encode(record)
        if not self._is_ours():
            raise OSError(errno.EBADF, "descriptor taken over")
        if self._offset + len(line) > self._limit:
            self._rotate()
        check_file_size_limit(self._offset + len(line))
        offset = self._offset
        self._offset += len(line)
        if os.pwrite(self._fd, line, offset) < len(line):
            raise OSError(errno.ENOSPC, "short write")

    def _rotate(self) -> None:
        tail = self.path + ".tail"
        if os.path.exists(tail):
            os.replace(tail, tail + ".old")
        os.close(self._fd)
        self._limit = TAIL_BYTES
        self._open(tail, 0)

    def close(self) -> None:
        with self._lock:
            self.stopped = self.stopped or CLOSED
            try:
                if self._is_ours():
                    os.ftruncate(self._fd, self._offset)
                    os.close(self._fd)
                if self._held >= 0:
                    os.close(self._held)
            except OSError:
                pass


def trim(path: Path) -> None:
    """Truncate the unused reserve of a journal whose writer has ended."""
    used = len(read_plain(path).rstrip(b"\0"))
    try:
        if 0 < used < path.stat().st_size:
            os.truncate(path, used)
    except OSError:
        pass


class Entry(NamedTuple):
    """One line as it was written: the fields are plain JSON, and may be anything."""

    kind: str
    time: float
    source: str
    fields: dict[str, Any]

    def decode(self) -> Event | None:
        from laststep.record.events import decode_event

        return decode_event(self.kind, self.fields, time=self.time, source=self.source)


def read_journal(path: Path, allowance: Allowance | None = None) -> Iterator[Event]:
    """All complete lines of a journal and its rotated pieces that are events."""
    for entry in read_entries(path, allowance):
        event = entry.decode()
        if event is not None:
            yield event


def read_entries(path: Path, allowance: Allowance | None = None) -> Iterator[Entry]:
    """The same before it is decoded: for what was signed as it was written."""
    allowance = allowance or Allowance()
    for piece in (path, path.with_name(path.name + ".tail.old"), path.with_name(path.name + ".tail")):
        source = path.name
        for line in allowance.lines(piece, 2 * HEAD_BYTES, 2 * MAX_LINE_BYTES):
            record = _parse(line.strip(b"\0"))
            if record is None:
                continue
            kind, fields = record.get("kind"), record.get("data")
            if "laststep" in record:
                source = str(record.get("source", source))
                kind = "recording-stopped" if record.get("stopped") else ""
                fields = {"because": record.get("stopped"), "lost": record.get("lost", 0)}
            if isinstance(fields, dict) and is_time(record.get("t")):
                yield Entry(str(kind), float(record["t"]), source, fields)


def read_recorders(folder: Path, allowance: Allowance | None = None) -> list[Event]:
    """The events of every process of the run that recorded itself."""
    allowance = allowance or Allowance()
    return [event for path in sorted(folder.glob("recorder.*.jsonl")) for event in read_journal(path, allowance)]


def is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 <= value < 1e12


def _parse(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b"{"):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
