"""explain a run from its console log alone, without a recording"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from laststep.commands.why import terminal_settings

if TYPE_CHECKING:
    from laststep.analysis.finding import Diagnosis

EXAMPLES = (
    "laststep diagnose train.log",
    "laststep diagnose slurm-*.out            one answer per file",
    "kubectl logs pod | laststep diagnose -   from standard input",
    "laststep diagnose --json train.log       as JSON",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="the console output, or - for standard input")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="everything that was checked, and every finding in full"
    )
    parser.add_argument("--json", action="store_true", help="as JSON; a list if there are several files")


def run(args: argparse.Namespace) -> int:
    from laststep.reports import json, terminal

    width, colour = terminal_settings(sys.stdout)
    answers = [_diagnosis(name) for name in args.files]
    if args.json:
        pages = [json.page(answer) for answer in answers]
        sys.stdout.write((pages[0] if len(pages) == 1 else "[" + ",\n".join(pages) + "]") + "\n")
    else:
        sys.stdout.write("\n".join(terminal.page(answer, width, colour, args.verbose) for answer in answers))
    return 0


def _diagnosis(name: str) -> Diagnosis:
    from laststep.logs.line_reader import NotALog
    from laststep.logs.read import parse_log, run_from_log
    from laststep.rules.diagnose import diagnose

    if name == "-":
        return diagnose(run_from_log(parse_log(sys.stdin.buffer, "standard input"), "-"))
    if Path(name).is_dir():
        raise NotALog(f"{name} is a folder; for a run folder use `laststep why {name}`")
    with open(name, "rb") as stream:
        return diagnose(run_from_log(parse_log(stream, name), Path(name).name))
