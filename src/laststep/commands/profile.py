"""run a training, and say where the time of its steps goes"""

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
from laststep.record.events.supervisor import Blind
from laststep.record.events.training import ProfileState
from laststep.record.folder import find_run
from laststep.settings import read_settings

if TYPE_CHECKING:
    from laststep.profile.costs import Profile
    from laststep.record.run import Run

AFTER, STEPS, MOST_STEPS = 10, 20, 1000
TAKE_VALUE = ("--steps", "--after", "--dir", "--show")

EXAMPLES = (
    "laststep profile python train.py",
    "laststep profile --after 100 --steps 50 -- python train.py",
    "laststep profile --show 20261116-0301        the table of a run again",
    "laststep profile --json --show 20261116-0301 for programs",
)
ABOUT = """\
Begins after some steps, so that what happens once (tracing, compiling) is over,
and ends some steps later; the training goes on to its own end. TensorFlow's
profiler writes five lines of its own to stderr; TF_CPP_MIN_LOG_LEVEL=1 keeps
them away. The trace stays in the run folder, for TensorBoard's profile plugin.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "laststep profile [options] [--] python train.py …"
    parser.description = f"{__doc__}\n\n{ABOUT}"
    parser.add_argument("--steps", type=_positive, default=STEPS, metavar="N", help=f"how many steps ({STEPS})")
    parser.add_argument("--after", type=_positive, default=AFTER, metavar="N", help=f"after how many ({AFTER})")
    parser.add_argument("--json", action="store_true", help="one line on stdout, after the program's own")
    parser.add_argument("--dir", help="where run folders go (default: .laststep here; also LASTSTEP_DIR)")
    parser.add_argument("--show", metavar="RUN", help="start nothing: the table of a run that is over")


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return int(text)


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    ours = (*TAKE_VALUE, "--json", "--help", "-h")
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in ours:
        at += 2 if argv[at] in TAKE_VALUE else 1
    return argv[:at], argv[at + 1 :] if argv[at : at + 1] == ["--"] else argv[at:]


def run(asked: argparse.Namespace) -> int:
    settings = read_settings({"dir": asked.dir})
    if asked.show is not None:
        told = _told(find_run(asked.show, settings.dir), asked.json, sys.stdout)
        missing = told.startswith("laststep: ")
        (sys.stderr if missing else sys.stdout).write(told)
        return 2 if missing else 0
    if not asked.command:
        print("laststep profile: missing command, e.g. `laststep profile python train.py`", file=sys.stderr)
        return 2
    if asked.steps > MOST_STEPS:
        print(f"laststep: --steps can be {MOST_STEPS} at most: a longer trace can't be opened", file=sys.stderr)
        return 2
    wanted = f"{asked.after}:{asked.steps}"
    return running.run_here(asked.command, settings._replace(quiet=False), Teller(asked.json), {"profile": wanted})


class Teller:
    """What is said after the end: how it ended, if badly, and the table. With --json the table is on stdout."""

    def __init__(self, json: bool) -> None:
        self._json = json

    def __call__(self, folder: Path) -> str:
        ended = running.answer(folder)
        ended = "" if "nothing to report" in ended else ended.rstrip() + "\n\n"
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # a large trace takes a while
        try:
            told = _told(folder, self._json, sys.stderr)
        except KeyboardInterrupt:
            return f"{ended}laststep: interrupted; laststep profile --show {folder.name} shows the table\n"
        if self._json:
            running.say(told, 1)
            return ended
        return ended + ("" if told.startswith("laststep: ") else "\n") + told


def _told(folder: Path, as_json: bool, stream: TextIO) -> str:
    """The page, or one line that says why there is none."""
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
    """The profile of a run; or why there is none, in words."""
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
    """Seconds per step of the nine steps before the profile; those that ended together share theirs."""
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
        return f"the program died in the middle of it, which began after step {profiler.after}; nothing was kept"
    for probe in run.all(ProbeState):
        if probe.name == "profiler":
            return probe.because
    if run.has(Blind) or not run.has(RecorderStart):
        return "laststep could not look inside the program"
    if not any(event.profile for event in run.all(RecorderStart)):
        return "this run was not profiled; laststep profile python train.py does that"
    last = run.steps[-1].number if run.steps else 0
    if not last:
        return "no training step was seen"
    return f"the program ended at step {last}, before it began; give a smaller --after"


def _shown(path: Path) -> str:
    """From here, if that is shorter."""
    try:
        near = os.path.relpath(path)
    except (OSError, ValueError):
        return str(path)
    return near if len(near) < len(str(path)) else str(path)
