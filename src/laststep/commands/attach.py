"""inspect a running process that laststep did not start"""

from __future__ import annotations

import argparse
import sys

from laststep.commands.why import terminal_settings

DEFAULT_SECONDS, MIN_SECONDS, MAX_SECONDS = 10.0, 3.0, 86400.0
EXAMPLES = (
    "laststep attach 12345                for 10 s; pgrep -af python lists PIDs",
    "laststep attach 12345 --seconds 60   longer: more reliable about stalls",
    "laststep attach 12345 -v             with the stack of every thread",
    "laststep attach 12345 --json         as JSON",
)
SIDE_EFFECTS = """
The process keeps running: its memory is read without pausing it. Of its
variables only integers named epoch, step and the like are read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{SIDE_EFFECTS}"
    parser.add_argument("pid", metavar="PID", type=int, help="the process ID of the Python program")
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=DEFAULT_SECONDS,
        metavar="N",
        help="how long to watch it (default: 10, at least 3)",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="the stack of every thread, and everything checked"
    )
    parser.add_argument("--json", action="store_true", help="as JSON, on standard output")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"at least {MIN_SECONDS:.0f} seconds")
    return seconds


def run(args: argparse.Namespace) -> int:
    from laststep.reports import json, terminal
    from laststep.rules.diagnose import diagnose
    from laststep.supervisor.attach import attach

    if sys.stderr.isatty():
        print(f"laststep: watching process {args.pid} for {args.seconds:.0f} s without pausing it …", file=sys.stderr)
    diagnosis = diagnose(attach(args.pid, args.seconds))
    width, colour = terminal_settings(sys.stdout)
    sys.stdout.write(
        json.page(diagnosis) + "\n" if args.json else terminal.page(diagnosis, width, colour, args.verbose)
    )
    return 0
