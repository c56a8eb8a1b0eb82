"""What the record and the program survive: a full disk, a deleted folder, forks, an unloaded recorder, exec."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # many processes
PYTHON = sys.executable
RUN = [PYTHON, "-m", "laststep", "run"]


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **environment}
    return subprocess.run([*RUN, *command], capture_output=True, text=True, cwd=folder, env=environ, timeout=90)


def why(folder: Path, **environment: str) -> Any:
    environ = {**os.environ, **environment}
    done = subprocess.run(
        [PYTHON, "-m", "laststep", "why", "--json"], capture_output=True, text=True, cwd=folder, env=environ
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Any:
    """A real filesystem of 9 MB; needs the right to mount."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=9m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small filesystem needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_full_disk_leaves_the_program_alone_and_the_reason_readable(tiny_disk: Path, tmp_path: Path) -> None:
    code = (
        "import laststep\n"
        f"fill = open({str(tiny_disk / 'fill')!r}, 'wb', buffering=0)\n"
        "for i in range(400):\n"
        "    laststep.step(loss=1.0)\n"
        "    try: fill.write(b'x' * 100_000)\n"
        "    except OSError: pass\n"
        "print('all steps done')\n"
        "raise RuntimeError('the end')\n"
    )
    ended = run(tmp_path, PYTHON, "-c", code, LASTSTEP_DIR=str(tiny_disk / "runs"))
    assert ended.stdout == "all steps done\n"
    answer = why(tmp_path, LASTSTEP_DIR=str(tiny_disk / "runs"))
    assert answer["run"]["steps"] == 400
    assert answer["findings"][0]["rule"] == "unhandled-exception"


def test_full_disk_says_that_recording_stopped(tiny_disk: Path, tmp_path: Path) -> None:
    code = (
        "import laststep, warnings\n"
        "laststep.step()\n"
        f"fill = open({str(tiny_disk / 'fill')!r}, 'wb', buffering=0)\n"
        "try:\n"
        "    while True: fill.write(b'x' * 10_000)\n"
        "except OSError: pass\n"
        "warnings.simplefilter('always')\n"
        "for i in range(190): warnings.warn('w' * 999)\n"
        "laststep.step()\n"
        "print('done')\n"
    )
    ended = run(tmp_path, PYTHON, "-c", code, LASTSTEP_DIR=str(tiny_disk / "runs"))
    assert ended.stdout == "done\n"
    assert ended.returncode == 0
    said = subprocess.run(
        [PYTHON, "-m", "laststep", "why"],
        capture_output=True,
        text=True,
        env={**os.environ, "LASTSTEP_DIR": str(tiny_disk / "runs")},
    )
    assert "no space left on the disk" in said.stdout


def test_a_disk_that_is_full_from_the_start_leaves_the_program_alone(tiny_disk: Path, tmp_path: Path) -> None:
    with open(tiny_disk / "fill", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    ended = run(tmp_path, PYTHON, "-c", "import laststep; laststep.step(); print('fine'); raise SystemExit(3)",
                LASTSTEP_DIR=str(tiny_disk / "runs"))  # fmt: skip
    assert (ended.stdout, ended.returncode) == ("fine\n", 3)
    assert "Traceback" not in ended.stderr


def test_a_reader_of_stderr_that_is_gone_does_not_change_the_end(tmp_path: Path) -> None:
    code = "import os, time; os.write(2, b'x'); time.sleep(0.5); raise SystemExit(3)"
    running = subprocess.Popen([*RUN, PYTHON, "-c", code], stderr=subprocess.PIPE, cwd=tmp_path)
    assert running.stderr is not None
    running.stderr.read(1)
    running.stderr.close()
    assert running.wait(30) == 3


def test_run_folder_deleted_under_it(tmp_path: Path) -> None:
    code = (
        "import laststep, shutil\n"
        "for i in range(100): laststep.step()\n"
        "shutil.rmtree('.laststep')\n"
        "for i in range(100): laststep.step()\n"
        "print('fine')\n"
    )
    ended = run(tmp_path, PYTHON, "-c", code)
    assert (ended.stdout, ended.returncode) == ("fine\n", 0)
    assert "gone or damaged" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_closed_doors_are_said(tmp_path: Path, flag: str) -> None:
    ended = run(tmp_path, PYTHON, flag, "-c", "raise ValueError('seen on the console')")
    assert ended.returncode == 1
    answer = why(tmp_path)
    assert answer["findings"][0]["rule"] == "unhandled-exception"
    assert answer["findings"][0]["confidence"] == "LIKELY"
    assert any("could not look inside" in item["because"] for item in answer["unchecked"])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_are_not_the_run(tmp_path: Path, method: str) -> None:
    (tmp_path / "train.py").write_text(
        "import multiprocessing as mp, os, sys, laststep\n"
        "def work():\n"
        "    for i in range(50): laststep.step(loss=9.0)\n"
        "    sys.exit(5)\n"
        "if __name__ == '__main__':\n"
        f"    worker = mp.get_context({method!r}).Process(target=work)\n"
        "    worker.start(); worker.join()\n"
        "    laststep.step(loss=1.0)\n"
        "    print(worker.exitcode)\n"
    )
    ended = run(tmp_path, PYTHON, "train.py")
    assert (ended.stdout, ended.returncode) == ("5\n", 0)
    answer = why(tmp_path)
    assert answer["run"]["steps"] == 1
    assert answer["findings"] == []


def test_a_launcher_that_replaces_itself_takes_the_recorder_along(tmp_path: Path) -> None:
    inner = "import laststep; laststep.step(); raise KeyError('inner')"
    ended = run(tmp_path, PYTHON, "-c", f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {inner!r}])")
    assert ended.returncode == 1
    assert why(tmp_path)["findings"][0]["confidence"] == "CERTAIN"


def test_the_second_python_of_a_shell_script_is_recorded_too(tmp_path: Path) -> None:
    script = f"{PYTHON} -c 'print(1)'; {PYTHON} -c 'import laststep; laststep.step(); raise KeyError(2)'"
    ended = run(tmp_path, "bash", "-c", script)
    assert ended.returncode == 1
    answer = why(tmp_path)
    assert answer["findings"][0]["rule"] == "unhandled-exception"
    assert answer["run"]["steps"] == 1


def test_child_pythons_are_clean(tmp_path: Path) -> None:
    probe = "import os, sys; print('laststep' in sys.modules, [n for n in os.environ if n.startswith('LASTSTEP')])"
    code = (
        f"import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {probe!r}], text=True), end='')"
    )
    assert run(tmp_path, PYTHON, "-c", code).stdout == "False []\n"


def test_an_old_python_runs_bare(tmp_path: Path) -> None:
    """sitecustomize runs in any Python; if no old one is installed, only its syntax is checked."""
    import ast

    import laststep

    source = (Path(laststep.__file__).parent / "recorder" / "sitecustomize.py").read_text()
    ast.parse(source, feature_version=(3, 4))
