"""The user's terminal, and the pseudo-terminal that the program gets in its place."""

from __future__ import annotations

import fcntl
import os
import select
import termios
import time
from typing import Any

OPOST = termios.OPOST
MAX_TYPED_AHEAD_BYTES = 3000  # a terminal buffers 4095 bytes
INPUT, OUTPUT, CONTROL, LOCAL, CHARACTERS = 0, 1, 2, 3, 6  # indices in the attributes of termios


def get_modes(fd: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(fd)
    except termios.error:  # the terminal is gone
        return None


def set_modes(fd: int, modes: list[Any] | None) -> None:
    """Works from the background, too: SIGTTOU is blocked in all our processes that call this."""
    if modes is not None:
        try:
            termios.tcsetattr(fd, termios.TCSANOW, modes)
        except termios.error:
            pass


def raw_modes(modes: list[Any]) -> list[Any]:
    """Pass every byte unchanged in both directions: the program's terminal does the processing."""
    changed = [*modes[:CHARACTERS], list(modes[CHARACTERS])]
    changed[INPUT] &= ~(termios.IGNBRK | termios.BRKINT | termios.PARMRK | termios.ISTRIP)
    changed[INPUT] &= ~(termios.INLCR | termios.IGNCR | termios.ICRNL | termios.IXON)
    changed[OUTPUT] &= ~termios.OPOST
    changed[LOCAL] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    changed[CHARACTERS][termios.VMIN], changed[CHARACTERS][termios.VTIME] = 1, 0
    return changed


def copy_size(real: int, ours: int) -> None:
    """If the size changes, the kernel sends SIGWINCH to the foreground job of our terminal."""
    try:
        size = fcntl.ioctl(real, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(ours, termios.TIOCSWINSZ, size)
    except OSError:
        pass


def is_controlling(fd: int) -> bool:
    try:
        return os.tcgetpgrp(fd) >= 0
    except OSError:
        return False


def is_in_front(fd: int) -> bool:
    """Whether our job is in the foreground; without job control everyone is."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return True


def is_job() -> bool:
    """Whether a shell with job control started us: then our process group is not the session leader's."""
    return os.getsid(0) != os.getpgrp()


class Attachment:
    """The user's terminal lent to the program's: modes are copied there and back, as if they were one terminal."""

    def __init__(self, real: int, ours: int, already: bool = False) -> None:
        self._real, self._ours = real, ours
        self._raw = get_modes(real) if already else None

    @property
    def is_on(self) -> bool:
        return self._raw is not None

    def attach(self) -> None:
        modes = get_modes(self._real)
        if self.is_on or modes is None:
            return
        copy_size(self._real, self._ours)
        self._transfer_typed_lines(modes)
        set_modes(self._ours, modes)
        set_modes(self._real, raw_modes(modes))
        self._raw = get_modes(self._real)

    def _transfer_typed_lines(self, modes: list[Any]) -> None:
        """Lines typed ahead and their end (Ctrl-D), which a raw terminal does not process; they were echoed already."""
        typed = b""
        while modes[LOCAL] & termios.ICANON and select.select([self._real], [], [], 0)[0]:
            typed += os.read(self._real, 4096) or modes[CHARACTERS][termios.VEOF]
            if len(typed) > MAX_TYPED_AHEAD_BYTES:
                break
        if typed:
            silent = list(modes)
            silent[LOCAL] &= ~(termios.ECHO | termios.ECHONL)
            set_modes(self._ours, silent)
            os.write(self._ours, typed)
            time.sleep(0.02)  # the kernel processes it slightly later

    def detach(self) -> None:
        """Copy the program's modes back to the user's terminal, unless someone else has changed those."""
        if self.is_on and get_modes(self._real) == self._raw:
            set_modes(self._real, get_modes(self._ours))
        self._raw = None


def take_unread(fd: int) -> bytes:
    """Input to a terminal of ours that the program has not read."""
    modes = get_modes(fd)
    if modes is None:
        return b""
    set_modes(fd, raw_modes(modes))  # so that an incomplete line can be read, too
    unread = os.read(fd, 4096) if select.select([fd], [], [], 0)[0] else b""
    set_modes(fd, modes)
    return unread.replace(b"\0", b"")


def type_ahead(fd: int, typed: bytes) -> None:
    """Insert input as if it had been typed into this terminal, without echo; many systems do not allow it."""
    modes = get_modes(fd)
    if not typed or modes is None:
        return
    silent = list(modes)
    silent[LOCAL] &= ~(termios.ECHO | termios.ECHONL | termios.ISIG)
    set_modes(fd, silent)
    try:
        for byte in typed:
            fcntl.ioctl(fd, termios.TIOCSTI, bytes([byte]))
    except OSError:
        pass
    finally:
        set_modes(fd, modes)
