"""read the plain console log of a run that nobody recorded; say why"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from laststep.commands.why import terminal_settings

if TYPE_CHECKING:
    from laststep.analysis.finding import Diagnosis

EXAMPLES = (
    "laststep diagnose train.log              what a log alone tells",
    "laststep diagnose slurm-*.out            several, one answer each",
    "kubectl logs pod | laststep diagnose -   from standard input",
    "laststep diagnose --json train.log       for programs",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="what the program printed, or - for standard input")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="all that was looked at, and every finding in full"
    )
    parser.add_argument("--json", action="store_true", help="for programs; a list where there are several files")


def run(asked: argparse.Namespace) -> int:
    from laststep.reports import json, terminal

    width, colour = terminal_settings(sys.stdout)
    answers = [_diagnosis(name) for name in asked.files]
    if asked.json:
        pages = [json.page(answer) for answer in answers]
        sys.stdout.write((pages[0] if len(pages) == 1 else "[" + ",\n".join(pages) + "]") + "\n")
    else:
        sys.stdout.write("\n".join(terminal.page(answer, width, colour, asked.verbose) for answer in answers))
    return 0


def _diagnosis(name: str) -> Diagnosis:
    from laststep.logs.line_reader import NotALog
    from laststep.logs.read import parse_log, run_from_log
    from laststep.rules.diagnose import diagnose

    if name == "-":
        return diagnose(run_from_log(parse_log(sys.stdin.buffer, "standard input"), "-"))
    if Path(name).is_dir():
        raise NotALog(f"{name} is a folder; if it is a run's, ask `laststep why {name}`")
    with open(name, "rb") as stream:
        return diagnose(run_from_log(parse_log(stream, name), Path(name).name))
