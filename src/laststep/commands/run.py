"""run a training, recorded; when it ends badly, say why"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from laststep.blackbox import folder as folders
from laststep.recorder.guard import attempt
from laststep.settings import Settings, read_settings

EXAMPLES = (
    "laststep run python train.py --epochs 10",
    "laststep run train.py",
    "laststep run -m mypackage.train",
    "laststep run --quiet -- python -u train.py     (no answer; ask laststep why)",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "laststep run [options] [--] python train.py …"
    parser.add_argument("--quiet", action="store_const", const=True, help="no answer at the end")
    parser.add_argument(
        "--save-before-death",
        action="store_const",
        const=True,
        help="save a Keras model once when memory is about to run out, and on SIGTERM",
    )
    parser.add_argument("--dir", help="where run folders go (default: .laststep here; also LASTSTEP_DIR)")
    parser.add_argument("--keep-runs", type=int, metavar="N", help="how many runs to keep (default: 50)")
    parser.add_argument("--keep-size", metavar="SIZE", help="how much they may take together (default: 1 GB)")


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """(our own options, the command): what follows the first word that is not an option of ours is the user's."""
    takes_value = ("--dir", "--keep-runs", "--keep-size")
    ours = (*takes_value, "--quiet", "--save-before-death", "--help", "-h")
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in ours:
        at += 2 if argv[at] in takes_value else 1
    return argv[:at], argv[at + 1 :] if argv[at : at + 1] == ["--"] else argv[at:]


def run(asked: argparse.Namespace) -> int:
    command = asked.command
    if not command:
        print("laststep: what should be run? laststep run python train.py", file=sys.stderr)
        return 2
    names = ("dir", "quiet", "keep_runs", "keep_size", "save_before_death")
    options = {name: getattr(asked, name) for name in names}
    return run_here(command, read_settings(options))


def run_here(command: list[str], settings: Settings) -> int:
    """Recorded where there is a place for it, bare where there is none or where it is switched off."""
    if os.environ.get("LASTSTEP_OFF") == "1":
        return run_bare(command)
    try:
        folder = folders.create_run(settings.dir)
    except OSError as error:
        print(f"laststep: not recording, no place for a run folder ({error})", file=sys.stderr)
        return run_bare(command)
    return run_recorded(command, folder, settings)


def run_bare(command: list[str]) -> int:
    """Become the program: nothing of ours is left."""
    from laststep.supervisor.launch import full_command

    command = full_command(command)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        return cannot_start(command, error)


def run_recorded(command: list[str], folder: Path, settings: Settings) -> int:
    from laststep.supervisor.launch import Supervisor, die_alike

    supervisor = Supervisor(command, folder, None if settings.quiet else say, settings.save_before_death)
    try:
        code, number = supervisor.run()
    except OSError as error:
        if supervisor.pid:
            raise
        shutil.rmtree(folder, ignore_errors=True)
        return cannot_start(supervisor.command, error)
    if not settings.quiet:
        page, trouble = attempt(answer, folder)
        say(page if page is not None else f"laststep: no answer could be made ({trouble})\n")
    attempt(folders.prune, folder.parent, settings.keep_runs, settings.keep_size, folder)
    return die_alike(code, number)


def say(text: str) -> None:
    """To stderr, unbuffered: a terminal or a reader that is gone must not change how we end."""
    content = text.encode("utf-8", "replace")
    try:
        while content:
            content = content[os.write(2, content) :]
    except OSError:
        pass


def cannot_start(command: list[str], error: OSError) -> int:
    """The shell's own words and codes for a command that can't be started."""
    print(f"laststep: {command[0]}: {error.strerror}", file=sys.stderr)
    return 127 if isinstance(error, FileNotFoundError) else 126


def answer(folder: Path) -> str:
    """The page, for after the end. A healthy run gets one quiet line."""
    from laststep.commands.why import terminal_settings
    from laststep.diagnose import read_diagnosis
    from laststep.reports.terminal import page
    from laststep.run import DamagedRun

    try:
        diagnosis = read_diagnosis(folder)
    except DamagedRun:
        return f"laststep: the run folder {folder} is gone or damaged; there is no answer\n"
    width, colour = terminal_settings(sys.stderr)
    if diagnosis.outcome == "finished" and not diagnosis.findings:
        return f"laststep: finished, nothing to report ({folder.name})\n"
    return "\n" + page(diagnosis, width, colour) + "\n"
