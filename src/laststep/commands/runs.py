"""list the runs here, newest first; or delete old ones"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from laststep.record import folder as folders
from laststep.reports.columns import cut, pad
from laststep.reports.printing import clean
from laststep.settings import read_settings
from laststep.text import format_count, format_duration

EXAMPLES = ("laststep runs", "laststep runs --prune --keep-runs 10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dir", help="directory of the run folders")
    parser.add_argument("--prune", action="store_true", help="delete the oldest runs beyond the limits")
    parser.add_argument("--keep-runs", type=int, metavar="N", help="how many runs to keep (default: 50)")
    parser.add_argument("--keep-size", metavar="SIZE", help="their total size (default: 1 GB)")


def run(args: argparse.Namespace) -> int:
    options = {name: getattr(args, name) for name in ("dir", "keep_runs", "keep_size")}
    settings = read_settings(options)
    if args.prune:
        gone = [
            folder
            for home in folders.homes(settings.dir)
            for folder in folders.prune(home, settings.keep_runs, settings.keep_size)
        ]
        print(f"{format_count(len(gone), 'run')} deleted")
        return 0
    width = shutil.get_terminal_size((80, 24)).columns
    runs = folders.list_runs(settings.dir, folders.to_stderr)
    for folder in runs:
        print(_line(folder, width))
    if not runs:
        print("no runs recorded here yet; record one with: laststep run python train.py", file=sys.stderr)
    return 0


def _line(folder: Path, width: int) -> str:
    from laststep.analysis.unseen import unseen_of
    from laststep.record.run import DamagedRun
    from laststep.reports.unseen import IN_A_LIST
    from laststep.rules.diagnose import INCONSISTENT, read_diagnosis

    try:
        diagnosis = read_diagnosis(folder)
        unseen = unseen_of(diagnosis.run)
        cause = diagnosis.findings[0].rule if diagnosis.findings else IN_A_LIST[unseen.kind] if unseen else "-"
        seconds = format_duration(diagnosis.run.seconds)
        line = f"{pad(folder.name, 20)} {diagnosis.outcome:8} {cause:25} {seconds:>6}  {_short(diagnosis.run.command)}"
    except (DamagedRun, *INCONSISTENT):
        line = f"{pad(folder.name, 20)} damaged"
    return cut(" ".join(clean(line).splitlines()), width)


def _short(command: list[str]) -> str:
    """The command without the interpreter."""
    is_python = bool(command) and Path(command[0]).name.startswith("python")
    return " ".join(command[1:] if is_python and len(command) > 1 else command)
