"""re-run the first step with a NaN or Inf, to find the operation"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from laststep.experiments.side_run import add_consent, announce, last_output, may_start, side_run, why_not
from laststep.record.decode import encode
from laststep.record.events.experiments import Replayed
from laststep.record.events.numbers import BadNumber
from laststep.record.folder import find_run
from laststep.record.run import DamagedRun, Run
from laststep.settings import read_settings

EXAMPLES = ("laststep replay             for the newest run here", "laststep replay 20261116-12  for another one")
KEPT = "kept.npz"
MAX_SECONDS = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="run id, unique prefix of one, or run folder (default: newest)")
    parser.add_argument("--json", action="store_true", help="as JSON, on standard output")
    parser.add_argument("--dir", help="directory of the run folders")
    add_consent(parser)


def run(args: argparse.Namespace) -> int:
    recorded = Run.load(find_run(args.run, read_settings({"dir": args.dir}).dir))
    bad = recorded.first(BadNumber)
    refusal = _nothing_to_replay(recorded, bad) or why_not(recorded)
    if refusal or bad is None or recorded.folder is None:
        print(f"laststep: {refusal}", file=sys.stderr)
        return 2
    if not may_start(recorded, args.yes):
        return 2
    announce(recorded, None, "everything before its first step runs again, nothing after it")
    folder = Path(tempfile.mkdtemp(prefix="laststep-replay-"))
    try:
        kept = str((recorded.folder / KEPT).resolve())
        in_time = side_run(recorded, folder, MAX_SECONDS, {"replay": kept})
        return _report(args, recorded, bad, folder, in_time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _nothing_to_replay(recorded: Run, bad: BadNumber | None) -> str:
    if bad is None:
        return f"{recorded.id} has no step with a NaN or Inf"
    if recorded.folder is None or not (recorded.folder / KEPT).is_file():
        return f"the batch of the bad step of {recorded.id} was not kept (too large, or --keep-last-batch 0)"
    return ""


def _report(args: argparse.Namespace, recorded: Run, bad: BadNumber, folder: Path, in_time: bool) -> int:
    from laststep.commands.why import terminal_settings
    from laststep.reports import replay

    try:
        replayed = Run.load(folder).last(Replayed)
    except DamagedRun:
        replayed = None
    if replayed is None:
        late = "" if in_time else " in time"
        print(f"laststep: the program did not reach its first step{late}; its last output:", file=sys.stderr)
        print(last_output(folder), file=sys.stderr)
        return 2
    if args.json:
        fields = {"because": replayed.because} if replayed.because else encode(replayed)
        print(json.dumps({"run": recorded.id, "bad": encode(bad), "replayed": fields}))
    else:
        width, colour = terminal_settings(sys.stdout)
        sys.stdout.write(replay.page(recorded, bad, replayed, width, colour))
    return 0 if replayed.origin is not None or replayed.inputs else 1
