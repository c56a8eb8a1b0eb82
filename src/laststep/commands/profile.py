"""run a training and show where the time of its steps goes"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from laststep.commands import run as running
from laststep.record.events.process import ProbeState, RecorderStart
from laststep.record.events.supervisor import RecorderMissing
from laststep.record.events.training import ProfileState
from laststep.record.folder import find_run
from laststep.settings import read_settings

if TYPE_CHECKING:
    from laststep.profile.costs import Profile
    from laststep.record.run import Run

DEFAULT_AFTER, DEFAULT_STEPS, MAX_STEPS = 10, 20, 1000
TAKE_VALUE = ("--steps", "--after", "--dir", "--show")

EXAMPLES = (
    "laststep profile python train.py",
    "laststep profile --after 100 --steps 50 -- python train.py",
    "laststep profile --show 20261116-0301        show the profile of a run again",
    "laststep profile --json --show 20261116-0301 as JSON",
)
ABOUT = """\
The profile starts after the first steps, so that tracing and compilation are
not in it, and covers the next ones; training then continues to its normal end.
TensorFlow's profiler writes five lines to stderr; TF_CPP_MIN_LOG_LEVEL=1 hides
them. The trace stays in the run folder, for TensorBoard's profile plugin.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "laststep profile [options] [--] python train.py …"
    parser.description = f"{__doc__}\n\n{ABOUT}"
    parser.add_argument(
        "--steps", type=_positive, default=DEFAULT_STEPS, metavar="N", help=f"how many steps ({DEFAULT_STEPS})"
    )
    parser.add_argument(
        "--after", type=_positive, default=DEFAULT_AFTER, metavar="N", help=f"after how many ({DEFAULT_AFTER})"
    )
    parser.add_argument("--json", action="store_true", help="as one line of JSON on stdout, after the program's output")
    parser.add_argument("--dir", help="where run folders go (default: .laststep here; also LASTSTEP_DIR)")
    parser.add_argument("--show", metavar="RUN", help="run nothing; show the profile of a finished run")


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1, not {text!r}")
    return int(text)


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    ours = (*TAKE_VALUE, "--json", "--help", "-h")
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in ours:
        at += 2 if argv[at] in TAKE_VALUE else 1
    return argv[:at], argv[at + 1 :] if argv[at : at + 1] == ["--"] else argv[at:]


def run(args: argparse.Namespace) -> int:
    settings = read_settings({"dir": args.dir})
    if args.show is not None:
        page = _page(find_run(args.show, settings.dir), args.json, sys.stdout)
        missing = page.startswith("laststep: ")
        (sys.stderr if missing else sys.stdout).write(page)
        return 2 if missing else 0
    if not args.command:
        print("laststep profile: missing command, e.g. `laststep profile python train.py`", file=sys.stderr)
        return 2
    if args.steps > MAX_STEPS:
        print(f"laststep: --steps can be at most {MAX_STEPS}: longer traces can't be opened", file=sys.stderr)
        return 2
    wanted = f"{args.after}:{args.steps}"
    return running.run_here(args.command, settings._replace(quiet=False), ProfileAnswer(args.json), {"profile": wanted})


class ProfileAnswer:
    """Printed after the end: how the run ended, if badly, and the profile. With --json the profile goes to stdout."""

    def __init__(self, json: bool) -> None:
        self._json = json

    def __call__(self, folder: Path) -> str:
        ended = running.diagnosis_page(folder)
        ended = "" if "nothing to report" in ended else ended.rstrip() + "\n\n"
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # a large trace takes a while
        try:
            page = _page(folder, self._json, sys.stderr)
        except KeyboardInterrupt:
            return f"{ended}laststep: interrupted; laststep profile --show {folder.name} shows the profile\n"
        if self._json:
            running.say(page, 1)
            return ended
        return ended + ("" if page.startswith("laststep: ") else "\n") + page


def _page(folder: Path, as_json: bool, stream: TextIO) -> str:
    """The page, or one line that says why there is no profile."""
    from laststep.record.run import DamagedRun, Run
    from laststep.reports import profile as pages

    run = Run.load(folder)
    try:
        made = read_profile(run, folder)
    except DamagedRun as error:
        made = str(error)
    if isinstance(made, str):
        return pages.line({"run": folder.name, "missing": made}) if as_json else f"laststep: no profile: {made}\n"
    where = _shown(folder / "profile")
    if as_json:
        return pages.line(pages.as_data(made, folder.name, str(folder / "profile")))
    from laststep.commands.why import terminal_settings

    width, colour = terminal_settings(stream)
    return pages.page(made, f"laststep · {folder.name}", " ".join(run.command), where, width, colour)


def read_profile(run: Run, folder: Path) -> Profile | str:
    """The profile of a run, or why there is none."""
    from laststep.profile.costs import make_profile
    from laststep.profile.trace import read_trace

    done = run.last(ProfileState)
    if done is None or done.state != "done":
        return _why_not(run)
    files = sorted((folder / "profile" / "plugins" / "profile").glob("*/*.xplane.pb"))
    if not files:
        return f"TensorFlow's profiler left no trace in {folder / 'profile'}"
    made = make_profile(read_trace(files[-1]), done, _paces(run, done.after))
    return made or "no step ended while the profiler was running"


def _paces(run: Run, until: int | None) -> list[float]:
    """Seconds per step of the nine steps before the profile; steps that ended together share theirs."""
    steps = [step for step in run.steps if until is not None and step.number <= until][-10:]
    each = [(step.duration, step.number - last.number) for last, step in pairwise(steps)]
    return [seconds / count for seconds, count in each if 0 < seconds < 1e9 and count > 0]


def _why_not(run: Run) -> str:
    profiler = run.last(ProfileState)
    if profiler is not None and profiler.state == "lost":
        return f"the trace could not be written ({profiler.because})"
    if run.alive:
        return "the program is still running"
    if profiler is not None:
        return f"the program died during the profile, which began after step {profiler.after}; nothing was saved"
    for probe in run.all(ProbeState):
        if probe.name == "profiler":
            return probe.because
    if run.has(RecorderMissing) or not run.has(RecorderStart):
        return "laststep could not record inside the program"
    if not any(event.profile for event in run.all(RecorderStart)):
        return "this run was not profiled; `laststep profile python train.py` does that"
    last = run.steps[-1].number if run.steps else 0
    if not last:
        return "no training step was seen"
    return f"the program ended at step {last}, before the profile began; use a smaller --after"


def _shown(path: Path) -> str:
    """Relative to the working directory, if that is shorter."""
    try:
        near = os.path.relpath(path)
    except (OSError, ValueError):
        return str(path)
    return near if len(near) < len(str(path)) else str(path)
