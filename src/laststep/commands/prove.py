"""test the first remedy: short trainings with and without it"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from laststep.analysis.experiments.prove import OPEN, read_result
from laststep.analysis.finding import Confidence, Finding, Remedy
from laststep.experiments.side_run import add_consent, announce, last_output, may_start, side_run, why_not
from laststep.record.decode import encode
from laststep.record.events.experiments import ProveResult, SideRun
from laststep.record.events.numbers import BadNumber
from laststep.record.folder import PROVE_RESULTS, find_run
from laststep.record.run import DamagedRun, Run
from laststep.rules.diagnose import diagnose
from laststep.settings import read_settings
from laststep.text import format_place

EXAMPLES = (
    "laststep prove                  for the newest run here",
    "laststep prove --seconds 180    longer, for slow trainings",
)
DEFAULT_SECONDS = 60
OTHER_VERBS = {"input-starved": "laststep tune", "invalid-loss-math": "laststep replay"}
CHANGES_LOSS = ("loss", "targets", "affine")  # trials in which the losses of the two arms are not comparable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="run id, unique prefix of one, or run folder (default: newest)")
    parser.add_argument(
        "--seconds", type=float, default=DEFAULT_SECONDS, help=f"training time (default: {DEFAULT_SECONDS})"
    )
    parser.add_argument("--json", action="store_true", help="as JSON, on standard output")
    parser.add_argument("--dir", help="directory of the run folders")
    add_consent(parser)


def run(args: argparse.Namespace) -> int:
    recorded = Run.load(find_run(args.run, read_settings({"dir": args.dir}).dir))
    found = diagnose(recorded).findings[:1]
    remedy = next((remedy for finding in found for remedy in finding.remedies if remedy.trial), None)
    refusal = why_not(recorded) or _nothing_to_prove(recorded, found, remedy)
    if refusal or remedy is None:
        print(f"laststep: {refusal}", file=sys.stderr)
        return 2
    if not may_start(recorded, args.yes):
        return 2
    announce(recorded, args.seconds, "everything before its first fit runs again; its callbacks do not")
    folder = Path(tempfile.mkdtemp(prefix="laststep-prove-"))
    try:
        (folder / "plan.json").write_text(json.dumps(_plan(recorded, remedy)))
        in_time = side_run(recorded, folder, args.seconds, {"prove": str(folder / "plan.json")})
        return _report(args, recorded, found[0], remedy, folder, in_time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _nothing_to_prove(recorded: Run, findings: tuple[Finding, ...], remedy: Remedy | None) -> str:
    if not findings:
        return f"{recorded.id} has no finding, so there is nothing to prove"
    if remedy is None:
        rule = findings[0].rule
        other = f"; use `{OTHER_VERBS[rule]}`" if rule in OTHER_VERBS else ""
        return f"no remedy of {rule} can be tried automatically{other}"
    return ""


def _plan(recorded: Run, remedy: Remedy) -> dict[str, Any]:
    bad = recorded.first(BadNumber)
    steps = recorded.steps[-1].number if recorded.steps else 0
    return {"trial": dict(remedy.trial or {}), "bad_step": bad.step if bad else None, "steps": steps}


def _report(
    args: argparse.Namespace, recorded: Run, finding: Finding, remedy: Remedy, folder: Path, in_time: bool
) -> int:
    from laststep.commands.why import terminal_settings
    from laststep.reports import prove

    try:
        side = Run.load(folder)
    except DamagedRun:
        print(f"laststep: the side run left no record; its last output:\n{last_output(folder)}", file=sys.stderr)
        return 2
    trial = remedy.trial or {}
    says = str(trial.get("says") or f"{remedy.does}{f': {remedy.change}' if remedy.change else ''}")
    certain, same_loss = finding.confidence is Confidence.CERTAIN, not any(name in trial for name in CHANGES_LOSS)
    result = read_result(side, finding.rule, says, certain, recorded.has(BadNumber), same_loss)
    _save(recorded, result)
    if args.json:
        print(prove.as_json(recorded, result))
    else:
        width, colour = terminal_settings(sys.stdout)
        place = format_place(remedy.where or finding.where, recorded.cwd)
        sys.stdout.write(prove.page(recorded, result, place, width, colour))
    if not side.has(SideRun):
        late = "" if in_time else "it did not reach a fit in time and was stopped; "
        print(f"laststep: {late}the last output of the side run:\n{last_output(folder)}", file=sys.stderr)
    return 1 if result.verdict == OPEN else 0


def _save(recorded: Run, result: ProveResult) -> None:
    """In the run folder, so that `laststep why` reports it from now on; only printed if that is not writable."""
    from laststep.record.journal import JournalWriter

    if result.verdict == OPEN or recorded.folder is None:
        return
    journal = JournalWriter(recorded.folder / PROVE_RESULTS, "prove")
    journal.write(result.KIND, encode(result))
    if journal.stopped:
        print(f"laststep: the result could not be saved in the run folder ({journal.stopped})", file=sys.stderr)
    journal.close()
