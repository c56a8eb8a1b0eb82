"""Stacks from outside: py-spy and the signal give the same lines, and the signal kills no process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from laststep.record.events.stacks import ThreadStack
from laststep.record.stack_requests import STACKS, stack_signal
from laststep.supervisor import stacks
from laststep.supervisor.stacks import by_signal, by_spy, catches, read_stacks

Start = Callable[..., subprocess.Popen[bytes]]
REGISTER = """
import faulthandler, os, sys
fd = os.open(os.path.join(sys.argv[1], "stacks"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
faulthandler.register(int(sys.argv[2]), file=fd, all_threads=True, chain=False)
"""
BODY = """
import queue, threading
def produce(q):
    q.get()
def train():
    gate = threading.Event()
    print("READY", flush=True)
    gate.wait()
threading.Thread(target=produce, args=(queue.Queue(),), name="producer", daemon=True).start()
train()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[subprocess.Popen[bytes]] = []

    def begin(code: str, name: str = "train.py") -> subprocess.Popen[bytes]:
        (tmp_path / name).write_text(code)
        process = subprocess.Popen(
            [sys.executable, str(tmp_path / name), str(tmp_path), str(stack_signal())], stdout=subprocess.PIPE
        )
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"READY\n"
        time.sleep(0.2)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def lines(threads: Sequence[ThreadStack]) -> list[list[tuple[str, int, str]]]:
    return sorted([(os.path.basename(f.file), f.line, f.function) for f in t.frames] for t in threads)


def test_both_ways_give_the_same_lines(start: Start, tmp_path: Path) -> None:
    process = start(REGISTER + BODY)
    asked = by_signal(process.pid, tmp_path)
    seen, because = by_spy(process.pid)
    if not seen:
        pytest.skip(because)
    assert because == ""
    assert lines(asked) == lines(seen)
    for threads in (asked, seen):
        (main,) = [thread for thread in threads if thread.current]
        assert [frame.text for frame in main.frames if frame.is_users] == ["gate.wait()", "train()"]
        assert [frame.is_users for frame in main.frames][-2:] == [True, True]
        assert {frame.is_users for thread in threads for frame in thread.frames if "threading" in frame.file} == {False}
    assert {thread.name for thread in seen} == {"MainThread", "producer"}
    assert process.poll() is None


def test_asked_again_and_again_each_answer_is_the_new_one(start: Start, tmp_path: Path) -> None:
    process = start(REGISTER + BODY)
    answers = [lines(by_signal(process.pid, tmp_path)) for _ in range(5)]
    assert all(answer == answers[0] and len(answer) == 2 for answer in answers)
    assert process.poll() is None


def test_the_file_of_the_stacks_has_a_bound(start: Start, tmp_path: Path) -> None:
    process = start(REGISTER + BODY)
    before = lines(by_signal(process.pid, tmp_path))
    with open(tmp_path / STACKS, "ab") as file:
        file.write(b"x" * (2 << 20))
    assert lines(by_signal(process.pid, tmp_path)) == before
    assert (tmp_path / STACKS).stat().st_size < 1 << 20


def test_one_that_does_not_catch_the_signal_is_never_sent_it(start: Start, tmp_path: Path) -> None:
    """It would die of it."""
    process = start(BODY)
    (tmp_path / STACKS).write_text("Current thread 0x1 (most recent call first):\n")
    assert catches(process.pid, stack_signal()) is False
    assert by_signal(process.pid, tmp_path) == ()
    time.sleep(0.2)
    assert process.poll() is None


def test_who_catches_what(start: Start) -> None:
    process = start(REGISTER + BODY)
    assert catches(process.pid, stack_signal())
    assert not catches(process.pid, signal.SIGUSR1)
    assert not catches(2**22 + 5, stack_signal())
    assert not catches(os.getpid(), stack_signal())


def test_c_code_that_holds_the_interpreter_answers_too(start: Start, tmp_path: Path) -> None:
    process = start(REGISTER + "import re\nprint('READY', flush=True)\nre.match(r'(a+)+$', 'a' * 60 + 'b')\n")
    (main,) = by_signal(process.pid, tmp_path)
    assert main.frames[-1].text.startswith("re.match(")


def test_a_stopped_process_does_not_answer_and_is_not_waited_for(start: Start, tmp_path: Path) -> None:
    process = start(REGISTER + BODY)
    os.kill(process.pid, signal.SIGSTOP)
    began = time.monotonic()
    assert by_signal(process.pid, tmp_path) == ()
    assert time.monotonic() - began < 3
    os.kill(process.pid, signal.SIGCONT)
    time.sleep(0.5)
    assert process.poll() is None
    assert len(by_signal(process.pid, tmp_path)) == 2


def test_without_py_spy_the_signal_is_asked(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start(REGISTER + BODY)
    monkeypatch.setattr(stacks, "spy", lambda: None)
    threads, because = read_stacks(process.pid, tmp_path)
    assert (len(threads), because) == (2, "")
    assert read_stacks(process.pid, None) == ((), "py-spy is not installed")
    bare = start(BODY, "bare.py")
    assert read_stacks(bare.pid, tmp_path) == ((), "py-spy is not installed")


@pytest.mark.parametrize(
    "script,because",
    [
        ("exit 3", "py-spy: no answer"),
        ("echo Permission denied >&2; exit 1", "py-spy: Permission denied"),
        ("echo not json", "py-spy: JSONDecodeError"),
        ("sleep 30", "py-spy: TimeoutExpired"),
    ],
)
def test_a_py_spy_that_fails_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, because: str
) -> None:
    fake = tmp_path / "py-spy"
    fake.write_text(f"#!/bin/sh\n{script.replace('sleep', 'exec sleep')}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(stacks, "spy", lambda: str(fake))
    monkeypatch.setattr(stacks, "MAX_PY_SPY_SECONDS", 0.5)
    assert by_spy(os.getpid()) == ((), because)


def test_a_process_that_is_gone(tmp_path: Path) -> None:
    threads, because = read_stacks(2**22 + 5, tmp_path)
    assert threads == ()
    assert because


def test_of_the_variables_only_counters_are_kept(start: Start) -> None:
    code = "import time\ndef train(password):\n    step, epoch, i = 12, 3, 'x'\n    print('READY', flush=True)\n"
    process = start(code + "    time.sleep(60)\ntrain('s3cr3t')\n")
    threads, because = by_spy(process.pid, "--locals")
    if not threads:
        pytest.skip(because)
    frames = threads[0].frames
    assert frames[0].counters == {"step": 12, "epoch": 3}
    assert "s3cr3t" not in str(frames).replace("train('s3cr3t')", "")
