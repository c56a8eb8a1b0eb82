"""A small process that passes the program's output on, byte for byte, and keeps the last part of it."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import stat
import termios
from collections.abc import Callable
from pathlib import Path

from laststep.blackbox.console import PIECE_BYTES, ConsoleWriter

CHUNK = 65536
QUIET_SECONDS = 0.15  # after the program's death: how long its output must be silent to be called complete
FOLLOW_SECONDS = 1.0
# Signals that are for the program: the relay only tells that they reached the whole process group.
FOR_THE_PROGRAM = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
)


class Stream:
    """One of the program's outputs: what it gets as its own, and what the relay reads."""

    def __init__(self, kind: str, targets: list[int]) -> None:
        self.kind = kind  # terminal, pipe, file or other
        self.targets = targets  # the descriptors it stands for: [1], [2] or both when they are the same thing
        self.give = -1  # what the program gets, -1: the original itself
        self.read = -1


def plan() -> list[Stream]:
    """How to see the output without changing what the program sees: a terminal for a terminal, a pipe for a pipe.

    A file is left as it is and read from beside. Where stdout and stderr are one thing, so is what stands
    for them: their order stays.
    """
    streams: list[Stream] = []
    seen: dict[tuple[int, int, str], Stream] = {}
    for fd in (1, 2):
        try:
            status = os.fstat(fd)
        except OSError:
            continue
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
        _copy_terminal(fd, stream.give)
    elif stream.kind == "pipe":
        stream.read, stream.give = os.pipe()
    elif stream.kind == "file":
        try:
            stream.read = os.open(f"/dev/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
            os.lseek(stream.read, 0, os.SEEK_END)
        except OSError:
            stream.read = -1


def _copy_terminal(real: int, ours: int) -> None:
    """The same settings and size; the line endings are left for the real terminal to make."""
    try:
        mode = termios.tcgetattr(real)
        mode[1] &= ~termios.OPOST
        termios.tcsetattr(ours, termios.TCSANOW, mode)
    except termios.error:
        pass
    copy_size(real, ours)


def copy_size(real: int, ours: int) -> None:
    try:
        size = fcntl.ioctl(real, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(ours, termios.TIOCSWINSZ, size)
    except OSError:
        pass


class Relay:
    """The supervisor's handle on the relay process."""

    def __init__(self, streams: list[Stream], console: Path) -> None:
        self._seen_read, seen_write = os.pipe()
        command_read, self._command = os.pipe()
        self._done_read, done_write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for fd in (self._seen_read, self._command, self._done_read):
                os.close(fd)
            for stream in streams:
                if stream.give >= 0:
                    os.close(stream.give)
            _relay_until_end(streams, console, seen_write, command_read, done_write)
        for fd in (seen_write, command_read, done_write):
            os.close(fd)
        for stream in streams:
            if stream.read >= 0:
                os.close(stream.read)
        os.set_blocking(self._seen_read, False)

    def reached_the_group(self, number: int, within: float) -> bool:
        """Whether this signal came to the relay too: then it was meant for the whole group, the program included."""
        ready, _, _ = select.select([self._seen_read], [], [], within)
        if not ready:
            return False
        return number in os.read(self._seen_read, CHUNK)

    def finish(self, within: float = 5.0) -> None:
        """Wait until all that the program wrote has been passed on; a child of its own may go on writing."""
        try:
            os.write(self._command, b"d")
            select.select([self._done_read], [], [], within)
            os.close(self._command)
        except OSError:
            pass


def _relay_until_end(streams: list[Stream], console: Path, seen: int, command: int, done: int) -> None:
    """The relay process: it never returns, and never dies of a signal that is meant for the program."""
    status = 0
    try:
        os.set_blocking(seen, False)
        for number in FOR_THE_PROGRAM:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGWINCH, lambda *_: _resize(streams))
        signal.set_wakeup_fd(seen, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _Pump(streams, ConsoleWriter(console), command, done).run()
    except BaseException:  # noqa: BLE001 - a forked copy of the supervisor must never run on as the supervisor
        status = 1
    os._exit(status)


def _resize(streams: list[Stream]) -> None:
    for stream in streams:
        if stream.kind == "terminal":
            copy_size(stream.targets[0], stream.read)


class _Pump:
    def __init__(self, streams: list[Stream], console: ConsoleWriter, command: int, done: int) -> None:
        self._live = {stream.read: stream for stream in streams if stream.kind in ("terminal", "pipe")}
        self._files = [stream for stream in streams if stream.kind == "file" and stream.read >= 0]
        self._console = console
        self._command: int | None = command
        self._done = done
        self._draining = False

    def run(self) -> None:
        while self._live or self._command is not None:
            sources = list(self._live) + ([self._command] if self._command is not None else [])
            ready, _, _ = select.select(sources, [], [], self._patience())
            for fd in ready:
                if fd == self._command:
                    self._obey()
                else:
                    self._pass_on(fd)
            self._follow_files()
            if self._draining and (not self._live or not [fd for fd in ready if fd in self._live]):
                self._say_done()

    def _patience(self) -> float | None:
        if self._draining:
            return QUIET_SECONDS if self._live else 0
        return FOLLOW_SECONDS if self._files else None

    def _obey(self) -> None:
        word = os.read(self._command, 1) if self._command is not None else b""
        if word == b"d":
            self._draining = True
        elif not word:
            os.close(self._command or 0)
            self._command = None

    def _say_done(self) -> None:
        self._draining = False
        self._try(lambda: os.write(self._done, b"k"))

    def _try(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError:
            pass

    def _pass_on(self, fd: int) -> None:
        try:
            chunk = os.read(fd, CHUNK)
        except OSError as error:
            if error.errno == errno.EINTR:
                return
            chunk = b""  # EIO: the last writer closed the terminal
        if not chunk or not _write_all(self._live[fd].targets[0], chunk):
            # At our end, or nobody reads any more: closing lets the program see what it would have seen.
            os.close(fd)
            del self._live[fd]
            return
        self._console.write(chunk)

    def _follow_files(self) -> None:
        for stream in self._files:
            while True:
                try:
                    behind = os.fstat(stream.read).st_size - os.lseek(stream.read, 0, os.SEEK_CUR)
                    if behind > 2 * PIECE_BYTES:
                        os.lseek(stream.read, -PIECE_BYTES, os.SEEK_END)
                    chunk = os.read(stream.read, CHUNK)
                except OSError:
                    break
                if not chunk:
                    break
                self._console.write(chunk)


def _write_all(fd: int, chunk: bytes) -> bool:
    view = memoryview(chunk)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            select.select([], [fd], [])
        except InterruptedError:
            continue
        except OSError:
            return False
    return True


def close_given(streams: list[Stream]) -> None:
    """In the supervisor, once the program has its own copies."""
    for stream in streams:
        if stream.give >= 0:
            os.close(stream.give)
            stream.give = -1
