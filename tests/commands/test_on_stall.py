"""`laststep run --on-stall … --stall-after …`: a loop that gets stuck, and what is done about it. No TensorFlow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import laststep as package
from laststep.record.event import Event
from laststep.record.events.stacks import Stall
from laststep.record.events.supervisor import MovingAgain, SignalReceived
from laststep.record.run import Run

pytestmark = pytest.mark.slow  # real waits of many seconds

SRC = str(Path(package.__file__).parents[1])
ENVIRONMENT = {"PYTHONPATH": SRC}
STUCK = """
import os, sys, threading, time
import laststep
open("starts", "a").write("x")
print("again", os.environ.get("LASTSTEP_PREVIOUS"), os.environ.get("LASTSTEP_RESTARTS"), flush=True)
stuck = len(open("starts").read()) <= int(os.environ.get("STUCK_TIMES", "99"))
gate = threading.Event()
for turn in range(12 + int(os.environ.get("THEN", "0"))):
    laststep.step(1.0)
    time.sleep(0.1)
    if turn == 6 and stuck:
        gate.wait(float(os.environ.get("STUCK_FOR", "1000")))  # <- here
print("done", flush=True)
sys.exit(int(os.environ.get("LEAVE", "0")))
"""
INSTALLED = """
import threading, time
import laststep
def train():
    for turn in range(20):
        laststep.step(1.0)
        time.sleep(0.1)
        if turn == 6:
            threading.Event().wait(1000)  # <- here
"""
LINE = next(number for number, line in enumerate(STUCK.splitlines(), 1) if line.endswith("# <- here"))
RunsIn = Callable[..., list[Path]]
Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def program(here: Path) -> str:
    (here / "train.py").write_text(STUCK)
    return "train.py"


def stuck(laststep: Cli, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return laststep("run", *words, sys.executable, "train.py", env={**ENVIRONMENT, **env})


def kinds(folder: Path) -> list[type[Event]]:
    asked = (Stall, MovingAgain, SignalReceived)
    return [type(event) for event in Run.load(folder).events if isinstance(event, asked)]


def causes(laststep: Cli) -> list[str]:
    why = json.loads(laststep("why", "--json", env=ENVIRONMENT).stdout)
    return [finding["rule"] for finding in why["findings"]]


def test_stop_says_why_and_ends_it(laststep: Cli, program: str, runs_in: RunsIn) -> None:
    began = time.monotonic()
    result = stuck(laststep, "--on-stall", "stop", "--stall-after", "2")
    assert time.monotonic() - began < 30
    assert result.returncode == -signal.SIGTERM
    assert result.stdout == "again None None\n"
    assert "laststep: no progress for" in result.stderr
    assert "It is being stopped (--on-stall stop)." in result.stderr
    assert f"train.py:{LINE}" in result.stderr
    assert max(map(len, result.stderr.splitlines())) <= 80
    (folder,) = runs_in()
    assert kinds(folder) == [Stall, SignalReceived]
    why = json.loads(laststep("why", "--json", env=ENVIRONMENT).stdout)
    assert why["findings"][0]["rule"] in ("python-blocked", "deadlocked")
    assert why["findings"][0]["where"]["line"] == LINE
    assert why["run"]["outcome"] == "stopped"


def test_warn_says_it_once_and_leaves_it_alone(laststep: Cli, program: str, runs_in: RunsIn) -> None:
    result = stuck(laststep, "--stall-after", "2", STUCK_FOR="6", LEAVE="3", THEN="30")
    assert result.returncode == 3
    assert result.stdout == "again None None\ndone\n"
    assert result.stderr.count("no progress for") == 1
    assert "The program was not stopped. More: laststep why" in result.stderr
    (folder,) = runs_in()
    assert kinds(folder) == [Stall, MovingAgain]
    assert Run.load(folder).steps[-1].number == 42
    assert causes(laststep) == ["script-exited"], "it went on: that was not its end"


def test_one_that_goes_on_and_ends_at_once_was_not_stuck(laststep: Cli, program: str) -> None:
    assert stuck(laststep, "--stall-after", "2", STUCK_FOR="6", LEAVE="3").stdout.endswith("done\n")
    assert causes(laststep) == ["script-exited"]


def test_stacks_shows_all_of_them(laststep: Cli, program: str) -> None:
    result = stuck(laststep, "--on-stall=stacks", "--stall-after=2", STUCK_FOR="7")
    assert result.returncode == 0
    assert "thread MainThread:" in result.stderr
    assert f"train.py:{LINE} in <module>" in " ".join(result.stderr.split())
    assert "The program was not stopped." in result.stderr


def test_quiet_says_nothing_and_still_stops_it(laststep: Cli, program: str, runs_in: RunsIn) -> None:
    result = stuck(laststep, "--quiet", "--on-stall", "stop", "--stall-after", "2")
    assert (result.returncode, result.stderr) == (-signal.SIGTERM, "")
    assert kinds(runs_in()[0]) == [Stall, SignalReceived]


def test_restart_until_it_gets_through(laststep: Cli, program: str, here: Path, runs_in: RunsIn) -> None:
    result = stuck(laststep, "--on-stall", "restart", "--stall-after", "2", STUCK_TIMES="1", LEAVE="5")
    assert result.returncode == 5
    assert (here / "starts").read_text() == "xx"
    assert result.stdout == "again None None\nagain None None\ndone\n", "the program gets nothing of it"
    assert "It is being stopped and restarted" in result.stderr
    first, second = (Run.load(folder) for folder in runs_in())
    assert (first.previous, second.previous) == (None, first.id)
    assert first.signal == "SIGTERM"
    assert second.exit_code == 5
    assert second.command == first.command


def test_a_program_that_is_an_installed_package(laststep: Cli, here: Path) -> None:
    """`-m mypackage.train`: its lines are the user's own, though they lie among the installed packages."""
    site = here / "site-packages"
    package = site / "mypackage"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "train.py").write_text("from mypackage.loop import train\n\ntrain()\n")
    (package / "loop.py").write_text(INSTALLED)
    path = {"PYTHONPATH": f"{SRC}{os.pathsep}{site}"}
    words = ("--on-stall", "stop", "--stall-after", "2", "-m", "mypackage.train")
    result = laststep("run", *words, env=path)
    assert result.returncode == -signal.SIGTERM
    assert "python-blocked" in result.stderr, "also in the process that watches"
    (finding,) = json.loads(laststep("why", "--json", env=path).stdout)["findings"][:1]
    assert finding["rule"] == "python-blocked"
    line = next(number for number, text in enumerate(INSTALLED.splitlines(), 1) if text.endswith("# <- here"))
    assert finding["where"] == {"file": str(package / "loop.py"), "line": line}


@pytest.mark.slow
def test_three_times_at_most(laststep: Cli, program: str, here: Path, runs_in: RunsIn) -> None:
    result = stuck(laststep, "--on-stall", "restart", "--stall-after", "1")
    assert result.returncode == -signal.SIGTERM
    assert (here / "starts").read_text() == "xxxx"
    assert "restarted 3 times and stuck each time" in result.stderr
    runs = [Run.load(folder) for folder in runs_in()]
    assert [run.previous for run in runs] == [None, *(run.id for run in runs[:-1])]


def test_a_crash_is_no_reason_to_start_again(laststep: Cli, here: Path, runs_in: RunsIn) -> None:
    (here / "train.py").write_text("import laststep\nlaststep.step()\nraise ValueError('x')\n")
    assert stuck(laststep, "--on-stall", "restart", "--stall-after", "1").returncode == 1
    assert len(runs_in()) == 1


def test_ctrl_c_while_it_is_stuck_ends_it_for_good(here: Path, environ: dict[str, str], program: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "laststep", "run", "--on-stall", "restart", "--stall-after", "60", sys.executable,
         "train.py"],
        cwd=here, env={**environ, **ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert (here / "starts").read_text() == "x"


def test_by_environment_and_by_file(laststep: Cli, here: Path, program: str) -> None:
    (here / "pyproject.toml").write_text('[tool.laststep]\non-stall = "stop"\nstall-after = 1000\n')
    result = stuck(laststep, LASTSTEP_STALL_AFTER="2")
    assert result.returncode == -signal.SIGTERM


def test_a_program_that_never_trains_is_never_stuck(laststep: Cli, here: Path, runs_in: RunsIn) -> None:
    (here / "train.py").write_text("import time\ntime.sleep(4)\n")
    result = stuck(laststep, "--on-stall", "stop", "--stall-after", "1")
    assert result.returncode == 0
    assert kinds(runs_in()[0]) == []


@pytest.mark.parametrize("words", [("--stall-after", "soon"), ("--stall-after=-1",), ("--stall-after", "nan"),
                                   ("--stall-after", "inf"), ("--stall-after", "")])  # fmt: skip
def test_a_time_that_cannot_be_is_said_in_one_line(
    laststep: Cli, one_line: Callable[..., str], words: tuple[str, ...]
) -> None:
    line = one_line(laststep("run", *words, "prog.py", env=ENVIRONMENT))
    assert "--stall-after" in line


@pytest.mark.parametrize(
    "name,value",
    [("LASTSTEP_ON_STALL", "explode"), ("LASTSTEP_STALL_AFTER", "1 minute"), ("LASTSTEP_ON_STALL", "Warn")],
)
def test_a_setting_that_cannot_be_is_said_in_one_line(
    laststep: Cli, one_line: Callable[..., str], name: str, value: str
) -> None:
    line = one_line(laststep("run", "prog.py", env={**ENVIRONMENT, name: value}))
    assert name in line
    assert value in line


def test_an_action_that_is_none_is_refused(laststep: Cli) -> None:
    result = laststep("run", "--on-stall", "explode", "prog.py", env=ENVIRONMENT)
    assert result.returncode == 2
    assert "warn" in result.stderr
    assert "restart" in result.stderr
    assert "Traceback" not in result.stderr


def test_what_follows_the_command_is_the_programs_own(laststep: Cli) -> None:
    result = laststep("run", "--stall-after", "5", "prog.py", "0", "--on-stall", "x", env=ENVIRONMENT)
    assert (result.returncode, result.stdout) == (0, "hello 0 --on-stall x\n")


@pytest.mark.slow
def test_a_loop_told_by_step_alone_is_noticed_by_itself(laststep: Cli, program: str) -> None:
    result = stuck(laststep, "--on-stall", "stop", STUCK_FOR="20")
    assert result.returncode == -signal.SIGTERM
