"""In a side run the user's files stay as they are, whatever the program does before its first fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SETUP = """
import sys
from laststep.recorder.start import start
assert start(sys.argv[1], options='{"replay": "nothing"}')
"""
PROGRAM = """
import io, json, logging, os, pathlib, shutil, tempfile
shutil.rmtree("old")
os.makedirs("old", exist_ok=True)
logging.basicConfig(filename="train.log", level="INFO")
logging.info("again")
pathlib.Path("config.json").write_text('{"a": 2}')
assert json.load(open("config.json")) == {"a": 2}, "what it wrote it reads"
assert open("train.log").read() == "first\\nINFO:root:again\\n", "what it adds to begins as it was"
with open("new.txt", "w") as file:
    file.write("new")
os.remove("best.keras")
os.rename("config.json", "config.old")
os.replace("new.txt", "best.keras")
os.truncate("train.log", 0)
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "own"), "w") as file:
        file.write("1")
    os.rename(os.path.join(folder, "own"), os.path.join(folder, "moved"))
    assert os.listdir(folder) == ["moved"], "its own temporary files are its own"
assert not os.path.exists(folder)
try:
    open("train.log", "x")
except FileExistsError:
    print("refused")
try:
    open("no/such/folder", "w")
except FileNotFoundError:
    print("as ever")
with open("/dev/null", "w") as file:
    file.write("gone")
os.write(1, b"done\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "old").mkdir(parents=True)
    for name, text in (("train.log", "first\n"), ("config.json", "{}"), ("best.keras", "weights"), ("old/a", "a")):
        (folder / name).write_text(text)
    return folder


def seen(folder: Path) -> dict[str, tuple[str, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_text(), path.stat().st_mtime_ns) for path in files}


def test_what_is_written_goes_elsewhere_and_what_is_deleted_stays(project: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    before = seen(project)
    done = subprocess.run(
        [sys.executable, "-c", SETUP + PROGRAM, str(tmp_path / "run")],
        cwd=project, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "refused\nas ever\ndone\n"), done.stderr
    assert seen(project) == before


def test_in_a_usual_run_nothing_is_in_the_way(project: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    code = (
        SETUP.replace('"replay": "nothing"', "")
        + "import builtins, io, os; print(open, io.open, os.remove, os.replace)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    output = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=True).stdout
    assert output.count("<built-in function") == 4
