"""The user's command and its environment: what is run, and how the recorder is loaded into it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import laststep
from laststep.supervisor.again import PREVIOUS, RESTARTS

MAX_SIMILAR = 3
RECORDER_FOLDER = Path(laststep.__file__).resolve().parent / "recorder"


def python_for_scripts() -> str:
    """The Python for `laststep run train.py`: the active environment's, ours if it can train, or the one on PATH."""
    import importlib.util

    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        candidate = Path(os.environ.get(name, "/nonexistent")) / "bin" / "python"
        if candidate.exists():
            return str(candidate)
    if any(importlib.util.find_spec(library) for library in ("tensorflow", "keras", "tf_keras")):
        return sys.executable
    import shutil

    return shutil.which("python") or shutil.which("python3") or sys.executable


def full_command(command: list[str]) -> list[str]:
    """`train.py …` and `-m package …` get a Python in front; everything else is run unchanged."""
    if command[0] in ("-m", "-c") or (command[0].endswith(".py") and not os.access(command[0], os.X_OK)):
        return [python_for_scripts(), *command]
    if command[0].endswith(".py") and os.sep not in command[0]:
        return [python_for_scripts(), *command]
    return command


def similar_scripts(command: list[str]) -> list[str]:
    """Scripts with a name like that of the one in the command, where there is none of that name."""
    import difflib

    named = next((Path(word) for word in command if word.endswith(".py")), None)
    if named is None or named.exists():
        return []
    try:
        there = [path.name for path in named.parent.iterdir() if path.suffix == ".py"]
    except OSError:
        return []
    close = difflib.get_close_matches(named.name, there, MAX_SIMILAR) or (there if len(there) == 1 else [])
    return [str(named.parent / name) for name in close]


def own_environment() -> dict[str, str]:
    """The environment as we got it. Without a locale, our Python has added LC_CTYPE, which the program's would not."""
    environ = dict(os.environ)
    try:
        at_start = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return environ
    if not any(entry.startswith(b"LC_CTYPE=") for entry in at_start):
        environ.pop("LC_CTYPE", None)
    return environ


def recorded_environment(folder: Path, options: dict[str, str] | None = None) -> dict[str, str]:
    """Makes the program's Python load the recorder; sitecustomize removes these variables again."""
    environ = {name: value for name, value in own_environment().items() if name not in (PREVIOUS, RESTARTS)}
    environ["LASTSTEP_RECORD"] = str(folder)
    environ["LASTSTEP_ASKED"] = json.dumps(options or {})
    path = environ.get("PYTHONPATH")
    if path is not None:
        environ["LASTSTEP_PYTHONPATH"] = path
    environ["PYTHONPATH"] = str(RECORDER_FOLDER) + (os.pathsep + path if path else "")
    return environ
