"""The heartbeat: starts with the first mark, ends with the program, none in a forked child. Without a framework."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import laststep
from laststep.record.events.process import ProbeState
from laststep.record.folder import find_run
from laststep.record.follow import Follower, Live
from laststep.record.run import Run

pytestmark = pytest.mark.slow  # many processes
SRC = str(Path(laststep.__file__).parents[1])
HEADER = """
import os, sys, threading, time
import laststep
from laststep.recorder import heartbeat, state
def threads():
    assert threading.active_count() == 1  # programs count their threads, and wait for all of them
    time.sleep(0.2)  # it may not have begun to run yet
    frames = sys._current_frames().values()
    return sorted("laststep-beat" for f in frames if "_run" == f.f_code.co_name and "heartbeat" in f.f_code.co_filename)
"""


def record(folder: Path, code: str) -> tuple[subprocess.CompletedProcess[str], Run, Live]:
    (folder / "train.py").write_text(HEADER + code)
    ended = subprocess.run(
        [sys.executable, "-m", "laststep", "run", "--quiet", sys.executable, "train.py"],
        capture_output=True, text=True, cwd=folder, timeout=60, env={**os.environ, "PYTHONPATH": SRC},
    )  # fmt: skip
    home = find_run(None, str(folder / ".laststep"))
    run = Run.load(home)
    failed = [event for event in run.all(ProbeState) if event.state in ("failed", "removed")]
    assert failed == [], "the guard swallowed something"
    return ended, run, Follower(home).read()


def test_a_program_that_never_trains_gets_no_thread_and_no_file(tmp_path: Path) -> None:
    ended, run, live = record(tmp_path, "time.sleep(1.3)\nprint(threads())\n")
    assert (ended.stdout, ended.stderr) == ("[]\n", "")
    assert live == Live()
    assert run.folder is not None
    assert list(run.folder.glob("steps.*")) == []


def test_it_starts_with_the_first_step_and_tells_what_the_inside_knows(tmp_path: Path) -> None:
    code = """
print(threads())
laststep.step(0.5)
print(threads())
state.current.pulse, state.current.waited = 7, 1.5
state.current.waiting_since = time.time() - 20
for _ in range(4):
    laststep.step()
    time.sleep(0.5)
"""
    ended, run, live = record(tmp_path, code)
    assert ended.stdout == "[]\n['laststep-beat']\n"
    assert live.beat is not None
    assert (live.beat.pulse, live.beat.waited) == (7, 1.5)
    assert 20.5 < live.beat.waiting < 30
    assert 3 <= live.beat.step <= 5
    assert len(run.steps) == 5


def test_it_starts_with_the_first_mark_too_and_once(tmp_path: Path) -> None:
    code = """
for _ in range(5):
    state.current.mark(state.PHASE["start"], time.time())
print(threads())
time.sleep(1.3)
"""
    ended, _, live = record(tmp_path, code)
    assert ended.stdout == "['laststep-beat']\n"
    assert live.beat is not None
    assert live.now is not None
    assert live.beat.step == 0
    assert live.now.phase in ("start", "exit")


def test_no_beat_is_written_once_it_was_stopped(tmp_path: Path) -> None:
    code = """
laststep.step()
import atexit
from laststep.record.follow import Follower
from pathlib import Path
def later():  # registered before the heartbeat's own: runs after it
    folder = Path(state.current.folder)
    one = Follower(folder).read().beat
    time.sleep(1.3)
    print(one == Follower(folder).read().beat, threads())
"""
    first = "import atexit\natexit.register(lambda: later())\n"
    ended, _, _ = record(tmp_path, first + code)
    assert ended.stdout == "True []\n"


def test_a_forked_child_has_none_and_leaves_the_file_alone(tmp_path: Path) -> None:
    code = """
laststep.step()
time.sleep(1.2)
pid = os.fork()
if pid == 0:
    for _ in range(50):
        laststep.step()
    time.sleep(1.2)
    print("child", threads(), state.current, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print("parent", threads())
"""
    ended, run, live = record(tmp_path, code)
    assert ended.stdout == "child [] None\nparent ['laststep-beat']\n"
    assert len(run.steps) == 1
    assert live.beat is not None
    assert live.beat.step == 1


def test_a_fork_before_the_first_step(tmp_path: Path) -> None:
    code = """
pid = os.fork()
laststep.step()
if pid == 0:
    print("child", threads(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print("parent", threads())
"""
    ended, run, _ = record(tmp_path, code)
    assert ended.stdout == "child []\nparent ['laststep-beat']\n"
    assert len(run.steps) == 1


def test_an_action_that_fails_does_not_stop_it(tmp_path: Path) -> None:
    code = (
        HEADER
        + """
state.current.at_beat.append(lambda: 1 / 0)
laststep.step()
time.sleep(2.5)
print(threads())
"""
    )
    (tmp_path / "train.py").write_text(code)
    ended = subprocess.run(
        [sys.executable, "-m", "laststep", "run", "--quiet", sys.executable, "train.py"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, env={**os.environ, "PYTHONPATH": SRC},
    )  # fmt: skip
    home = find_run(None, str(tmp_path / ".laststep"))
    assert ended.stdout == "['laststep-beat']\n"
    assert Follower(home).read().beat is not None
    (failed, *_) = [event for event in Run.load(home).all(ProbeState) if event.name == "__main__"]
    assert "ZeroDivisionError" in failed.because


def test_an_action_that_fails_for_ever_does_not_stop_the_beat(tmp_path: Path) -> None:
    code = (
        HEADER + "heartbeat.BEAT_SECONDS = 0.1\n"
        "state.current.at_beat.append(lambda: 1 / 0)\nlaststep.step()\ntime.sleep(1.5)\n"
    )
    (tmp_path / "train.py").write_text(code)
    subprocess.run(
        [sys.executable, "-m", "laststep", "run", "--quiet", sys.executable, "train.py"],
        capture_output=True, cwd=tmp_path, timeout=60, env={**os.environ, "PYTHONPATH": SRC},
    )  # fmt: skip
    beat = Follower(find_run(None, str(tmp_path / ".laststep"))).read().beat
    assert beat is not None
    assert beat.number > 5
