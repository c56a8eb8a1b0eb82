"""Start the benchmark's own little programs, bare or under `laststep run`, and read what they found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
# As after an installation: compiled once. (A set PYTHONDONTWRITEBYTECODE would compile laststep at every start.)
COMPILED = str(Path(tempfile.gettempdir()) / f"laststep-bench-compiled-{os.getuid()}")
LASTSTEP = [sys.executable, "-m", "laststep"]


def environment() -> dict[str, str]:
    """Ours, without what would change laststep."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LASTSTEP_")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONPYCACHEPREFIX": COMPILED}


def program(name: str, *words: object) -> list[str]:
    return [sys.executable, str(PROGRAMS / name), *map(str, words)]


def recorded(command: list[str], home: Path | str) -> list[str]:
    return [*LASTSTEP, "run", "--quiet", "--dir", str(home), "--", *command]


def run_command(command: list[str]) -> Any:
    """Run it; the last line of its output is what it found."""
    return finish(begin(command))


def begin(command: list[str], core: int | None = None) -> subprocess.Popen[str]:
    """Start it, on one core alone if that is asked."""
    pinned = command if core is None else ["taskset", "-c", str(core), *command]
    pipe = subprocess.PIPE
    return subprocess.Popen(pinned, stdout=pipe, stderr=pipe, text=True, env=environment())


def start_anywhere(command: list[str]) -> subprocess.Popen[str]:
    """Start it with the devices that there are: the other programs are kept off a GPU."""
    visible = {name: value for name, value in environment().items() if name != "CUDA_VISIBLE_DEVICES"}
    own = {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES",) if name in os.environ}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=visible | own)


def finish(started: subprocess.Popen[str]) -> Any:
    stdout, stderr = started.communicate()
    if started.returncode:
        raise RuntimeError(f"{started.args} ended with {started.returncode}:\n{stderr[-2000:]}")
    return json.loads(stdout.strip().splitlines()[-1])
