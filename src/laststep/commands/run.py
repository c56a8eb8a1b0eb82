"""run and record a training; if it ends badly, explain why"""

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

MAX_RESTARTS = 3
RULES_SECONDS, ANSWER_SECONDS = 3.0, 5.0  # time limits; most answers take less than one second
PRUNE_SECONDS, NOTE_SECONDS = 5.0, 1.0

EndPage = Callable[[Path], str]  # run folder → the page printed after the end
Requests = dict[str, str] | None  # to the recorder, beyond recording

EXAMPLES = (
    "laststep run python train.py --epochs 10",
    "laststep run train.py",
    "laststep run -m mypackage.train",
    "laststep run --quiet -- python -u train.py   (no diagnosis; use laststep why)",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "laststep run [options] [--] python train.py …"
    parser.add_argument("--quiet", action="store_const", const=True, help="print no diagnosis at the end")
    what = "if training is stuck: warn, warn with all stacks, stop it, or stop and restart it (default: warn)"
    parser.add_argument("--on-stall", choices=ON_STALL, help=what)
    what = "how long without progress counts as stuck (default: learned from the run)"
    parser.add_argument("--stall-after", metavar="SECONDS", help=what)
    parser.add_argument(
        "--save-before-death",
        action="store_const",
        const=True,
        help="save the Keras model when memory is about to run out, and on SIGTERM",
    )
    what = "largest batch with a NaN or Inf to keep for laststep replay; 0: keep none (default: 16 MB)"
    parser.add_argument("--keep-last-batch", metavar="SIZE", help=what)
    parser.add_argument("--dir", help="where to put run folders (default: .laststep here; also LASTSTEP_DIR)")
    parser.add_argument("--keep-runs", type=int, metavar="N", help="how many runs to keep (default: 50)")
    parser.add_argument("--keep-size", metavar="SIZE", help="their total size (default: 1 GB)")


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """(our options, the command): the command starts with the first word that is not an option of ours."""
    takes_value = ("--dir", "--keep-runs", "--keep-size", "--on-stall", "--stall-after", "--keep-last-batch")
    ours = (*takes_value, "--quiet", "--save-before-death", "--help", "-h")
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in ours:
        at += 2 if argv[at] in takes_value else 1
    return argv[:at], argv[at + 1 :] if argv[at : at + 1] == ["--"] else argv[at:]


def run(args: argparse.Namespace) -> int:
    command = args.command
    if not command:
        print("laststep run: missing command, e.g. `laststep run python train.py`", file=sys.stderr)
        return 2
    options = {name: getattr(args, name) for name in Settings._fields if hasattr(args, name)}
    return run_here(command, read_settings(options))


def run_here(command: list[str], settings: Settings, answer: EndPage | None = None, requests: Requests = None) -> int:
    """Record the command; run it without recording if that is switched off, or if there is no place for the record."""
    if os.environ.get("LASTSTEP_OFF") == "1":
        return run_bare(command)
    try:
        folder = folders.create_run(settings.dir)
    except OSError as error:
        print(f"laststep: not recording: no run folder can be created ({error})", file=sys.stderr)
        return run_bare(command)
    return run_recorded(command, folder, settings, answer or diagnosis_page, requests)


def run_bare(command: list[str]) -> int:
    """Replace this process by the program."""
    from laststep.supervisor.command import full_command, own_environment
    from laststep.supervisor.signals import CHANGED_BY_PYTHON

    command = full_command(command)
    for number in CHANGED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, own_environment())
    except OSError as error:
        return cannot_start(command, error)


def run_recorded(
    command: list[str], folder: Path, settings: Settings, answer: EndPage, requests: Requests = None
) -> int:
    from laststep.supervisor.launch import Supervisor, die_alike

    notice = functools.partial(describe_stall, action=settings.on_stall)
    supervisor = Supervisor(command, folder, None if settings.quiet else say, settings, requests, notice)
    refused, trouble = attempt(start, supervisor)
    if refused or trouble:
        supervisor.give_up()
        shutil.rmtree(folder, ignore_errors=True)
    if refused:
        return cannot_start(supervisor.command, refused)
    if trouble:  # no process or file descriptor can be created: fail open
        say(f"laststep: not recording ({trouble})\n")
        return run_bare(command)
    code, number = supervisor.wait()
    if not settings.quiet:
        print_answer(answer, folder)
    with contextlib.suppress(Interrupted), at_most(PRUNE_SECONDS):
        attempt(folders.prune, folder.parent, settings.keep_runs, settings.keep_size, folder)
    if settings.on_stall == "restart" and supervisor.stopped_stuck:
        start_again(supervisor, folder)
    return die_alike(code, number)


def start(supervisor: Supervisor) -> OSError | None:
    """The error if the command itself can't be started, with or without laststep."""
    from laststep.supervisor.program import CannotExec

    try:
        supervisor.start()
    except CannotExec as error:
        return error
    return None


def print_answer(answer: EndPage, folder: Path) -> None:
    """On stderr. The shell waits for it, so it has a time limit, and any signal ends it."""
    try:
        with at_most(ANSWER_SECONDS if answer is diagnosis_page else 0):
            page, trouble = attempt(answer, folder)
            say(page if page is not None else f"laststep: the diagnosis failed ({trouble})\n")
    except Interrupted as stop:
        if str(stop) == "SIGALRM":
            note = f"laststep: the diagnosis takes longer than {ANSWER_SECONDS:.0f} s; use laststep why {folder.name}\n"
            with contextlib.suppress(Interrupted), at_most(NOTE_SECONDS):  # the terminal itself may be blocked
                say(note)


def start_again(supervisor: Supervisor, folder: Path) -> None:
    """Replace this process by a new laststep with the same arguments; its run names this one as the previous one."""
    from laststep.supervisor.command import own_environment

    done = int(os.environ.get(RESTARTS, "0"))
    if done >= MAX_RESTARTS:
        say(f"laststep: restarted {MAX_RESTARTS} times and stuck each time; not restarting again\n")
        return
    os.environ[RESTARTS] = str(done + 1)
    os.environ[PREVIOUS] = folder.name
    supervisor.restore_signals()
    os.execve(sys.executable, [sys.executable, "-m", "laststep", *sys.argv[1:]], own_environment())


def say(text: str, to: int = 2) -> None:
    """To stderr (or stdout), unbuffered. If the terminal or the reader is gone, that must not change our exit."""
    stream = sys.stderr if to == 2 else sys.stdout
    content = printable(text).encode(getattr(stream, "encoding", None) or "utf-8", "laststep-plain")
    try:
        while content:
            content = content[os.write(to, content) :]
    except OSError:
        pass


def cannot_start(command: list[str], error: OSError) -> int:
    """The message and the exit codes of a shell for a command that can't be started."""
    print(f"laststep: {command[0]}: {error.strerror}", file=sys.stderr)
    return 127 if error.errno == errno.ENOENT else 126


def describe_stall(folder: Path, action: str) -> str:
    """The notice while the program is stuck. Loaded only then: most programs never are."""
    from laststep.reports.notice import stall_notice
    from laststep.rules.diagnose import read_diagnosis

    return stall_notice(read_diagnosis(folder), action)


def diagnosis_page(folder: Path) -> str:
    """The diagnosis, printed after the end; one line for a healthy training, a few if none was looked at."""
    from laststep.commands.why import terminal_settings
    from laststep.record.run import DamagedRun
    from laststep.reports.terminal import finished_note, page
    from laststep.rules.diagnose import read_diagnosis

    try:
        diagnosis = read_diagnosis(folder, RULES_SECONDS)
    except DamagedRun:
        return f"laststep: no diagnosis: the run folder {folder} is gone or damaged\n"
    width, colour = terminal_settings(sys.stderr)
    if diagnosis.outcome == "finished" and not diagnosis.findings and not diagnosis.timed_out:
        return finished_note(diagnosis, width)
    note = f"Not all rules were checked in time; use laststep why {folder.name}\n" if diagnosis.timed_out else ""
    return "\n" + page(diagnosis, width, colour) + note + "\n"
