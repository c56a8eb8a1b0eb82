"""measure what a changed input pipeline would bring, in a side run"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from laststep.experiments.side_run import add_consent, announce, last_words, may_start, side_run, why_not
from laststep.record.folder import find_run
from laststep.record.run import DamagedRun, Run
from laststep.settings import read_settings

EXAMPLES = (
    "laststep tune                  of the newest run here",
    "laststep tune --seconds 180    longer, for narrower ranges",
)
SECONDS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="a run's id, its beginning, or a run folder (default: the newest)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"how long it may take (default: {SECONDS})")
    parser.add_argument("--json", action="store_true", help="for programs, on standard output")
    parser.add_argument("--dir", help="where the run folders are")
    add_consent(parser)


def run(asked: argparse.Namespace) -> int:
    recorded = Run.load(find_run(asked.run, read_settings({"dir": asked.dir}).dir))
    refusal = why_not(recorded)
    if refusal:
        print(f"laststep: {refusal}", file=sys.stderr)
        return 2
    if not may_start(recorded, asked.yes):
        return 2
    cwd = recorded.cwd
    announce(recorded, asked.seconds, "what it does before its first fit is done again, nothing after it")
    folder = Path(tempfile.mkdtemp(prefix="laststep-tune-"))
    try:
        in_time = side_run(recorded, folder, asked.seconds, {"tune": "1"})
        return tell(asked, recorded, cwd, folder, in_time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tell(asked: argparse.Namespace, recorded: Run, cwd: str, folder: Path, in_time: bool) -> int:
    from laststep.analysis.experiments.tune import read_outcome
    from laststep.commands.why import terminal_settings
    from laststep.reports import tune

    try:
        outcome = read_outcome(Run.load(folder))
    except DamagedRun:
        print(f"laststep: the side run left no record; its last words:\n{last_words(folder)}", file=sys.stderr)
        return 2
    if outcome.failed and not outcome.where and not in_time:
        print("laststep: the program did not come to a fit in time and was stopped", file=sys.stderr)
    if asked.json:
        print(tune.as_json(outcome, recorded.id, recorded.command))
    else:
        width, colour = terminal_settings(sys.stdout)
        sys.stdout.write(tune.page(outcome, recorded.id, recorded.command, cwd, width, colour))
    if outcome.failed and not outcome.where:
        print(f"laststep: the last words of the side run:\n{last_words(folder)}", file=sys.stderr)
    return 1 if outcome.failed else 0
