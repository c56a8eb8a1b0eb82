"""run a training, recorded; when it ends badly, say why"""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from laststep.commands._in_time import Interrupted, at_most
from laststep.record import folder as folders
from laststep.recorder.guard import attempt
from laststep.reports.printing import printable
from laststep.settings import ON_STALL, Settings, read_settings
from laststep.supervisor.again import PREVIOUS, RESTARTS

if TYPE_CHECKING:
    from laststep.supervisor.launch import Supervisor

MOST_RESTARTS = 3
RULES_SECONDS, ANSWER_SECONDS = 3.0, 5.0  # a usual answer takes less than one
TIDY_SECONDS, LATE_SECONDS = 5.0, 1.0

Told = Callable[[Path], str]  # a run folder → what is said after the end
Asked = dict[str, str] | None  # of the recorder, beyond recording

EXAMPLES = (
    "laststep run python train.py --epochs 10",
    "laststep run train.py",
    "laststep run -m mypackage.train",
    "laststep run --quiet -- python -u train.py     (no answer; ask laststep why)",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "laststep run [options] [--] python train.py …"
    parser.add_argument("--quiet", action="store_const", const=True, help="no answer at the end")
    what = "when it is stuck: say so (warn), with all stacks, stop it, or stop it and start it again (default: warn)"
    parser.add_argument("--on-stall", choices=ON_STALL, help=what)
    what = "stuck is what does not move for so long (default: learned from the run itself)"
    parser.add_argument("--stall-after", metavar="SECONDS", help=what)
    parser.add_argument(
        "--save-before-death",
        action="store_const",
        const=True,
        help="save a Keras model once when memory is about to run out, and on SIGTERM",
    )
    what = "how much of the batch of a bad step (NaN, Inf) is kept for laststep replay; 0: none (default: 16 MB)"
    parser.add_argument("--keep-last-batch", metavar="SIZE", help=what)
    parser.add_argument("--dir", help="where run folders go (default: .laststep here; also LASTSTEP_DIR)")
    parser.add_argument("--keep-runs", type=int, metavar="N", help="how many runs to keep (default: 50)")
    parser.add_argument("--keep-size", metavar="SIZE", help="how much they may take together (default: 1 GB)")


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """(our own options, the command): what follows the first word that is not an option of ours is the user's."""
    takes_value = ("--dir", "--keep-runs", "--keep-size", "--on-stall", "--stall-after", "--keep-last-batch")
    ours = (*takes_value, "--quiet", "--save-before-death", "--help", "-h")
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in ours:
        at += 2 if argv[at] in takes_value else 1
    return argv[:at], argv[at + 1 :] if argv[at : at + 1] == ["--"] else argv[at:]


def run(asked: argparse.Namespace) -> int:
    command = asked.command
    if not command:
        print("laststep run: missing command, e.g. `laststep run python train.py`", file=sys.stderr)
        return 2
    options = {name: getattr(asked, name) for name in Settings._fields if hasattr(asked, name)}
    return run_here(command, read_settings(options))


def run_here(command: list[str], settings: Settings, told: Told | None = None, asked: Asked = None) -> int:
    """Recorded where there is a place for it, bare where there is none or where it is switched off."""
    if os.environ.get("LASTSTEP_OFF") == "1":
        return run_bare(command)
    try:
        folder = folders.create_run(settings.dir)
    except OSError as error:
        print(f"laststep: not recording, no place for a run folder ({error})", file=sys.stderr)
        return run_bare(command)
    return run_recorded(command, folder, settings, told or answer, asked)


def run_bare(command: list[str]) -> int:
    """Become the program: nothing of ours is left."""
    from laststep.supervisor.command import full_command, own_environment
    from laststep.supervisor.signals import CHANGED_BY_PYTHON

    command = full_command(command)
    for number in CHANGED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, own_environment())
    except OSError as error:
        return cannot_start(command, error)


def run_recorded(command: list[str], folder: Path, settings: Settings, told: Told, asked: Asked = None) -> int:
    from laststep.supervisor.launch import Supervisor, die_alike

    notice = functools.partial(describe_stall, action=settings.on_stall)
    supervisor = Supervisor(command, folder, None if settings.quiet else say, settings, asked, notice)
    refused, trouble = attempt(start, supervisor)
    if refused or trouble:
        supervisor.give_up()
        shutil.rmtree(folder, ignore_errors=True)
    if refused:
        return cannot_start(supervisor.command, refused)
    if trouble:  # no process, no descriptor to be had: fail open
        say(f"laststep: not recording ({trouble})\n")
        return run_bare(command)
    code, number = supervisor.wait()
    if not settings.quiet:
        speak(told, folder)
    with contextlib.suppress(Interrupted), at_most(TIDY_SECONDS):
        attempt(folders.prune, folder.parent, settings.keep_runs, settings.keep_size, folder)
    if settings.on_stall == "restart" and supervisor.stopped_stuck:
        start_again(supervisor, folder)
    return die_alike(code, number)


def start(supervisor: Supervisor) -> OSError | None:
    """Why the command can't be started at all, with or without us."""
    from laststep.supervisor.program import CannotExec

    try:
        supervisor.start()
    except CannotExec as error:
        return error
    return None


def speak(told: Told, folder: Path) -> None:
    """The answer, on stderr; the shell waits for it, so it has its time and ends at any signal."""
    try:
        with at_most(ANSWER_SECONDS if told is answer else 0):
            page, trouble = attempt(told, folder)
            say(page if page is not None else f"laststep: no answer could be made ({trouble})\n")
    except Interrupted as stop:
        if str(stop) == "SIGALRM":
            late = f"laststep: the answer takes longer than {ANSWER_SECONDS:.0f} s; more: laststep why {folder.name}\n"
            with contextlib.suppress(Interrupted), at_most(LATE_SECONDS):  # it may be the terminal that takes nothing
                say(late)


def start_again(supervisor: Supervisor, folder: Path) -> None:
    """Become a new laststep with the same arguments, whose run names this one as the one before."""
    from laststep.supervisor.command import own_environment

    done = int(os.environ.get(RESTARTS, "0"))
    if done >= MOST_RESTARTS:
        say(f"laststep: it was started again {MOST_RESTARTS} times and got stuck each time; it is not started again\n")
        return
    os.environ[RESTARTS] = str(done + 1)
    os.environ[PREVIOUS] = folder.name
    supervisor.restore_signals()
    os.execve(sys.executable, [sys.executable, "-m", "laststep", *sys.argv[1:]], own_environment())


def say(text: str, to: int = 2) -> None:
    """To stderr (or stdout), unbuffered: a terminal or a reader that is gone must not change how we end."""
    stream = sys.stderr if to == 2 else sys.stdout
    content = printable(text).encode(getattr(stream, "encoding", None) or "utf-8", "laststep-plain")
    try:
        while content:
            content = content[os.write(to, content) :]
    except OSError:
        pass


def cannot_start(command: list[str], error: OSError) -> int:
    """The shell's own words and codes for a command that can't be started."""
    print(f"laststep: {command[0]}: {error.strerror}", file=sys.stderr)
    return 127 if error.errno == errno.ENOENT else 126


def describe_stall(folder: Path, action: str) -> str:
    """What is said while the program is stuck. Loaded then only: most programs never are."""
    from laststep.reports.notice import stall_notice
    from laststep.rules.diagnose import read_diagnosis

    return stall_notice(read_diagnosis(folder), action)


def answer(folder: Path) -> str:
    """The page, for after the end. A healthy run gets one quiet line."""
    from laststep.commands.why import terminal_settings
    from laststep.record.run import DamagedRun
    from laststep.reports.terminal import page
    from laststep.rules.diagnose import read_diagnosis

    try:
        diagnosis = read_diagnosis(folder, RULES_SECONDS)
    except DamagedRun:
        return f"laststep: the run folder {folder} is gone or damaged; there is no answer\n"
    width, colour = terminal_settings(sys.stderr)
    if diagnosis.outcome == "finished" and not diagnosis.findings and not diagnosis.hurried:
        return f"laststep: finished, nothing to report ({folder.name})\n"
    late = diagnosis.hurried and f"There was no time for all of it; more: laststep why {folder.name}\n"
    return "\n" + page(diagnosis, width, colour) + (late or "") + "\n"
