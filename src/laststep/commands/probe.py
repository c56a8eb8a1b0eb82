"""measure what a changed input pipeline would bring, in a side run"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from laststep.blackbox.folder import find_run
from laststep.run import DamagedRun, Run
from laststep.settings import read_settings

EXAMPLES = (
    "laststep probe                  of the newest run here",
    "laststep probe --seconds 180    longer, for narrower ranges",
)
SECONDS = 60
ENOUGH = 10.0  # how much longer than the first time the program may take to get to its fit, and seconds besides
HIDDEN = "…"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", help="a run's id, its beginning, or a run folder (default: the newest)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"how long it may take (default: {SECONDS})")
    parser.add_argument("--json", action="store_true", help="for programs, on standard output")
    parser.add_argument("--dir", help="where the run folders are")


def run(asked: argparse.Namespace) -> int:
    recorded = Run.load(find_run(asked.run, read_settings({"dir": asked.dir}).dir))
    refusal = why_not(recorded)
    if refusal:
        print(f"laststep: {refusal}", file=sys.stderr)
        return 2
    cwd = recorded.cwd
    print(announcement(recorded, cwd, asked.seconds), file=sys.stderr, flush=True)
    folder = Path(tempfile.mkdtemp(prefix="laststep-probe-"))
    try:
        in_time = side_run(recorded, cwd, folder, asked.seconds)
        return tell(asked, recorded, cwd, folder, in_time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def why_not(recorded: Run) -> str:
    """What stands against starting it again; empty if nothing does."""
    began = recorded.first("run")
    if not recorded.command or began is None:
        return f"{recorded.id} does not say how it was started, so it can't be started again"
    if any(HIDDEN in word for word in recorded.command):
        return "the command held a secret, which is not kept, so it can't be started again"
    if recorded.alive:
        return f"{recorded.id} is still running: a side run beside it would be disturbed and would disturb it"
    if began.get("host") != os.uname().nodename:
        return f"{recorded.id} ran on {began.get('host')}: a side run only tells something there"
    if not recorded.cwd or not Path(recorded.cwd).is_dir():
        return f"the folder it ran in is gone: {recorded.cwd}"
    return ""


def announcement(recorded: Run, cwd: str, seconds: float) -> str:
    place = "" if Path(cwd) == Path.cwd() else f" (in {cwd})"
    return (
        f"laststep: starting it again for about {seconds:.0f} s: {' '.join(recorded.command)}{place}\n"
        "laststep: what it does before its first fit is done again, nothing after it"
    )


def side_run(recorded: Run, cwd: str, folder: Path, seconds: float) -> bool:
    """The program once more, in a session of its own; False if it had to be killed."""
    limit = seconds + ENOUGH * (seconds_to_fit(recorded) + 6)
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(
            recorded.command,
            cwd=cwd,
            env=side_environment(recorded, folder, seconds),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(limit)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            end_session(process)


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Also the helpers that it left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def seconds_to_fit(recorded: Run) -> float:
    fit = recorded.first("fit") or recorded.first("loop")
    return fit.time - recorded.began if fit is not None else 60.0


def side_environment(recorded: Run, folder: Path, seconds: float) -> dict[str, str]:
    from laststep.supervisor.launch import recorded_environment

    began = recorded.first("run")
    kept = began.get("environment", {}) if began else {}
    environ = recorded_environment(folder, {"probe": str(seconds)})
    return environ | {str(name): str(value) for name, value in kept.items()}


def tell(asked: argparse.Namespace, recorded: Run, cwd: str, folder: Path, in_time: bool) -> int:
    from laststep.commands.why import terminal_settings
    from laststep.reports import probe
    from laststep.whatif import read_outcome

    try:
        outcome = read_outcome(Run.load(folder))
    except DamagedRun:
        print(f"laststep: the side run left no record; its last words:\n{last_words(folder)}", file=sys.stderr)
        return 2
    if outcome.failed and not outcome.where and not in_time:
        print("laststep: the program did not come to a fit in time and was stopped", file=sys.stderr)
    if asked.json:
        print(probe.as_json(outcome, recorded.id, recorded.command))
    else:
        width, colour = terminal_settings(sys.stdout)
        sys.stdout.write(probe.page(outcome, recorded.id, recorded.command, cwd, width, colour))
    if outcome.failed and not outcome.where:
        print(f"laststep: the last words of the side run:\n{last_words(folder)}", file=sys.stderr)
    return 1 if outcome.failed else 0


def last_words(folder: Path) -> str:
    from laststep.reports.terminal import clean

    text = (folder / "output").read_bytes()[-3000:].decode("utf-8", "replace")
    return "\n".join(f"  {clean(line)}" for line in text.splitlines()[-12:])
