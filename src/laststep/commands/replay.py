"""run the first bad step again: which operation made the NaN"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from laststep.experiments.side_run import add_consent, announce, last_words, may_start, side_run, why_not
from laststep.record.decode import encode
from laststep.record.events.experiments import Replayed
from laststep.record.events.numbers import BadNumber
from laststep.record.folder import find_run
from laststep.record.run import DamagedRun, Run
from laststep.settings import read_settings

EXAMPLES = ("laststep replay             of the newest run here", "laststep replay 20261116-12  of another one")
KEPT = "kept.npz"
SECONDS = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="a run's id, its beginning, or a run folder (default: the newest)")
    parser.add_argument("--json", action="store_true", help="for programs, on standard output")
    parser.add_argument("--dir", help="where the run folders are")
    add_consent(parser)


def run(asked: argparse.Namespace) -> int:
    recorded = Run.load(find_run(asked.run, read_settings({"dir": asked.dir}).dir))
    bad = recorded.first(BadNumber)
    refusal = _nothing_to_replay(recorded, bad) or why_not(recorded)
    if refusal or bad is None or recorded.folder is None:
        print(f"laststep: {refusal}", file=sys.stderr)
        return 2
    if not may_start(recorded, asked.yes):
        return 2
    announce(recorded, None, "what it does before its first step is done again, and nothing after it")
    folder = Path(tempfile.mkdtemp(prefix="laststep-replay-"))
    try:
        kept = str((recorded.folder / KEPT).resolve())
        in_time = side_run(recorded, folder, SECONDS, {"replay": kept})
        return _tell(asked, recorded, bad, folder, in_time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _nothing_to_replay(recorded: Run, bad: BadNumber | None) -> str:
    if bad is None:
        return f"{recorded.id} has no bad step: no NaN and no Inf was seen in it"
    if recorded.folder is None or not (recorded.folder / KEPT).is_file():
        return f"of the bad step of {recorded.id} nothing was kept (too large, or --keep-last-batch 0)"
    return ""


def _tell(asked: argparse.Namespace, recorded: Run, bad: BadNumber, folder: Path, in_time: bool) -> int:
    from laststep.commands.why import terminal_settings
    from laststep.reports import replay

    try:
        replayed = Run.load(folder).last(Replayed)
    except DamagedRun:
        replayed = None
    if replayed is None:
        late = "" if in_time else " in time"
        print(f"laststep: the program did not come to its first step{late}; its last words:", file=sys.stderr)
        print(last_words(folder), file=sys.stderr)
        return 2
    if asked.json:
        fields = {"because": replayed.because} if replayed.because else encode(replayed)
        print(json.dumps({"run": recorded.id, "bad": encode(bad), "replayed": fields}))
    else:
        width, colour = terminal_settings(sys.stdout)
        sys.stdout.write(replay.page(recorded, bad, replayed, width, colour))
    return 0 if replayed.origin is not None or replayed.inputs else 1
