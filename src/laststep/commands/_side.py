"""Start a recorded program once more, for a side run: with its command, its folder and its environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from laststep.run import Run

ENOUGH = 10.0  # how much longer than the first time the program may take to get to its training, and seconds besides
HIDDEN = "…"


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


def announce(recorded: Run, seconds: float | None, then: str) -> None:
    """What will happen now, before it does."""
    place = "" if Path(recorded.cwd) == Path.cwd() else f" (in {recorded.cwd})"
    long = f" for about {seconds:.0f} s" if seconds is not None else ""
    print(f"laststep: starting it again{long}: {' '.join(recorded.command)}{place}", file=sys.stderr)
    print(f"laststep: {then}", file=sys.stderr, flush=True)


def side_run(recorded: Run, folder: Path, seconds: float, asked: dict[str, str]) -> bool:
    """The program once more, in a session of its own; False if it had to be killed."""
    limit = seconds + ENOUGH * (seconds_to_fit(recorded) + 6)
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(
            recorded.command,
            cwd=recorded.cwd,
            env=_environment(recorded, folder, asked | {"seconds": str(seconds)}),
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


def _environment(recorded: Run, folder: Path, asked: dict[str, str]) -> dict[str, str]:
    from laststep.supervisor.launch import recorded_environment

    began = recorded.first("run")
    kept = began.get("environment", {}) if began else {}
    return recorded_environment(folder, asked) | {str(name): str(value) for name, value in kept.items()}


def last_words(folder: Path) -> str:
    from laststep.reports.terminal import clean

    text = (folder / "output").read_bytes()[-3000:].decode("utf-8", "replace")
    return "\n".join(f"  {clean(line)}" for line in text.splitlines()[-12:])
