"""A run from here first; others only where there is none here; what can't be read hides nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

OTHER_USER = 65534


def plant(home: Path, name: str, time: float) -> Path:
    folder = home / name
    folder.mkdir(parents=True)
    launch = {"command": ["python", f"{name}.py"], "cwd": "/elsewhere", "host": "h"}
    lines = ({"laststep": 1, "source": "supervisor"}, {"t": time, "kind": "run", "data": launch})
    (folder / "supervisor.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def answered_about(result: subprocess.CompletedProcess[str]) -> str:
    return json.loads(result.stdout)["run"]["id"]


def test_a_newer_run_of_another_program_elsewhere_is_not_answered_about(laststep, here, environ):
    plant(here / ".laststep", "mine", 100.0)
    plant(Path(environ["XDG_DATA_HOME"]) / "laststep", "others", 200.0)
    assert answered_about(laststep("why", "--json")) == "mine"
    listed = laststep("runs")
    assert "mine" in listed.stdout
    assert "others" not in listed.stdout
    assert listed.stderr == ""
    assert answered_about(laststep("why", "--json", "oth")) == "others", "by its name it is found"


def test_where_there_is_none_here_the_place_is_named(laststep, here, environ):
    home = Path(environ["XDG_DATA_HOME"]) / "laststep"
    plant(home, "others", 200.0)
    result = laststep("why", "--json")
    assert answered_about(result) == "others"
    assert f"showing those in {home}" in result.stderr


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Which any user may enter: pytest's own folders are closed."""
    with tempfile.TemporaryDirectory(prefix="laststep-test-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what another user can't read")
@pytest.mark.parametrize("closed", ["run", "home", "journal"])
def test_what_belongs_to_root_hides_no_other_run(open_folder, environ, closed):
    here = open_folder
    environ["XDG_DATA_HOME"] = str(here / "data")
    mine = plant(here / ".laststep", "mine", 100.0)
    theirs = plant(here / ".laststep", "theirs", 200.0)
    home = Path(environ["XDG_DATA_HOME"]) / "laststep"
    fallback = plant(home, "fallback", 50.0)
    for path in (mine, fallback, *mine.iterdir(), *fallback.iterdir()):
        os.chown(path, OTHER_USER, OTHER_USER)
    (theirs / "supervisor.jsonl").chmod(0o600)
    if closed != "journal":
        (theirs if closed == "run" else theirs.parent).chmod(0o700)
    result = as_other_user(here, environ, "why", "--json")
    assert result.returncode == 0, result.stderr
    assert answered_about(result) == ("fallback" if closed == "home" else "mine")
    assert "skipped unreadable" in result.stderr
    assert "Permission denied" in result.stderr
    assert as_other_user(here, environ, "runs").returncode == 0


def as_other_user(here: Path, environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """laststep as another user: started as root, since that one may not read this checkout; then it is no longer."""
    code = "import os, sys; from laststep import cli; import laststep.rules.diagnose, laststep.rules.rule"
    code += f"\nimport laststep.commands.{words[0]}"
    code += "\nimport laststep.reports.json, laststep.reports.terminal, laststep.settings, laststep.supervisor.target"
    code += f"\nlaststep.rules.rule.all_rules(); os.setgid({OTHER_USER}); os.setuid({OTHER_USER})"
    code += "\nsys.exit(cli.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=here, env=environ, capture_output=True, text=True, timeout=60, check=False)
