"""What the program gets as its standard streams, so that its output can be seen and it can't tell."""

from __future__ import annotations

import os
import stat

from laststep.supervisor import pseudo_terminal


class Stream:
    """One of the program's outputs: what it gets as its own, and what the relay reads."""

    def __init__(self, kind: str, targets: list[int]) -> None:
        self.kind = kind  # terminal, pipe, file or other
        self.targets = targets  # the descriptors it stands for: [1], [2] or both when they are the same thing
        self.give = -1  # what the program gets, -1: the original itself
        self.read = -1

    @property
    def takes_input(self) -> bool:
        """One terminal for what the program writes and for what it reads."""
        return 0 in self.targets

    @property
    def out(self) -> int:
        return max(self.targets)

    def close(self) -> None:
        """Let the program see that there is no reader any more."""
        if self.read >= 0:
            os.close(self.read)
            self.read = -1

    def close_given(self) -> None:
        """Once the program has its own copies."""
        if self.give >= 0:
            os.close(self.give)
            self.give = -1


def reserve_standard() -> None:
    """A standard stream that is closed stays closed for the program, and none of our files gets its number."""
    while (fd := os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)) <= 2:
        _reserved.add(fd)
    os.close(fd)


_reserved: set[int] = set()


def plan() -> list[Stream]:
    """How to see the output without changing what the program sees: a terminal for a terminal, a pipe for a pipe.

    A file is left as it is and read from beside. Where stdout and stderr are one thing, so is what stands
    for them: their order stays. Where stdin is that same terminal, it stands for all three.
    """
    streams: list[Stream] = []
    seen: dict[tuple[int, int, str], Stream] = {}
    for fd in sorted({1, 2} - _reserved):
        status = os.fstat(fd)
        kind = _kind(fd, status.st_mode)
        identity = (status.st_dev, status.st_ino, kind)
        if identity in seen:
            seen[identity].targets.append(fd)
            continue
        stream = seen[identity] = Stream(kind, [fd])
        streams.append(stream)
        _prepare(stream, fd)
    return streams


def _kind(fd: int, mode: int) -> str:
    if os.isatty(fd):
        return "terminal"
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return "pipe"
    return "file" if stat.S_ISREG(mode) else "other"


def _prepare(stream: Stream, fd: int) -> None:
    if stream.kind == "terminal":
        try:
            stream.read, stream.give = os.openpty()
        except OSError:
            stream.kind = "other"  # no terminals to be had: the program keeps the real one, we keep no console
            return
        if fd == 1 and 0 not in _reserved and os.path.samestat(os.fstat(0), os.fstat(1)):
            stream.targets.append(0)
        _copy_terminal(fd, stream)
    elif stream.kind == "pipe":
        stream.read, stream.give = os.pipe()
    elif stream.kind == "file":
        try:
            stream.read = os.open(f"/dev/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
            os.lseek(stream.read, 0, os.SEEK_END)
        except OSError:
            stream.read = -1


def _copy_terminal(fd: int, stream: Stream) -> None:
    """The same settings and size. Where it is for output only, the line endings are left for the real one to make."""
    modes = pseudo_terminal.get_modes(fd)
    if modes is not None and not stream.takes_input:
        modes[pseudo_terminal.OUTPUT] &= ~pseudo_terminal.OPOST
    pseudo_terminal.set_modes(stream.give, modes)
    pseudo_terminal.copy_size(fd, stream.give)


def close_all_but(*kept: int) -> None:
    """In a process that we forked: all descriptors but these."""
    last = -1
    for fd in sorted(set(kept)):
        if fd > last + 1:  # os.closerange(0, 0) closes them all
            os.closerange(last + 1, fd)
        last = fd
    os.closerange(last + 1, max(1024, last + 1))
