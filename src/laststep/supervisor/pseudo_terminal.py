"""The user's terminal and the pseudo-terminal that the program gets in its place."""

from __future__ import annotations

import fcntl
import os
import select
import termios
import time
from typing import Any

OPOST = termios.OPOST
MOST_TYPED_AHEAD = 3000  # a terminal keeps 4095 bytes
INPUT, OUTPUT, CONTROL, LOCAL, CHARACTERS = 0, 1, 2, 3, 6


def get_modes(fd: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(fd)
    except termios.error:  # gone
        return None


def set_modes(fd: int, modes: list[Any] | None) -> None:
    """Also from the background: SIGTTOU is blocked in all our processes that come here."""
    if modes is not None:
        try:
            termios.tcsetattr(fd, termios.TCSANOW, modes)
        except termios.error:
            pass


def raw(modes: list[Any]) -> list[Any]:
    """Every byte as it is, in both directions: the program's terminal does the rest."""
    changed = [*modes[:CHARACTERS], list(modes[CHARACTERS])]
    changed[INPUT] &= ~(termios.IGNBRK | termios.BRKINT | termios.PARMRK | termios.ISTRIP)
    changed[INPUT] &= ~(termios.INLCR | termios.IGNCR | termios.ICRNL | termios.IXON)
    changed[OUTPUT] &= ~termios.OPOST
    changed[LOCAL] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    changed[CHARACTERS][termios.VMIN], changed[CHARACTERS][termios.VTIME] = 1, 0
    return changed


def copy_size(real: int, ours: int) -> None:
    """Where it changes, the kernel then sends SIGWINCH to whoever is in the foreground of ours."""
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
    """Whether our job has the terminal; where it controls no job, all have it."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return True


def is_job() -> bool:
    """Whether a shell with job control started us: then our group is not the one that the session began with."""
    return os.getsid(0) != os.getpgrp()


class Attachment:
    """The user's terminal, lent to the program's: its modes move there and back, as if there were one of them."""

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
        self._hand_over_lines(modes)
        set_modes(self._ours, modes)
        set_modes(self._real, raw(modes))
        self._raw = get_modes(self._real)

    def _hand_over_lines(self, modes: list[Any]) -> None:
        """Lines typed ahead, and the end of them (Ctrl-D), which a raw terminal does not know; shown already."""
        typed = b""
        while modes[LOCAL] & termios.ICANON and select.select([self._real], [], [], 0)[0]:
            typed += os.read(self._real, 4096) or modes[CHARACTERS][termios.VEOF]
            if len(typed) > MOST_TYPED_AHEAD:
                break
        if typed:
            silent = list(modes)
            silent[LOCAL] &= ~(termios.ECHO | termios.ECHONL)
            set_modes(self._ours, silent)
            os.write(self._ours, typed)
            time.sleep(0.02)  # the kernel takes it in a moment later

    def detach(self) -> None:
        """The program's own modes go back to the user's terminal, unless others have changed it since."""
        if self.is_on and get_modes(self._real) == self._raw:
            set_modes(self._real, get_modes(self._ours))
        self._raw = None


def take_unread(fd: int) -> bytes:
    """What was typed into a terminal of ours, and not read by the program."""
    modes = get_modes(fd)
    if modes is None:
        return b""
    set_modes(fd, raw(modes))  # half a line can be read, too
    unread = os.read(fd, 4096) if select.select([fd], [], [], 0)[0] else b""
    set_modes(fd, modes)
    return unread.replace(b"\0", b"")


def type_ahead(fd: int, typed: bytes) -> None:
    """As if it had been typed into this terminal, and shown already; many systems do not allow it."""
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
