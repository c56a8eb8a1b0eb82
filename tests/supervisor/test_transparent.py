"""The program notices nothing: bytes, terminals, signals and the exit status are the same as without laststep."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # many processes
LASTSTEP = [sys.executable, "-m", "laststep", "run", "--quiet"]
PYTHON = sys.executable

COUNTS_SIGNALS = """
import signal, sys, time
names = []
def note(number, frame):
    names.append(signal.Signals(number).name)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
    signal.signal(number, note)
print("READY", flush=True)
end = time.time() + 1.0
while time.time() < end:
    time.sleep(0.02)
print(names)
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def recorded(code: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*LASTSTEP, PYTHON, "-c", code], capture_output=True, timeout=60, **options)  # type: ignore[call-overload,no-any-return]


def bare(code: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([PYTHON, "-c", code], capture_output=True, timeout=60, **options)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("code", [0, 1, 3, 77, 255])
def test_exit_code_is_passed_on(code: int) -> None:
    assert recorded(f"raise SystemExit({code})").returncode == code


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGHUP", "SIGUSR1", "SIGFPE"])
def test_death_by_signal_stays_death_by_that_signal(name: str) -> None:
    ended = recorded(f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert ended.returncode == -getattr(signal, name)


def test_stdout_and_stderr_bytes_are_the_same() -> None:
    code = (
        "import os, sys\n"
        "for i in range(2000):\n"
        "    os.write(1, b'out %d \\xff\\x00\\x1b[1m\\r' % i)\n"
        "    os.write(2, b'err %d\\n' % i)\n"
        "sys.stdout.write('no newline at the end')\n"
    )
    with_laststep, without = recorded(code), bare(code)
    assert with_laststep.stdout == without.stdout
    assert with_laststep.stderr == without.stderr


def test_order_is_kept_where_stdout_and_stderr_are_one_pipe() -> None:
    code = "import os\nfor i in range(500): os.write(1 + i % 2, b'%d ' % i)"
    ended = subprocess.run(
        [*LASTSTEP, PYTHON, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
    )
    assert ended.stdout == b"".join(b"%d " % i for i in range(500))


def test_a_file_as_stdout_is_the_programs_own_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import os, sys; print(os.readlink('/proc/self/fd/1')); sys.stdout.flush(); os.lseek(1, 0, 2); print('x')"
    with open(log, "wb") as out:
        subprocess.run([*LASTSTEP, PYTHON, "-c", code], stdout=out, timeout=60, check=True)
    assert log.read_text() == f"{log}\nx\n"


def test_stdin_works() -> None:
    assert recorded("print(input() * 2)", input=b"ab\n").stdout == b"abab\n"


def test_a_reader_that_goes_away_is_noticed_by_the_program() -> None:
    code = (
        "import os, sys\n"
        "try:\n    while True: print('y' * 1000)\n"
        "except BrokenPipeError:\n    os.write(2, b'gone'); os._exit(9)\n"
    )
    running = subprocess.Popen([*LASTSTEP, PYTHON, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.read(10)
    running.stdout.close()
    assert running.stderr.read() == b"gone"
    assert running.wait(30) == 9


def test_output_of_a_child_that_outlives_the_program_still_arrives() -> None:
    ended = subprocess.run(
        [*LASTSTEP, "bash", "-c", "(sleep 0.7; echo late) & echo early"], capture_output=True, timeout=30
    )
    assert ended.stdout == b"early\nlate\n"


def test_environment_and_path_are_the_programs_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/some/where")
    code = "import os, sys; print(sorted(os.environ.items())); print(sys.path); print('sitecustomize' in sys.modules)"
    with_laststep, without = recorded(code), bare(code)
    assert with_laststep.stdout == without.stdout.replace(b"False\n", b"True\n")


def test_file_descriptors_get_the_numbers_they_would_have_had() -> None:
    code = "import os; print(os.open('/dev/null', os.O_RDONLY), sorted(os.listdir('/proc/self/fd'), key=int)[:4])"
    assert recorded(code).stdout == bare(code).stdout


def test_a_sitecustomize_of_the_user_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("import builtins; builtins.mine = 'loaded'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "mine"))
    code = "import sitecustomize; print(mine, sitecustomize.__file__)"
    with_laststep, without = recorded(code), bare(code)
    assert b"loaded" in with_laststep.stdout
    assert with_laststep.stdout == without.stdout


@pytest.mark.parametrize("to", ["supervisor", "group"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGHUP"])
def test_a_signal_arrives_exactly_once(to: str, name: str) -> None:
    running = subprocess.Popen(
        [*LASTSTEP, PYTHON, "-c", COUNTS_SIGNALS], stdout=subprocess.PIPE, start_new_session=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"READY\n"
    number = getattr(signal, name)
    if to == "group":
        os.killpg(running.pid, number)
    else:
        os.kill(running.pid, number)
    assert running.stdout.read() == f"['{name}']\n".encode()
    assert running.wait(30) == 0


def test_training_goes_on_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    code = "import time\nprint('READY', flush=True)\nfor i in range(5):\n    time.sleep(0.1)\n    print(i, flush=True)"
    running = subprocess.Popen([*LASTSTEP, PYTHON, "-c", code], stdout=subprocess.PIPE, cwd=tmp_path)
    assert running.stdout is not None
    assert running.stdout.readline() == b"READY\n"
    running.kill()
    assert running.stdout.read() == b"0\n1\n2\n3\n4\n"
    said = subprocess.run([PYTHON, "-m", "laststep", "why"], capture_output=True, text=True, cwd=tmp_path, timeout=30)
    assert said.returncode == 0
    assert "finished" in said.stdout.splitlines()[0]


def test_a_stop_and_a_continue_go_by_without_harm() -> None:
    code = "import time\nprint('READY', flush=True)\nfor i in range(20): time.sleep(0.1)\nprint('END')"
    running = subprocess.Popen([*LASTSTEP, PYTHON, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert running.stdout is not None
    assert running.stdout.readline() == b"READY\n"
    os.killpg(running.pid, signal.SIGSTOP)
    time.sleep(1.3)
    os.killpg(running.pid, signal.SIGCONT)
    assert running.stdout.read() == b"END\n"
    assert running.wait(30) == 0


def test_laststep_off_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LASTSTEP_OFF", "1")
    code = "import os, sys; print('laststep' in sys.modules, os.environ.get('PYTHONPATH'))"
    ended = recorded(code)
    assert ended.stdout == bare(code).stdout
    assert not (tmp_path / ".laststep").exists()


class Terminal:
    """A real terminal with a shell's job in it: what is typed, what is seen."""

    def __init__(self, command: list[str]) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)

    def read_until(self, text: bytes, seconds: float = 20.0) -> bytes:
        seen = b""
        end = time.monotonic() + seconds
        while text not in seen:
            assert time.monotonic() < end, f"{text!r} did not appear in {seen!r}"
            ready, _, _ = select.select([self._master], [], [], 0.2)
            if ready:
                try:
                    seen += os.read(self._master, 65536)
                except OSError:
                    break
        assert text in seen, seen
        return seen

    def type(self, text: bytes) -> None:
        os.write(self._master, text)

    def status(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_terminal_stays_a_terminal() -> None:
    code = (
        "import sys\n"
        "print(sys.stdout.isatty(), sys.stderr.isatty(), sys.stdin.isatty())\n"
        "print(input('name? '))\nprint('BYE')\n"
    )
    terminal = Terminal([*LASTSTEP, PYTHON, "-c", code])
    assert b"True True True\r\n" in terminal.read_until(b"name? ")
    terminal.type(b"ann\n")
    assert b"ann\r\nBYE\r\n" in terminal.read_until(b"BYE\r\n")
    assert terminal.status() == 0


def test_ctrl_c_reaches_the_program_once() -> None:
    code = (
        "import signal, time\nn = []\n"
        "signal.signal(signal.SIGINT, lambda *_: n.append(1))\n"
        "print('READY')\n"
        "end = time.time() + 1.0\n"
        "while time.time() < end: time.sleep(0.05)\n"
        "print('interrupts:', len(n), 'END')\n"
    )
    terminal = Terminal([*LASTSTEP, PYTHON, "-c", code])
    terminal.read_until(b"READY")
    terminal.type(b"\x03")
    assert b"interrupts: 1 END" in terminal.read_until(b"END")
    assert terminal.status() == 0


def test_uncaught_ctrl_c_ends_as_without_us() -> None:
    code = "import time; print('READY'); time.sleep(30)"
    terminal = Terminal([*LASTSTEP, PYTHON, "-c", code])
    terminal.read_until(b"READY")
    terminal.type(b"\x03")
    terminal.read_until(b"KeyboardInterrupt")
    assert terminal.status() == -signal.SIGINT
