"""The steps file: a ring of fixed-size binary slots, one per step; older steps are thinned out, the newest kept."""

from __future__ import annotations

import functools
import mmap
import os
import struct
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from laststep.record.journal import MIN_OWN_FD, check_file_size_limit, identity, move_to_high_fd
from laststep.record.reading import read_plain

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"LSTEPS01"
# The number stands at both ends: a slot that a kill left half-written is detected and skipped.
SLOT = struct.Struct("<QdffdfiiHHxxxxxxxxQ")
HEADER_BYTES = 4096
PREAMBLE = struct.Struct("<8sII")  # magic, slot size, number of levels
LEVEL = struct.Struct("<QI")
NOW_OFFSET = 512
NOW = struct.Struct("<QBxxxxxxxQdQ")
BEAT_OFFSET = 576
BEAT = struct.Struct("<QdQQddQ")
CALLS_OFFSET = 640
CALLS = struct.Struct("<Q")
REQUEST_OFFSET = 704  # the only bytes that the supervisor writes: its requests to the recorder
REQUEST = struct.Struct("<Q")
CENSUS, SAVE = 1, 2  # requests, as bits
# (one step in how many, number of slots): the newest 65,536 steps, then ever coarser history; 6.5 MB, never more
LEVELS = ((1, 65536), (16, 16384), (256, 8192), (4096, 8192), (65536, 8192))
PHASES = ("", "step", "between", "validation", "epoch-end", "start", "evaluate", "predict", "trace", "save")
NAN = float("nan")
# Filesystems on which an allocated block can be rewritten in place. Elsewhere a full disk could turn a store into
# the mapping into SIGBUS, which would kill the training: there slots are written with pwrite.
SAFE_TO_MMAP = frozenset({"ext2", "ext3", "ext4", "xfs", "tmpfs", "overlay"})


class Step(NamedTuple):
    """One training step; NaN for values that could not be read cheaply."""

    number: int
    time: float
    duration: float
    data_wait: float
    loss: float
    learning_rate: float
    epoch: int
    batch: int
    fit: int


class Now(NamedTuple):
    """What the program was doing when the mark was set."""

    phase: str
    number: int
    time: float


class Beat(NamedTuple):
    """State of the heartbeat thread; it stops if the interpreter lock is never released or the process is stopped."""

    number: int
    time: float
    step: int
    pulse: int  # activity other than training steps: a validation batch, a call of another tf.function
    waited: float  # total seconds spent waiting for data
    waiting: float  # seconds since the current wait for data began, 0.0 if there is none


def filesystem_of(path: str) -> str:
    """The type of the filesystem that holds a path; "" if unknown."""
    best, kind = "", ""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                fields = line.split(" ")
                point = fields[4].replace("\\040", " ")
                inside = path == point or path.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= len(best):
                    best, kind = point, fields[fields.index("-") + 1]
    except (OSError, ValueError, IndexError):
        return ""
    return kind


class StepWriter:
    """Writes slots, where possible without a lock, a system call or a release of the interpreter lock."""

    def __init__(self, path: str) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        size = HEADER_BYTES + sum(slots for _, slots in LEVELS) * SLOT.size
        self._bases = []
        base = HEADER_BYTES
        for _, slots in LEVELS:
            self._bases.append(base)
            base += slots * SLOT.size
        try:
            check_file_size_limit(size)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, size)
            else:
                os.ftruncate(fd, size)
            os.pwrite(fd, _header(LEVELS), 0)
            self.mapped = filesystem_of(os.path.realpath(path)) in SAFE_TO_MMAP
            self._file: Any
            self._file = _map_file(fd, size) if self.mapped else _PositionedFile(fd)
        except BaseException:
            os.close(fd)
            os.unlink(path)  # a half-allocated ring would take the last free blocks from the program
            raise
        if self.mapped:
            os.close(fd)  # the mapping stays; the host gets its descriptor number back
            self._pack: Any = functools.partial(SLOT.pack_into, self._file)
        else:
            self._pack = lambda offset, *values: self._file.write_at(offset, SLOT.pack(*values))
        self._seq = 0
        self._last = 0

    def write(
        self,
        number: int,
        time: float,
        duration: float,
        loss: float = NAN,
        learning_rate: float = NAN,
        epoch: int = -1,
        batch: int = -1,
        fit: int = 0,
        data_wait: float = NAN,
    ) -> None:
        # Few and short statements: after a long step this code is cold, and each Python call costs microseconds.
        self._pack(
            HEADER_BYTES + ((number & 65535) << 6),
            *(number, time, duration, data_wait, loss, learning_rate, epoch, batch, fit & 0xFFFF, 0, number),
        )
        if number >> 4 != self._last >> 4:
            self._thin_out(
                number, time, duration, data_wait, loss, learning_rate, epoch, batch, fit & 0xFFFF, 0, number
            )
        self._last = number

    def _thin_out(self, number: int, *values: Any) -> None:
        """Write the step into each coarser level in which it starts a new slot."""
        for level in (1, 2, 3, 4):
            every, slots = LEVELS[level]
            if number // every == self._last // every:
                return
            self._pack(self._bases[level] + (number // every % slots) * SLOT.size, number, *values)

    def mark(self, phase: int, number: int, time: float) -> None:
        """Set what the program is doing now: the supervisor reads it, even while the program is stuck."""
        self._seq = seq = self._seq + 1
        if self.mapped:
            NOW.pack_into(self._file, NOW_OFFSET, seq, phase, number, time, seq)
        else:
            self._file.write_at(NOW_OFFSET, NOW.pack(seq, phase, number, time, seq))

    def beat(self, beat: Beat) -> None:
        content = BEAT.pack(*beat, beat.number)
        if self.mapped:
            self._file[BEAT_OFFSET : BEAT_OFFSET + BEAT.size] = content
        else:
            self._file.write_at(BEAT_OFFSET, content)

    def note_calls(self, calls: int) -> None:
        """Set how often the input pipeline has called Python."""
        if self.mapped:
            CALLS.pack_into(self._file, CALLS_OFFSET, calls)
        else:
            self._file.write_at(CALLS_OFFSET, CALLS.pack(calls))

    def requests(self) -> int:
        """The supervisor's requests, as bits."""
        if self.mapped:
            return int(REQUEST.unpack_from(self._file, REQUEST_OFFSET)[0])
        return int(REQUEST.unpack(self._file.read_at(REQUEST_OFFSET, REQUEST.size).ljust(REQUEST.size, b"\0"))[0])


def _map_file(fd: int, size: int) -> mmap.mmap:
    """mmap keeps the lowest free descriptor: reserve low numbers, so that it is not one the host would have had."""
    if sys.version_info >= (3, 13):
        return mmap.mmap(fd, size, trackfd=False)
    taken: list[int] = []
    try:
        while not taken or taken[-1] < MIN_OWN_FD - 1:
            taken.append(os.dup(fd))
        return mmap.mmap(fd, size)
    finally:
        for number in taken:
            os.close(number)


class _PositionedFile:
    """Uses pwrite where mmap is not safe; the identity check avoids writing to a reused descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = move_to_high_fd(fd)
        self._identity = identity(self._fd)

    def write_at(self, offset: int, content: bytes) -> None:
        try:
            if identity(self._fd) == self._identity:
                check_file_size_limit(offset + len(content))
                os.pwrite(self._fd, content, offset)
        except OSError:
            pass  # disk full or descriptor closed: the step is lost, the program goes on

    def read_at(self, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._fd, size, offset) if identity(self._fd) == self._identity else b"\0" * size
        except OSError:
            return b"\0" * size


def _header(levels: tuple[tuple[int, int], ...]) -> bytes:
    head = PREAMBLE.pack(MAGIC, SLOT.size, len(levels))
    return head + b"".join(LEVEL.pack(every, slots) for every, slots in levels)


class StepRecord(NamedTuple):
    """The contents of a steps file."""

    steps: list[Step]
    now: Now | None = None


def read_steps(path: Path) -> StepRecord:
    """All complete slots, ordered by number, and the last mark."""
    content = read_plain(path, HEADER_BYTES + sum(slots for _, slots in LEVELS) * SLOT.size)
    if len(content) < HEADER_BYTES or content[:8] != MAGIC or PREAMBLE.unpack_from(content)[1] != SLOT.size:
        return StepRecord([])
    body = content[HEADER_BYTES : HEADER_BYTES + (len(content) - HEADER_BYTES) // SLOT.size * SLOT.size]
    steps_by_number: dict[int, Step] = {}
    for slot in SLOT.iter_unpack(body):
        number = slot[0]
        if number and number == slot[10]:
            steps_by_number[number] = Step._make(slot[:9])
    return StepRecord([steps_by_number[number] for number in sorted(steps_by_number)], read_now(content))


def read_now(content: bytes | mmap.mmap) -> Now | None:
    first, phase, number, time, second = NOW.unpack_from(content, NOW_OFFSET)
    if not first or first != second or phase >= len(PHASES):
        return None
    return Now(PHASES[phase], number, time)


def read_beat(content: bytes | mmap.mmap) -> Beat | None:
    values = BEAT.unpack_from(content, BEAT_OFFSET)
    return Beat._make(values[:6]) if values[0] and values[0] == values[6] else None


def read_calls(content: bytes | mmap.mmap) -> int:
    """How often the input pipeline has called Python; 0 where that is not counted."""
    return int(CALLS.unpack_from(content, CALLS_OFFSET)[0])


def compact(path: Path) -> None:
    """After the end of the run: keep only the used slots and free the rest of the disk space."""
    content = read_plain(path)
    if content[:8] != MAGIC:
        return
    used = [
        content[at : at + SLOT.size]
        for at in range(HEADER_BYTES, len(content) - SLOT.size + 1, SLOT.size)
        if content[at : at + 8] != b"\0" * 8
    ]
    fresh = path.with_name(path.name + ".new")
    header = bytearray(content[:HEADER_BYTES])
    header[: PREAMBLE.size + 5 * LEVEL.size] = _header(((1, len(used)),)).ljust(PREAMBLE.size + 5 * LEVEL.size, b"\0")
    try:
        fresh.write_bytes(bytes(header) + b"".join(used))
        fresh.chmod(0o600)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
