"""laststep watch: a real run, a real terminal (a pseudo one), every way out; and plain lines where there is none."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laststep.commands.watch import supports_utf8

pytestmark = pytest.mark.slow  # many processes

TAKE, GIVE_BACK = "\x1b[?1049h\x1b[?25l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
LOOP = """\
import pathlib, sys, time
import laststep
for number in range(100_000):
    time.sleep(0.02)
    laststep.step(loss=1 / (number + 1))
    if pathlib.Path("stop").exists():
        sys.exit(pathlib.Path("stop").read_text() or 0)
"""
FIT = """\
import time, numpy as np, tensorflow as tf, keras

def batches():
    while True:
        time.sleep(0.1)
        yield np.ones((8, 4), "float32"), np.ones((8, 1), "float32")

spec = tf.TensorSpec((8, 4)), tf.TensorSpec((8, 1))
data = tf.data.Dataset.from_generator(batches, output_signature=spec)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, steps_per_epoch=40, epochs=30, validation_data=data, validation_steps=5, verbose=0)
"""


class Terminal:
    """A pseudo-terminal with a watch in it. It knows the few codes that the watch writes, and complains of others."""

    def __init__(self, words: list[str], cwd: Path, env: dict[str, str], size: tuple[int, int] = (80, 24)) -> None:
        self._master, self.slave = pty.openpty()
        self._resize(size)
        self.before = termios.tcgetattr(self.slave)
        command = [sys.executable, "-m", "laststep", "watch", *words]
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        self.bytes = b""

    def _resize(self, size: tuple[int, int]) -> None:
        self.size = size
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def resize(self, columns: int, lines: int) -> None:
        self._resize((columns, lines))
        self.process.send_signal(signal.SIGWINCH)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def read(self, seconds: float = 0.2) -> str:
        while select.select([self._master], [], [], seconds)[0]:
            self.bytes += os.read(self._master, 65536)
        return self.bytes.decode()

    def until(self, wanted: Callable[[str], bool], seconds: float = 30.0) -> str:
        """The screen, once it is as wanted."""
        end = time.monotonic() + seconds
        while True:
            self.read()
            if wanted(self.screen):
                return self.screen
            assert time.monotonic() < end, self.screen
            assert self.process.poll() is None, self.bytes.decode()

    @property
    def screen(self) -> str:
        rows: dict[int, str] = {}
        row = 0
        shown = self.bytes.decode("utf-8", "replace").rpartition(TAKE)[2].partition(GIVE_BACK)[0]
        for code, last, text in re.findall(r"\x1b\[([\d;?]*)([a-zA-Z])([^\x1b]*)", shown):
            if last == "H":
                row = int(code.split(";")[0])
            elif last == "K":
                rows[row] = ""
            elif last == "J":
                rows = {}
            else:
                assert last in "ml", (code, last)
            rows[row] = rows.get(row, "") + text
        return "\n".join(rows.get(number, "") for number in range(1, self.size[1] + 1))

    def wait(self) -> int:
        """Its exit status, after all it wrote was read."""
        end = time.monotonic() + 20
        while self.process.poll() is None:
            assert time.monotonic() < end, self.screen
            self.read(0.05)
        self.read(0.1)
        return self.process.returncode

    def assert_given_back(self) -> None:
        text = self.bytes.decode()
        assert text.count(TAKE) == text.count(GIVE_BACK) == 1
        assert text.index(TAKE) < text.index(GIVE_BACK)
        assert termios.tcgetattr(self.slave) == self.before

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self.slave)


@pytest.fixture
def screens(here, environ) -> Iterator[Callable[..., Terminal]]:
    with contextlib.ExitStack() as stack:

        def start(*words: str, size: tuple[int, int] = (80, 24), **env: str) -> Terminal:
            known = {name: value for name, value in environ.items() if name not in ("COLUMNS", "LC_ALL", "LC_CTYPE")}
            terminal = Terminal(list(words), here, {**known, "TERM": "xterm", "LANG": "C.UTF-8", **env}, size)
            stack.callback(terminal.close)
            return terminal

        yield start


@pytest.fixture
def going_on(here, environ) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a recorded program; it is ended with the test."""
    with contextlib.ExitStack() as stack:

        def start(program: str = LOOP) -> subprocess.Popen[bytes]:
            (here / "loop.py").write_text(program)
            command = [sys.executable, "-m", "laststep", "run", "--quiet", sys.executable, "loop.py"]
            out = subprocess.DEVNULL
            process = subprocess.Popen(command, cwd=here, env=environ, stdin=out, stdout=out, stderr=out)
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
            end = time.monotonic() + 60
            while not list(here.glob(".laststep/*/steps.*")):
                assert time.monotonic() < end
                time.sleep(0.1)
            return process

        yield start


def trains(screen: str) -> bool:
    return bool(re.search(r"Progress +step \d", screen)) and "median" in screen


def test_a_living_run_on_a_screen_and_q(going_on, screens, runs_in):
    run = going_on()
    terminal = screens()
    screen = terminal.until(trains)
    lines = screen.split("\n")
    assert runs_in()[0].name in lines[0]
    assert "running for" in lines[0]
    assert re.search(r"Now +training\n", screen)
    assert re.search(r"Memory +\d+ MB for this program", screen)
    assert lines[-1].startswith("q quit · w why")
    assert termios.tcgetattr(terminal.slave) != terminal.before  # keys come at once
    before = int(re.search(r"step ([\d,]+)", screen)[1].replace(",", ""))
    terminal.until(lambda now: int(re.search(r"step ([\d,]+)", now)[1].replace(",", "")) > before)
    terminal.type("q")
    assert terminal.wait() == 0
    terminal.assert_given_back()
    assert run.poll() is None


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_the_terminal_is_given_back_on_a_signal(going_on, screens, number, status):
    going_on()
    terminal = screens()
    terminal.until(trains)
    terminal.type("\x03") if number == signal.SIGINT else terminal.process.send_signal(number)
    assert terminal.wait() == status
    terminal.assert_given_back()


def test_a_folder_that_vanishes_while_it_is_watched(going_on, screens, runs_in):
    going_on()
    terminal = screens()
    terminal.until(trains)
    shutil.rmtree(runs_in()[0])
    assert terminal.wait() == 2
    terminal.assert_given_back()
    assert terminal.bytes.decode().rpartition(GIVE_BACK)[2].strip().startswith("laststep: ")
    assert b"Traceback" not in terminal.bytes


def test_another_size_and_the_page_of_why(going_on, screens):
    going_on()
    terminal = screens()
    terminal.until(trains)
    terminal.resize(60, 14)
    screen = terminal.until(lambda now: now.split("\n")[-1].startswith("q quit"))
    assert max(map(len, screen.split("\n"))) == 60
    terminal.type("w")
    screen = terminal.until(lambda now: "What happened" in now)
    assert "w back · q quit" in screen.split("\n")[-1]
    terminal.type("w")
    terminal.until(trains)
    terminal.type("q")
    assert terminal.wait() == 0
    terminal.assert_given_back()


@pytest.mark.parametrize(("how", "outcome"), [("", "finished after"), ("no more data", "stopped early after")])
def test_a_run_that_ends_while_it_is_watched_leaves_its_last_screen(going_on, screens, here, how, outcome):
    going_on()
    terminal = screens()
    terminal.until(trains)
    (here / "stop").write_text(how)
    assert terminal.wait() == 0
    terminal.assert_given_back()
    left = re.sub(r"\x1b\[[\d;]*m", "", terminal.bytes.decode().rpartition(GIVE_BACK)[2])
    assert outcome in left
    assert re.search(r"End +\w", left)
    assert "q quit" not in left
    assert ("script-exited" in left) == bool(how)


def test_no_colours_and_no_utf8(going_on, screens):
    going_on()
    terminal = screens(LANG="C", NO_COLOR="1")
    terminal.until(lambda now: "q quit | w why" in now and "median" in now)
    terminal.type("q")
    assert terminal.wait() == 0
    assert terminal.bytes.isascii()
    assert re.findall(rb"\x1b\[[1-9][\d;]*m", terminal.bytes) == []


def test_a_terminal_that_can_do_nothing_gets_lines(going_on, screens):
    going_on()
    terminal = screens("--every", "0.3", TERM="dumb")
    end = time.monotonic() + 20
    while terminal.read().count(" running ") < 3:
        assert time.monotonic() < end
    assert b"\x1b" not in terminal.bytes
    terminal.type("\x03")
    assert terminal.wait() == 130


def test_lines_where_there_is_no_terminal(going_on, here, environ, runs_in):
    going_on()
    command = [sys.executable, "-m", "laststep", "watch", "--every", "0.5"]
    watch = subprocess.Popen(command, cwd=here, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = [watch.stdout.readline() for _ in range(3)]  # flushed: they come while it runs
    (here / "stop").write_text("no more data")
    rest, errors = watch.communicate(timeout=30)
    assert (watch.returncode, errors) == (0, "")
    name = runs_in()[0].name
    lines = [*first, *rest.splitlines()]
    begins = re.compile(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d {name} (running|stopped|finding|end) ")
    assert all(map(begins.match, lines)), lines
    steps = [int(re.search(r" step=(\d+) ", line)[1]) for line in first]
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]
    assert sum(" finding script-exited " in line for line in lines) == 1
    assert f"{name} end stopped: " in lines[-1]


def test_once(going_on, laststep, screens):
    going_on()
    result = laststep("watch", "--once")
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == 1
    terminal = screens("--once")
    assert terminal.wait() == 0
    assert TAKE.encode() not in terminal.bytes
    assert b"running for" in terminal.bytes


def test_the_run_that_is_going_on_comes_before_a_newer_one_that_is_over(going_on, laststep, runs_in, here):
    going_on()
    alive = runs_in()[0].name
    laststep("run", sys.executable, "prog.py")
    assert len(runs_in()) == 2
    assert f" {alive} running " in laststep("watch", "--once").stdout


def test_a_run_that_is_over_is_shown_once_and_not_touched(laststep, runs_in, screens):
    laststep("run", sys.executable, "prog.py", "3")
    folder = runs_in()[0]
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    result = laststep("watch")
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1].split(" ", 2)[2].startswith("end stopped: ")
    terminal = screens(folder.name)
    assert terminal.wait() == 0
    text = terminal.bytes.decode()
    assert TAKE not in text
    assert "stopped early after" in text
    assert "script-exited" in text
    assert f"laststep why {folder.name}" in text
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()} == before


def test_nothing_to_watch(laststep, one_line, tmp_path):
    assert "no runs recorded here" in one_line(laststep("watch"))
    assert "no run nosuch" in one_line(laststep("watch", "nosuch"))
    assert laststep("watch", "--every", "0").returncode == 2


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"rubbish\n" * 9, b'{"laststep": 1}\n{"t": "x", "data": 3}\n'])
def test_a_damaged_folder(laststep, one_line, here, content):
    folder = here / "damaged"
    folder.mkdir()
    (folder / "supervisor.jsonl").write_bytes(content)
    assert "no readable record" in one_line(laststep("watch", "./damaged"))


def test_a_record_that_makes_no_sense(laststep, here):
    laststep("run", sys.executable, "prog.py")
    folder = next((here / ".laststep").glob("2*"))
    answer = {"id": {}, "epochs": "x", "steps": [], "initial_epoch": 1e308}
    for number, kind in enumerate(("fit", "epoch", "forecast", "limits", "stall", "fit-end", "validation")):
        with open(folder / "supervisor.jsonl", "ab") as journal:
            journal.write(json.dumps({"t": 1e9 + number, "n": 1, "kind": kind, "data": answer}).encode() + b"\n")
    result = laststep("watch")
    assert "Traceback" not in result.stderr
    assert result.returncode in (0, 2)


@pytest.mark.parametrize(
    ("environ", "encoding", "speaks"),
    [
        ({"LANG": "en_US.UTF-8"}, "utf-8", True),
        ({"LANG": "C.utf8"}, "UTF-8", True),
        ({"LANG": "C"}, "utf-8", False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", False),  # what Python makes of LANG=C
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, "utf-8", False),
        ({"LANG": "de_DE.ISO-8859-1"}, "iso8859-1", False),
        ({"LANG": "en_US.UTF-8"}, "ascii", False),
        ({}, "utf-8", False),
    ],
)
def test_who_supports_utf8(environ, encoding, speaks):
    assert supports_utf8(environ, encoding) is speaks


def test_a_real_fit_that_waits_for_its_data(going_on, screens, laststep):
    pytest.importorskip("tensorflow")
    going_on(FIT)
    terminal = screens()
    terminal.until(lambda now: "Epoch 1 " in now, 120)
    screen = terminal.until(lambda now: re.search(r"Data wait +\d+%", now) is not None)
    assert re.search(r"epoch [23] of 30 · batch \d+ of 40 · step \d+", screen)
    assert "left" in screen
    assert int(re.search(r"Data wait +(\d+)%", screen)[1]) > 50
    assert re.search(r"Epoch 1 +loss \S+ · val_loss", screen)
    line = laststep("watch", "--once").stdout
    assert re.search(r" epoch=\d+/30 batch=\d+/40 ", line)
    terminal.type("q")
    assert terminal.wait() == 0
    terminal.assert_given_back()
