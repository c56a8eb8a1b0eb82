"""measure how much faster a changed input pipeline would be"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from laststep.experiments.side_run import add_consent, announce, last_output, may_start, side_run, why_not
from laststep.record.folder import find_run
from laststep.record.run import DamagedRun, Run
from laststep.settings import read_settings

EXAMPLES = (
    "laststep tune                  for the newest run here",
    "laststep tune --seconds 180    longer, for narrower ranges",
)
DEFAULT_SECONDS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="run id, unique prefix of one, or run folder (default: newest)")
    parser.add_argument(
        "--seconds", type=float, default=DEFAULT_SECONDS, help=f"measuring time (default: {DEFAULT_SECONDS})"
    )
    parser.add_argument("--json", action="store_true", help="as JSON, on standard output")
    parser.add_argument("--dir", help="directory of the run folders")
    add_consent(parser)


def run(args: argparse.Namespace) -> int:
    recorded = Run.load(find_run(args.run, read_settings({"dir": args.dir}).dir))
    refusal = why_not(recorded)
    if refusal:
        print(f"laststep: {refusal}", file=sys.stderr)
        return 2
    if not may_start(recorded, args.yes):
        return 2
    cwd = recorded.cwd
    announce(recorded, args.seconds, "everything before its first fit runs again, nothing after it")
    folder = Path(tempfile.mkdtemp(prefix="laststep-tune-"))
    try:
        in_time = side_run(recorded, folder, args.seconds, {"tune": "1"})
        return _report(args, recorded, cwd, folder, in_time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _report(args: argparse.Namespace, recorded: Run, cwd: str, folder: Path, in_time: bool) -> int:
    from laststep.analysis.experiments.tune import read_outcome
    from laststep.commands.why import terminal_settings
    from laststep.reports import tune

    try:
        outcome = read_outcome(Run.load(folder))
    except DamagedRun:
        print(f"laststep: the side run left no record; its last output:\n{last_output(folder)}", file=sys.stderr)
        return 2
    if outcome.failed and not outcome.where and not in_time:
        print("laststep: the program did not reach a fit in time and was stopped", file=sys.stderr)
    if args.json:
        print(tune.as_json(outcome, recorded.id, recorded.command))
    else:
        width, colour = terminal_settings(sys.stdout)
        sys.stdout.write(tune.page(outcome, recorded.id, recorded.command, cwd, width, colour))
    if outcome.failed and not outcome.where:
        print(f"laststep: the last output of the side run:\n{last_output(folder)}", file=sys.stderr)
    return 1 if outcome.failed else 0
