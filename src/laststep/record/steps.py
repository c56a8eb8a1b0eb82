"""The steps: a ring of fixed binary slots, one per step, older ones thinned, never the last ones."""

from __future__ import annotations

import functools
import mmap
import os
import struct
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from laststep.record.journal import HIGH_FD, check_room, identity, move_up
from laststep.record.reading import read_plain

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"LSTEPS01"
# number at both ends: a slot torn by a kill in mid-write is told apart and skipped
SLOT = struct.Struct("<QdffdfiiHHxxxxxxxxQ")
HEADER = 4096
LEVELS_AT = struct.Struct("<8sII")
LEVEL = struct.Struct("<QI")
NOW_AT = 512
NOW = struct.Struct("<QBxxxxxxxQdQ")
BEAT_AT = 576
BEAT = struct.Struct("<QdQQddQ")
ASK_AT = 704  # the only bytes that the supervisor writes: what it would have the recorder do
ASK = struct.Struct("<Q")
CENSUS, SAVE = 1, 2  # as bits
# (every how many steps, how many slots): 65,536 newest steps, then ever coarser history. 6.5 MB in all, for ever
LEVELS = ((1, 65536), (16, 16384), (256, 8192), (4096, 8192), (65536, 8192))
PHASES = ("", "step", "between", "validation", "epoch-end", "start", "evaluate", "predict", "trace", "save")
NAN = float("nan")
# Filesystems on which an allocated block can be rewritten in place: elsewhere a full disk could turn
# a store into the mapping into SIGBUS, which would kill the training, so slots are written with pwrite.
SAFE_TO_MAP = frozenset({"ext2", "ext3", "ext4", "xfs", "tmpfs", "overlay"})


class Step(NamedTuple):
    """One training step; NaN where a value was not cheap to have."""

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
    """What the heartbeat thread saw: it stops when the interpreter lock is held for good or the process is stopped."""

    number: int
    time: float
    step: int
    pulse: int  # signs of life that are no training steps: a batch of a validation, a call of another tf.function
    waited: float  # seconds spent waiting for data, in all
    waiting: float  # seconds that the wait going on now has lasted, 0.0 when there is none


def filesystem_of(path: str) -> str:
    """The type of the filesystem that holds a path, '' when it can't be told."""
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
    """Writes slots without a lock, a system call or the release of the interpreter lock where it can."""

    def __init__(self, path: str) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        size = HEADER + sum(slots for _, slots in LEVELS) * SLOT.size
        self._bases = []
        base = HEADER
        for _, slots in LEVELS:
            self._bases.append(base)
            base += slots * SLOT.size
        try:
            check_room(size)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, size)
            else:
                os.ftruncate(fd, size)
            os.pwrite(fd, _header(LEVELS), 0)
            self.mapped = filesystem_of(os.path.realpath(path)) in SAFE_TO_MAP
            self._map: Any
            self._map = _map(fd, size) if self.mapped else _PositionedFile(fd)
        except BaseException:
            os.close(fd)
            os.unlink(path)  # a half-allocated ring would keep the last free blocks from the program
            raise
        if self.mapped:
            os.close(fd)  # the mapping stays; the host gets its descriptor back
            self._pack: Any = functools.partial(SLOT.pack_into, self._map)
        else:
            self._pack = lambda offset, *values: self._map.put(offset, SLOT.pack(*values))
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
        # Few and short: after a long step this code is cold, and each call of Python's own costs microseconds.
        self._pack(
            HEADER + ((number & 65535) << 6),
            *(number, time, duration, data_wait, loss, learning_rate, epoch, batch, fit & 0xFFFF, 0, number),
        )
        if number >> 4 != self._last >> 4:
            self._thin(number, time, duration, data_wait, loss, learning_rate, epoch, batch, fit & 0xFFFF, 0, number)
        self._last = number

    def _thin(self, number: int, *values: Any) -> None:
        """Into each coarser level whose next slot this step begins."""
        for level in (1, 2, 3, 4):
            every, slots = LEVELS[level]
            if number // every == self._last // every:
                return
            self._pack(self._bases[level] + (number // every % slots) * SLOT.size, number, *values)

    def mark(self, phase: int, number: int, time: float) -> None:
        """What goes on now: read by the supervisor while the program may be stuck."""
        self._seq = seq = self._seq + 1
        if self.mapped:
            NOW.pack_into(self._map, NOW_AT, seq, phase, number, time, seq)
        else:
            self._map.put(NOW_AT, NOW.pack(seq, phase, number, time, seq))

    def beat(self, beat: Beat) -> None:
        content = BEAT.pack(*beat, beat.number)
        if self.mapped:
            self._map[BEAT_AT : BEAT_AT + BEAT.size] = content
        else:
            self._map.put(BEAT_AT, content)

    def asked(self) -> int:
        """What the supervisor asks for, as bits."""
        if self.mapped:
            return int(ASK.unpack_from(self._map, ASK_AT)[0])
        return int(ASK.unpack(self._map.get(ASK_AT, ASK.size).ljust(ASK.size, b"\0"))[0])


def _map(fd: int, size: int) -> mmap.mmap:
    """The mapping keeps a descriptor of its own, the lowest that is free: not one that the host would have had."""
    if sys.version_info >= (3, 13):
        return mmap.mmap(fd, size, trackfd=False)
    taken: list[int] = []
    try:
        while not taken or taken[-1] < HIGH_FD - 1:
            taken.append(os.dup(fd))
        return mmap.mmap(fd, size)
    finally:
        for number in taken:
            os.close(number)


class _PositionedFile:
    """pwrite where mapping is not safe; the identity check keeps us out of a reused descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = move_up(fd)
        self._identity = identity(self._fd)

    def put(self, offset: int, content: bytes) -> None:
        try:
            if identity(self._fd) == self._identity:
                check_room(offset + len(content))
                os.pwrite(self._fd, content, offset)
        except OSError:
            pass  # a full disk, a closed descriptor: the step is lost, the program goes on

    def get(self, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._fd, size, offset) if identity(self._fd) == self._identity else b"\0" * size
        except OSError:
            return b"\0" * size


def _header(levels: tuple[tuple[int, int], ...]) -> bytes:
    head = LEVELS_AT.pack(MAGIC, SLOT.size, len(levels))
    return head + b"".join(LEVEL.pack(every, slots) for every, slots in levels)


class StepRecord(NamedTuple):
    """What a steps file holds."""

    steps: list[Step]
    now: Now | None = None


def read_steps(path: Path) -> StepRecord:
    """All whole slots in order of their number, and the last mark."""
    content = read_plain(path, HEADER + sum(slots for _, slots in LEVELS) * SLOT.size)
    if len(content) < HEADER or content[:8] != MAGIC or LEVELS_AT.unpack_from(content)[1] != SLOT.size:
        return StepRecord([])
    body = content[HEADER : HEADER + (len(content) - HEADER) // SLOT.size * SLOT.size]
    found: dict[int, Step] = {}
    for slot in SLOT.iter_unpack(body):
        number = slot[0]
        if number and number == slot[10]:
            found[number] = Step._make(slot[:9])
    return StepRecord([found[number] for number in sorted(found)], read_now(content))


def read_now(content: bytes | mmap.mmap) -> Now | None:
    first, phase, number, time, second = NOW.unpack_from(content, NOW_AT)
    if not first or first != second or phase >= len(PHASES):
        return None
    return Now(PHASES[phase], number, time)


def read_beat(content: bytes | mmap.mmap) -> Beat | None:
    values = BEAT.unpack_from(content, BEAT_AT)
    return Beat._make(values[:6]) if values[0] and values[0] == values[6] else None


def compact(path: Path) -> None:
    """After the end: keep the slots in use, give the rest of the disk back."""
    content = read_plain(path)
    if content[:8] != MAGIC:
        return
    used = [
        content[at : at + SLOT.size]
        for at in range(HEADER, len(content) - SLOT.size + 1, SLOT.size)
        if content[at : at + 8] != b"\0" * 8
    ]
    fresh = path.with_name(path.name + ".new")
    header = bytearray(content[:HEADER])
    header[: LEVELS_AT.size + 5 * LEVEL.size] = _header(((1, len(used)),)).ljust(LEVELS_AT.size + 5 * LEVEL.size, b"\0")
    try:
        fresh.write_bytes(bytes(header) + b"".join(used))
        fresh.chmod(0o600)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
