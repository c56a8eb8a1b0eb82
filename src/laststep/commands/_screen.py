"""The full-screen mode of the terminal: keys, size, redrawing changed lines; always restored on the way out."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Sequence
from types import FrameType
from typing import Any, TextIO

from laststep.reports.printing import printable

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"  # alternate screen, no cursor, no wrapping
LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
END_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
KEY_NAMES = {
    **{"\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down"},
    **{"\x1b[5~": "page up", "\x1b[6~": "page down"},
}
END_OF_INPUT = "\x04"


class Screen:
    """Uses escape codes that every terminal supports; curses would need the terminfo database."""

    def __init__(self, keys: TextIO, out: TextIO) -> None:
        self._in, self._out = keys.fileno(), out.fileno()
        self._shown: list[str] = []
        self._before: dict[signal.Signals, Any] = {}
        self._settings = termios.tcgetattr(self._in)
        self._wake_read, self._wake = os.pipe()
        os.set_blocking(self._wake, False)

    def __enter__(self) -> Screen:
        try:
            for number in END_SIGNALS:
                self._before[number] = signal.signal(number, _leave)
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._pause)
            self._before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, self._resized)
            self._enter()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not interrupt this
        self._restore()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.signal(signal.SIGINT, on_interrupt)
        os.close(self._wake)
        os.close(self._wake_read)

    def _enter(self) -> None:
        tty.setcbreak(self._in, termios.TCSANOW)
        self._write(ENTER)
        self._shown = []

    def _restore(self) -> None:
        try:
            termios.tcsetattr(self._in, termios.TCSANOW, self._settings)
            self._write(LEAVE)
        except (OSError, termios.error):
            pass  # the terminal is gone

    def _pause(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: restore the terminal for the shell, and enter again when we are continued."""
        self._restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._pause)
        self._enter()
        self._resized(number, frame)

    def _resized(self, number: int, frame: FrameType | None) -> None:
        self._shown = []
        try:
            os.write(self._wake, b"r")
        except BlockingIOError:
            pass

    @property
    def size(self) -> tuple[int, int]:
        """(columns, lines); some terminals report 0 if they do not know."""
        try:
            columns, lines = os.get_terminal_size(self._out)
        except OSError:
            columns, lines = 0, 0
        return columns or 80, lines or 24

    def show(self, lines: Sequence[str]) -> None:
        """Write only the lines that changed: less to send over a slow connection, and no flicker."""
        height = self.size[1]
        lines = [*map(printable, lines[:height]), *[""] * (height - len(lines))]
        fresh = len(self._shown) != len(lines)
        changed = [
            f"\x1b[{row + 1};1H\x1b[0m\x1b[K{line}"  # cleared first: afterwards it would erase the last column
            for row, line in enumerate(lines)
            if fresh or line != self._shown[row]
        ]
        self._write(("\x1b[2J" if fresh else "") + "".join(changed))
        self._shown = lines

    def redraw(self) -> None:
        self._shown = []

    def key(self, seconds: float) -> str:
        """The next key; "" after this many seconds, or if the size changed."""
        ready, _, _ = select.select([self._in, self._wake_read], [], [], max(0.0, seconds))
        if self._wake_read in ready:
            os.read(self._wake_read, 64)
        if self._in not in ready:
            return ""
        try:
            typed = os.read(self._in, 64).decode("utf-8", "replace")
        except OSError:
            return END_OF_INPUT
        return KEY_NAMES.get(typed, typed[:1]) or END_OF_INPUT

    def _write(self, text: str) -> None:
        content = text.encode("utf-8", "replace")
        while content:
            content = content[os.write(self._out, content) :]


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
