"""follow a run while it goes on: a live screen, or plain lines"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from laststep.record import folder as folders
from laststep.settings import read_settings

if TYPE_CHECKING:
    from laststep.analysis.finding import Diagnosis
    from laststep.commands._screen import Screen
    from laststep.reports.figures import View
    from laststep.reports.sheet import Sheet

EXAMPLES = (
    "laststep watch                    the running one here, or the newest",
    "laststep watch 20261116-0301      a run by its id, or a prefix of it",
    "laststep watch --once             its present state only",
    "laststep watch --every 60 >> log  one line per minute",
)
SCREEN_SECONDS = 1.0  # between two updates
LINES_SECONDS = 5.0
MIN_LOAD_SECONDS = 2.0  # between two complete readings of the record
MAX_LOAD_SECONDS = 30.0
LOAD_FACTOR = 20  # wait this many times as long as reading takes: at most a twentieth of one core
FIRST_EVENT_SECONDS = 3.0  # that a run which has just begun gets for its first event


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="run id, unique prefix of one, or run folder (default: the running one)")
    parser.add_argument("--every", type=_seconds, metavar="SECONDS", help="interval (default: 1; 5 for plain lines)")
    parser.add_argument("--once", action="store_true", help="show the present state and exit")
    parser.add_argument("--dir", help="directory of the run folders")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.1 and 86400 seconds")
    return seconds


def run(args: argparse.Namespace) -> int:
    watched = Watched(_choose(args.run, read_settings({"dir": args.dir}).dir))
    on_screen = _is_terminal(sys.stdout)
    if args.once or not watched.view.alive:
        _show_last(watched, on_screen)
    elif on_screen and _is_terminal(sys.stdin):
        _watch_on_screen(watched, args.every or SCREEN_SECONDS)
    else:
        _watch_in_lines(watched, args.every or LINES_SECONDS)
    return 0


def _choose(name: str | None, directory: str | None) -> Path:
    """Without a name: the newest run that is still going on, or else the newest."""
    if name is None:
        running = next((folder for folder in folders.list_runs(directory) if folders.is_busy(folder)), None)
        if running is not None:
            return running
    return folders.find_run(name, directory)


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") not in (None, "", "dumb")


class Watched:
    """A run folder: the cheap part is read each time, the whole record only now and then."""

    def __init__(self, folder: Path) -> None:
        from laststep.record.follow import Follower

        self.folder = folder
        self._follower = Follower(folder)
        self._next = 0.0
        self.diagnosis = self._first()
        self.view = self.update()

    def update(self) -> View:
        from laststep.record.follow import Live
        from laststep.record.run import DamagedRun
        from laststep.reports.figures import view_of
        from laststep.rules.diagnose import INCONSISTENT, read_diagnosis

        began = time.monotonic()
        is_over = self.diagnosis.run.alive and not folders.is_busy(self.folder)
        if began >= self._next or is_over:
            self.diagnosis = read_diagnosis(self.folder)
            self._plan(began)
        live = self._follower.read() if self.diagnosis.run.alive else Live()
        try:
            self.view = view_of(self.diagnosis, live, time.time())
        except INCONSISTENT as error:
            raise DamagedRun(f"the record in {self.folder} is inconsistent ({error})") from error
        return self.view

    def _plan(self, began: float) -> None:
        now = time.monotonic()
        self._next = now + min(MAX_LOAD_SECONDS, max(MIN_LOAD_SECONDS, LOAD_FACTOR * (now - began)))

    def _first(self) -> Diagnosis:
        from laststep.record.run import DamagedRun
        from laststep.rules.diagnose import read_diagnosis
        from laststep.rules.rule import all_rules

        all_rules()  # imported now, so that the first reading is not timed with it
        began = time.monotonic()
        while True:
            try:
                diagnosis = read_diagnosis(self.folder)
                self._plan(began)
                return diagnosis
            except DamagedRun:
                if time.monotonic() > began + FIRST_EVENT_SECONDS or not folders.is_busy(self.folder):
                    raise
                time.sleep(0.1)


def _sheet(width: int, height: int) -> Sheet:
    from laststep.commands.why import terminal_settings
    from laststep.reports.sheet import Sheet

    _, colour = terminal_settings(sys.stdout)
    return Sheet(width, height, colour, not supports_utf8(os.environ, sys.stdout.encoding))


def supports_utf8(environ: Mapping[str, str], encoding: str | None) -> bool:
    """By the locale. Python itself sets LC_CTYPE to C.UTF-8 in the C locale: that is ignored."""
    names = [environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if names[1] == "C.UTF-8" and names[2] in ("", "C", "POSIX"):
        names[1] = ""
    locale = next((name for name in names if name), "C").lower().replace("-", "")
    return "utf8" in locale and (encoding or "").lower().replace("-", "") == "utf8"


def _show_last(watched: Watched, on_screen: bool) -> None:
    """The last figures, and how the run ended; this stays in the terminal."""
    from laststep.reports.live import screen

    if not on_screen:
        _LinePrinter().print(watched.view, last=True)
        return
    lines = screen(watched.view, _sheet(shutil.get_terminal_size((80, 24)).columns, 60), keys="")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _watch_in_lines(watched: Watched, every: float) -> None:
    printer, due = _LinePrinter(), 0.0
    while watched.view.alive:
        if time.monotonic() >= due or printer.has_changed(watched.view):
            due = time.monotonic() + every
            printer.print(watched.view)
        printer.print_findings(watched.view)
        time.sleep(max(0.0, min(MIN_LOAD_SECONDS, due - time.monotonic())))
        watched.update()
    printer.print(watched.view, last=True)


class _LinePrinter:
    """Prints each line at once, and a finding only once."""

    def __init__(self) -> None:
        self._sheet = _sheet(80, 24)
        self._printed: set[str] = set()
        self._stuck = False

    def has_changed(self, view: View) -> bool:
        """Whether it got stuck or moves again, which is printed at once."""
        return self._stuck != (view.stuck is not None)

    def print(self, view: View, last: bool = False) -> None:
        from laststep.reports.lines import end_line, line

        self._stuck = view.stuck is not None
        print(line(view, self._sheet), flush=True)
        if not last:
            return
        self.print_findings(view)
        if not view.alive:
            print(end_line(view, self._sheet), flush=True)

    def print_findings(self, view: View) -> None:
        from laststep.reports.lines import finding_line

        for finding in view.findings:
            if finding.rule not in self._printed:
                self._printed.add(finding.rule)
                print(finding_line(view, finding, self._sheet), flush=True)


def _watch_on_screen(watched: Watched, every: float) -> None:
    from laststep.commands._screen import END_OF_INPUT, Screen

    with Screen(sys.stdin, sys.stdout) as screen:
        reader = _Reader(watched, screen)
        due = 0.0
        while watched.view.alive:
            if time.monotonic() >= due:
                due = time.monotonic() + every
                watched.update()
            reader.show()
            key = screen.key(due - time.monotonic())
            if key in ("q", "Q", END_OF_INPUT):
                return
            reader.press(key)
    _show_last(watched, on_screen=True)


class _Reader:
    """What is on the screen: the figures, or the page of `laststep why`."""

    def __init__(self, watched: Watched, screen: Screen) -> None:
        self._watched, self._screen = watched, screen
        self._shows_why = False
        self._first_line = 0

    def press(self, key: str) -> None:
        page = max(1, self._screen.size[1] - 2)
        moves = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -page, "b": -page, "page down": page, " ": page}
        if key in ("w", "W") or (key == "\x1b" and self._shows_why):
            self._shows_why, self._first_line = not self._shows_why, 0
        elif key == "\x0c":  # Ctrl-L
            self._screen.redraw()
        self._first_line += moves.get(key, 0)

    def show(self) -> None:
        from laststep.reports.live import screen

        width, height = self._screen.size
        sheet = _sheet(width, height)
        self._screen.show(self._page(sheet) if self._shows_why else screen(self._watched.view, sheet))

    def _page(self, sheet: Sheet) -> list[str]:
        from laststep.reports.printing import PLAIN
        from laststep.reports.terminal import page

        text = page(self._watched.diagnosis, sheet.width, sheet.colour)
        if sheet.ascii:
            text = text.translate(PLAIN).encode("ascii", "replace").decode()
        lines = text.splitlines()
        room = sheet.height - 1
        self._first_line = max(0, min(self._first_line, len(lines) - room))
        more = " · space more" if len(lines) > self._first_line + room else ""
        shown = lines[self._first_line : self._first_line + room]
        foot = f"w back · q quit{more}"
        return [*shown, *[""] * (room - len(shown)), foot.translate(PLAIN) if sheet.ascii else foot]
