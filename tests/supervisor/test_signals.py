"""Every signal, to the group, the supervisor or the program alone: the program sees what it sees in a bare run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # many processes
PYTHON = sys.executable
LASTSTEP = [PYTHON, "-m", "laststep", "run", "--quiet"]
CATCHABLE = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
# Not in the tables: SIGKILL and SIGSTOP cannot be caught, so they cannot be passed on.
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
STOPS = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
BY_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}  # every Python ignores these
DEADLY = [number for number in CATCHABLE if number not in HARMLESS | STOPS | BY_PYTHON and number <= signal.SIGRTMIN]
DEADLY.append(signal.SIGRTMAX)

SEES = """
import os, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, lambda number, frame: os.write(1, b"%d\\n" % number))
os.write(1, b"%d\\n" % os.getpid())
while os.read(0, 1): pass
"""
WAITS = "import os; os.write(1, b'%d\\n' % os.getpid())\nwhile os.read(0, 1): pass"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ignore(numbers: list[int]) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


class Running:
    """A program in a group of its own, with or without laststep."""

    def __init__(self, code: str, recorded: bool, ignored: bool = False) -> None:
        self.process = subprocess.Popen(
            [*(LASTSTEP if recorded else []), PYTHON, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=lambda: ignore(CATCHABLE if ignored else []),
            restore_signals=False,
        )
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        self.program = int(self.process.stdout.readline())

    def send(self, number: int, to: str) -> None:
        if to == "group":
            os.killpg(self.process.pid, number)
        else:
            os.kill(self.program if to == "program" else self.process.pid, number)

    def line(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def end(self) -> tuple[bytes, int]:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        seen, _ = self.process.communicate(timeout=30)
        return seen, self.process.returncode


@pytest.mark.parametrize("ignored", [False, True], ids=["default", "ignored-on-entry"])
@pytest.mark.parametrize("to", ["group", "supervisor", "program"])
def test_each_signal_is_seen_once(to: str, ignored: bool) -> None:
    running = Running(SEES, recorded=True, ignored=ignored)
    seen = []
    for number in CATCHABLE:
        running.send(number, to)
        seen.append(running.line())
    assert seen == CATCHABLE
    assert running.end() == (b"", 0)


def test_signals_in_a_burst_are_not_doubled() -> None:
    """Two signals to the group at once: the relay's report of the second must not be lost with the first."""
    running = Running(SEES, recorded=True)
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP]
    for number in numbers:
        running.send(number, "group")
    time.sleep(0.5)
    seen, code = running.end()
    assert sorted(int(word) for word in seen.split()) == sorted(numbers)
    assert code == 0


@pytest.mark.parametrize("to", ["group", "supervisor"])
def test_each_deadly_signal_ends_it_as_without_us(to: str) -> None:
    for at in range(0, len(DEADLY), 8):
        together = [(number, Running(WAITS, recorded=True)) for number in DEADLY[at : at + 8]]
        for number, running in together:
            running.send(number, to)
        ended = {number: running.process.wait(30) for number, running in together}
        assert ended == {number: -number for number, _ in together}


@pytest.mark.parametrize("to", ["group", "supervisor", "program"])
def test_what_is_ignored_on_entry_stays_ignored(to: str) -> None:
    running = Running(WAITS, recorded=True, ignored=True)
    for number in CATCHABLE:
        if number not in BY_PYTHON:
            running.send(number, to)
    assert running.end() == (b"", 0)


def test_the_program_starts_with_the_signals_that_are_ignored_and_blocked() -> None:
    """SIGPIPE and SIGXFSZ: Python ignores them before laststep can check."""
    chosen = [signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGTSTP, signal.SIGUSR1]

    def prepare() -> None:
        ignore([int(number) for number in chosen])
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGALRM])

    code = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"
    commands = [["sh", "-c", code], [*LASTSTEP, "sh", "-c", code]]
    bare, recorded = [
        subprocess.run(command, capture_output=True, preexec_fn=prepare, timeout=30).stdout for command in commands
    ]
    assert bare == recorded


def test_ignored_children_do_not_hang_us() -> None:
    code = "print(1); raise SystemExit(3)"
    command = ["env", "--ignore-signal=CHLD", *LASTSTEP, PYTHON, "-c", code]
    ended = subprocess.run(command, capture_output=True, timeout=30)
    assert (ended.stdout, ended.returncode) == (b"1\n", 3)


def relays_of(supervisor: int, program: int) -> list[int]:
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    return [int(pid) for pid in children if int(pid) != program]


def test_a_relay_that_dies_is_replaced() -> None:
    code = "import os, time\nprint(os.getpid(), flush=True)\nfor i in range(30): print(i, flush=True); time.sleep(0.05)"
    running = Running(code, recorded=True)
    for _ in range(3):
        time.sleep(0.3)
        for relay in relays_of(running.process.pid, running.program):
            os.kill(relay, signal.SIGKILL)
    seen, code_ = running.end()
    assert code_ == 0
    assert seen == b"".join(b"%d\n" % i for i in range(30))


def test_without_any_relay_the_output_still_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    """No relay can be started any more: a pipe without a reader would block the program forever."""
    no_second = "from laststep.supervisor import launch; launch.MAX_RELAYS = 1"
    starts = f"import sys; {no_second}\nfrom laststep.cli import main; sys.exit(main())"
    monkeypatch.setattr(sys.modules[__name__], "LASTSTEP", [PYTHON, "-c", starts, "run", "--quiet"])
    code = "import os; print(os.getpid(), flush=True); os.read(0, 1)\nfor i in range(30000): print(i)\nexit(3)"
    running = Running(code, recorded=True)
    (relay,) = relays_of(running.process.pid, running.program)
    os.kill(relay, signal.SIGKILL)
    time.sleep(0.3)
    assert relays_of(running.process.pid, running.program) == []
    assert running.end() == (b"".join(b"%d\n" % i for i in range(30000)), 3)


def test_a_signal_for_the_group_is_known_after_a_relay_was_replaced() -> None:
    running = Running(SEES, recorded=True)
    for relay in relays_of(running.process.pid, running.program):
        os.kill(relay, signal.SIGKILL)
    time.sleep(0.5)
    running.send(signal.SIGTERM, "group")
    time.sleep(0.3)
    assert running.end() == (b"%d\n" % signal.SIGTERM, 0)


def test_a_signal_to_all_processes_called_laststep_reaches_the_program() -> None:
    """`killall laststep` ends the training: the relay has a different name."""
    running = Running(SEES, recorded=True)
    names = {Path(f"/proc/{pid}/comm").read_text() for pid in relays_of(running.process.pid, running.program)}
    assert names == {"output-relay\n"}
    assert running.end() == (b"", 0)


def test_a_stop_of_the_terminal_that_waits_already_stops_us_once() -> None:
    """Ctrl-Z reaches supervisor and program: the program's stop may be seen first."""
    code = (
        "import os, signal\n"
        "from laststep.supervisor.signals import stop_by\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])\n"
        "os.kill(os.getpid(), signal.SIGTSTP)\n"
        "stop_by(signal.SIGTSTP)\n"
    )
    # In a group of its own, like a shell's job: Ctrl-Z does not stop an orphaned process group.
    process = subprocess.Popen([PYTHON, "-c", code], preexec_fn=lambda: os.setpgid(0, 0))
    try:
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        os.kill(process.pid, signal.SIGCONT)
        status = os.waitpid(process.pid, os.WUNTRACED)[1]
        assert not os.WIFSTOPPED(status)
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        process.kill()
