"""Why the recorder was not loaded, from the command alone, and the line to type instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from laststep.supervisor.doors import REFUSED, closed_door

INSTEAD = {
    "python -I train.py": "laststep run python train.py",
    "python -Es train.py -I": "laststep run python -s train.py -I",
    "python -W ignore -S train.py": "laststep run python -W ignore train.py",
    "python -Wignore::ImportWarning -B -E -u train.py": "laststep run python -Wignore::ImportWarning -B -u train.py",
    "python -Im pkg.train": "laststep run python -m pkg.train",
    "python -I -": "laststep run python -",
    "nice -n 5 /opt/py/bin/python3.11 -I train.py": "laststep run nice -n 5 /opt/py/bin/python3.11 train.py",
    "sudo -u bob python train.py": 'sudo -u bob "$(command -v laststep)" run python train.py',
    "docker run --rm tf python train.py": "docker run --rm tf laststep run python train.py",
    "docker run --rm tf": "laststep run python train.py",
    "ssh gpu1 python train.py": "ssh gpu1 laststep run python train.py",
    "sbatch job.sh": "laststep run python train.py",
    "env -i A=1 python train.py": 'env -i A=1 "$(command -v laststep)" run python train.py',
    "./train": "laststep run python train.py",
}
OPEN = [
    "python train.py -I -E -S",
    "python -W error::I train.py",
    "python -m pkg -I",
    "python -c E -S",
    "python -X I t.py",
]


@pytest.mark.parametrize("command", INSTEAD)
def test_the_line_to_type_instead(command: str, tmp_path: Path) -> None:
    assert closed_door(command.split(), tmp_path).instead == INSTEAD[command]


@pytest.mark.parametrize("command", OPEN)
def test_an_option_of_the_program_closes_no_door(command: str, tmp_path: Path) -> None:
    assert closed_door(command.split(), tmp_path).because == "the program's Python did not load the recorder"


def test_the_door_that_a_child_closed(tmp_path: Path) -> None:
    blind = closed_door(["bash", "job.sh"], tmp_path, [["python", "-E", "train.py"]])
    assert blind.because.startswith("python -E ignores PYTHONPATH")
    assert blind.instead == "laststep run python train.py"


def test_a_script_that_names_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "train"
    script.write_text("#!/usr/bin/env -S python3 -I\nprint(1)\n")
    assert "python -I" in closed_door([str(script)], tmp_path).because


def test_a_python_that_refused_says_why(tmp_path: Path) -> None:
    (tmp_path / REFUSED).write_text("Python 3.8.1 is older than 3.10\nRun it with Python 3.10 or newer")
    blind = closed_door(["python", "-I", "t.py"], tmp_path)
    assert (blind.because, blind.does) == ("Python 3.8.1 is older than 3.10", "Run it with Python 3.10 or newer")
