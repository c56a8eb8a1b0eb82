"""watch a process that runs without laststep; say what it does"""

from __future__ import annotations

import argparse
import sys

from laststep.commands.why import terminal_settings

SECONDS, MIN_SECONDS, MAX_SECONDS = 10.0, 3.0, 86400.0
EXAMPLES = (
    "laststep attach 12345                watch for 10 s; pgrep -af python finds it",
    "laststep attach 12345 --seconds 60   longer: more certain whether it is stuck",
    "laststep attach 12345 -v             every thread's stack too",
    "laststep attach 12345 --json         for programs",
)
PROMISE = """
The process keeps running: its memory is read meanwhile, it is never paused.
Of its variables only integers named epoch, step and the like are kept."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{PROMISE}"
    parser.add_argument("pid", metavar="PID", type=int, help="the number of the Python process")
    parser.add_argument(
        "--seconds", type=_seconds, default=SECONDS, metavar="N", help="how long to watch (default: 10, at least 3)"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every thread's stack, all that was checked")
    parser.add_argument("--json", action="store_true", help="for programs, on standard output")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"at least {MIN_SECONDS:.0f} seconds")
    return seconds


def run(asked: argparse.Namespace) -> int:
    from laststep.reports import json, terminal
    from laststep.rules.diagnose import diagnose
    from laststep.supervisor.attach import attach

    if sys.stderr.isatty():
        print(f"laststep: watching process {asked.pid} for {asked.seconds:.0f} s; it keeps running …", file=sys.stderr)
    diagnosis = diagnose(attach(asked.pid, asked.seconds))
    width, colour = terminal_settings(sys.stdout)
    sys.stdout.write(
        json.page(diagnosis) + "\n" if asked.json else terminal.page(diagnosis, width, colour, asked.verbose)
    )
    return 0
