"""explain what happened to a run, why, and what to change"""

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
    "laststep why 20261116-0301    a run by its id, or a prefix of it",
    "laststep why -v               with the stack and all that was ruled out",
    "laststep why --json           as JSON",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="run id, unique prefix of one, or run folder (default: newest)")
    parser.add_argument("-v", "--verbose", action="store_true", help="the stack, and everything that was checked")
    parser.add_argument("--json", action="store_true", help="as JSON, on standard output")
    parser.add_argument("--dir", help="directory of the run folders")


def run(args: argparse.Namespace) -> int:
    from laststep.record.run import DamagedRun
    from laststep.reports import json, terminal
    from laststep.rules.diagnose import INCONSISTENT, read_diagnosis

    settings = read_settings({"dir": args.dir})
    folder = find_run(args.run, settings.dir)
    diagnosis = read_diagnosis(folder)
    width, colour = terminal_settings(sys.stdout)
    try:
        page = json.page(diagnosis) + "\n" if args.json else terminal.page(diagnosis, width, colour, args.verbose)
    except INCONSISTENT as error:
        raise DamagedRun(f"the record in {folder} is inconsistent ({error})") from error
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
    """(columns, whether to use colours)"""
    colour = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return shutil.get_terminal_size((80, 24)).columns, colour
