"""What the program gets as its standard streams, so that we read its output and nothing changes for it."""

from __future__ import annotations

import os
import stat

from laststep.supervisor import pseudo_terminal


class Stream:
    """An output of the program: the descriptor it gets, and the one that the relay reads."""

    def __init__(self, kind: str, targets: list[int]) -> None:
        self.kind = kind  # terminal, pipe, file or other
        self.targets = targets  # the descriptors it replaces: [1], [2], or both if they are the same file
        self.give = -1  # what the program gets; -1: the original itself
        self.read = -1

    @property
    def takes_input(self) -> bool:
        """It is a terminal that the program also reads from."""
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


def reserve_standard_descriptors() -> None:
    """A closed standard stream stays closed for the program, and none of our files gets its number."""
    while (fd := os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)) <= 2:
        _closed_descriptors.add(fd)
    os.close(fd)


_closed_descriptors: set[int] = set()


def plan_streams() -> list[Stream]:
    """How to see the output without changing what the program sees: a terminal for a terminal, a pipe for a pipe.

    A file is left as it is and read separately. If stdout and stderr are the same file, so is their replacement, which
    keeps the order of the output. If stdin is that same terminal, the replacement serves all three.
    """
    streams: list[Stream] = []
    seen: dict[tuple[int, int, str], Stream] = {}
    for fd in sorted({1, 2} - _closed_descriptors):
        status = os.fstat(fd)
        kind = _kind(fd, status.st_mode)
        identity = (status.st_dev, status.st_ino, kind)
        if identity in seen:
            seen[identity].targets.append(fd)
            continue
        stream = seen[identity] = Stream(kind, [fd])
        streams.append(stream)
        _open_replacement(stream, fd)
    return streams


def _kind(fd: int, mode: int) -> str:
    if os.isatty(fd):
        return "terminal"
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return "pipe"
    return "file" if stat.S_ISREG(mode) else "other"


def _open_replacement(stream: Stream, fd: int) -> None:
    if stream.kind == "terminal":
        try:
            stream.read, stream.give = os.openpty()
        except OSError:
            stream.kind = "other"  # no pseudo-terminal left: the program keeps the real one, unrecorded
            return
        if fd == 1 and 0 not in _closed_descriptors and os.path.samestat(os.fstat(0), os.fstat(1)):
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
    """The same settings and size. For an output-only terminal, the real one adds the carriage returns."""
    modes = pseudo_terminal.get_modes(fd)
    if modes is not None and not stream.takes_input:
        modes[pseudo_terminal.OUTPUT] &= ~pseudo_terminal.OPOST
    pseudo_terminal.set_modes(stream.give, modes)
    pseudo_terminal.copy_size(fd, stream.give)


def close_all_but(*kept: int) -> None:
    """In a forked process: close all descriptors except these."""
    last = -1
    for fd in sorted(set(kept)):
        if fd > last + 1:  # os.closerange(0, 0) would close all
            os.closerange(last + 1, fd)
        last = fd
    os.closerange(last + 1, max(1024, last + 1))
