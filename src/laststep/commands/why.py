"""say what happened to a run, why, and what to change"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from laststep.record.folder import find_run
from laststep.settings import read_settings

if TYPE_CHECKING:
    from laststep.analysis.finding import Diagnosis

EXAMPLES = (
    "laststep why                  the newest run here",
    "laststep why 20261116-0301    a run by its id, or the beginning of it",
    "laststep why -v               the stack too, and all that was ruled out",
    "laststep why --json           for programs",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="a run's id, its beginning, or a run folder (default: the newest)")
    parser.add_argument("-v", "--verbose", action="store_true", help="the stack and all that was looked at")
    parser.add_argument("--json", action="store_true", help="for programs, on standard output")
    parser.add_argument("--dir", help="where the run folders are")


def run(asked: argparse.Namespace) -> int:
    from laststep.record.run import DamagedRun
    from laststep.reports import json, terminal
    from laststep.rules.diagnose import NONSENSE, read_diagnosis

    settings = read_settings({"dir": asked.dir})
    folder = find_run(asked.run, settings.dir)
    diagnosis = read_diagnosis(folder)
    width, colour = terminal_settings(sys.stdout)
    try:
        page = json.page(diagnosis) + "\n" if asked.json else terminal.page(diagnosis, width, colour, asked.verbose)
    except NONSENSE as error:
        raise DamagedRun(f"{folder} holds a record that makes no sense ({error})") from error
    sys.stdout.write(page)
    return 0


def diagnose_here(name: str | None) -> Diagnosis:
    """For `laststep.why()`: the run that is being recorded in this process, or the named one."""
    from laststep.recorder import state
    from laststep.rules.diagnose import read_diagnosis

    if name is None and state.current is not None:
        return read_diagnosis(Path(state.current.folder))
    return read_diagnosis(find_run(name, read_settings().dir))


def terminal_settings(stream: TextIO) -> tuple[int, bool]:
    """(columns, whether colours are wanted)"""
    colour = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return shutil.get_terminal_size((80, 24)).columns, colour
