"""The command line as a user has it: real processes, no TensorFlow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Result = subprocess.CompletedProcess[str]
Cli = Callable[..., Result]
EXITS = "import sys\nprint('hello', *sys.argv[1:])\nsys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)\n"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A user's environment with nothing of ours in it, and a home of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LASTSTEP_", "COV_"))}
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "NO_COLOR", "PYTHONPATH"):
        kept.pop(name, None)
    home = tmp_path / "home"
    home.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "COLUMNS": "80", "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The working directory, with a small program in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "prog.py").write_text(EXITS)
    return folder


@pytest.fixture
def laststep(here: Path, environ: dict[str, str]) -> Cli:
    """laststep("why", "-v", env={…}) in the working directory; what it wrote is text."""

    def call(*words: str, env: dict[str, str] | None = None, cwd: Path | None = None, stdin: str = "") -> Result:
        return subprocess.run(
            [sys.executable, "-m", "laststep", *words],
            cwd=cwd or here,
            env={**environ, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


@pytest.fixture
def one_line() -> Callable[[Result], str]:
    """The line with which a command refused: one, on stderr, with a status that says so, and no traceback."""

    def check(result: Result) -> str:
        assert result.returncode != 0
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert re.match(r"laststep( \w+)?: ", lines[0])
        return lines[0]

    return check


@pytest.fixture
def runs_in(here: Path) -> Callable[..., list[Path]]:
    """The run folders in the working directory, oldest first."""

    def look(home: Path | None = None) -> list[Path]:
        home = home or here / ".laststep"
        return sorted(path for path in home.iterdir() if path.is_dir()) if home.is_dir() else []

    return look
