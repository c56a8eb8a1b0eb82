"""At a real terminal, alone in it and as a job of a real shell: keys, modes, sizes, Ctrl-C, Ctrl-Z, fg, bg."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # many processes
PYTHON = sys.executable
LASTSTEP = [PYTHON, "-m", "laststep", "run", "--quiet"]
RUNS = pytest.mark.parametrize("recorded", [False, True], ids=["bare", "recorded"])
ALONE_OR_JOB = pytest.mark.parametrize("as_job", [False, True], ids=["alone", "job"])
PROMPT = b"PROMPT> "


class Terminal:
    """A real terminal: what is typed, what is seen, in which modes it is."""

    def __init__(self, command: list[str]) -> None:
        self.seen = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)

    def wait_for(self, text: bytes, seconds: float = 15.0) -> bytes:
        """The output up to and including the text; the rest is kept for the next call."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} did not appear in {self.seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536)
                except OSError:
                    break
        before, found, self.seen = self.seen.partition(text)
        assert found, before
        return before + found

    def quiet(self, seconds: float = 0.4) -> bytes:
        while select.select([self.master], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                break
        seen, self.seen = self.seen, b""
        return seen

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.master)

    def close(self) -> None:
        os.close(self.master)
        for _ in range(100):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def status(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Session:
    """Programs in a terminal: alone, as a terminal emulator starts them, or as jobs of an interactive shell."""

    def __init__(self, folder: Path, recorded: bool, as_job: bool) -> None:
        self.folder, self.prefix, self.as_job = folder, LASTSTEP if recorded else [], as_job
        self.terminal: Terminal | None = None

    def start(self, code: str, after: str = "") -> Terminal:
        (self.folder / "prog.py").write_text(code)
        command = [*self.prefix, PYTHON, str(self.folder / "prog.py")]
        if not self.as_job:
            self.terminal = Terminal(command)
        else:
            shell = self.terminal = Terminal(["bash", "--norc", "--noprofile", "-i"])
            shell.type(b"PS1='PROMPT''> '; bind 'set enable-bracketed-paste off'; stty -echo\n")
            shell.wait_for(PROMPT)
            shell.quiet(0.2)
            shell.type(b"stty echo; " + " ".join(command).encode() + after.encode() + b"\n")
        return self.terminal


@pytest.fixture
def session(tmp_path: Path, recorded: bool, as_job: bool, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    made = Session(tmp_path, recorded, as_job)
    yield made
    if made.terminal is not None:
        made.terminal.close()


@RUNS
@ALONE_OR_JOB
def test_cbreak_set_on_stdout_gets_each_key(session: Session) -> None:
    at = session.start(
        "import os, tty, termios\nold = termios.tcgetattr(1)\ntty.setcbreak(1)\nprint('READY', flush=True)\n"
        "print('key', os.read(0, 1), flush=True)\ntermios.tcsetattr(1, termios.TCSANOW, old)\nprint('BYE')\n"
    )
    at.wait_for(b"READY\r\n")
    at.type(b"x")
    assert at.wait_for(b"BYE\r\n") == b"key b'x'\r\nBYE\r\n"


@RUNS
@ALONE_OR_JOB
def test_curses_gets_keys_and_sizes(session: Session) -> None:
    at = session.start(
        "import curses, os\n"
        "def main(screen):\n"
        "    screen.addstr('READY'); screen.refresh()\n"
        "    keys = []\n"
        "    while True:\n"
        "        key = screen.getch()\n"
        "        if key == ord('q'): return keys\n"
        "        keys.append((key == curses.KEY_RESIZE and tuple(os.get_terminal_size(1))) or key)\n"
        "print(curses.wrapper(main), 'BYE')\n"
    )
    at.wait_for(b"READY")
    at.type(b"a")
    time.sleep(0.3)
    at.resize(33, 77)
    time.sleep(0.3)
    at.type(b"\x1b[A")
    time.sleep(0.3)
    at.type(b"q")
    assert b"[97, (77, 33), 27, 91, 65] BYE" in at.wait_for(b"BYE").replace(b"259", b"27, 91, 65")


@RUNS
@ALONE_OR_JOB
def test_the_handler_of_a_new_size_reads_the_new_size(session: Session) -> None:
    at = session.start(
        "import os, signal, time\n"
        "def sizes(*_): print(*[tuple(os.get_terminal_size(n)) for n in (0, 1, 2)], flush=True)\n"
        "signal.signal(signal.SIGWINCH, sizes)\n"
        "print('READY', flush=True)\nend = time.time() + 20\nwhile time.time() < end: time.sleep(0.1)\n"
    )
    at.wait_for(b"READY\r\n")
    for rows in range(20, 32):
        at.resize(rows, 90)
        assert at.wait_for(b"\r\n") == b"(90, %d) (90, %d) (90, %d)\r\n" % (rows, rows, rows)
    at.type(b"\x03")
    at.wait_for(b"KeyboardInterrupt")


@RUNS
@ALONE_OR_JOB
def test_a_password_is_not_shown(session: Session) -> None:
    at = session.start("import getpass\nprint(getpass.getpass('Secret: ')[::-1], 'BYE')\n")
    at.wait_for(b"Secret: ")
    time.sleep(0.3)
    at.type(b"abc\n")
    assert at.wait_for(b"BYE") == b"\r\ncba BYE"


@RUNS
@ALONE_OR_JOB
def test_lines_can_be_edited(session: Session) -> None:
    at = session.start("import readline\nprint([input('> '), input('> ')], 'BYE')\n")
    at.wait_for(b"> ")
    time.sleep(0.3)
    at.type(b"abd\x7fc\x01X\n")
    at.wait_for(b"> ")
    time.sleep(0.2)
    at.type(b"\x1b[A!\n")
    assert b"['Xabc', 'Xabc!'] BYE" in at.wait_for(b"BYE")


@RUNS
@ALONE_OR_JOB
def test_modes_that_a_program_leaves_behind_stay(session: Session) -> None:
    at = session.start(
        "import os, time\nos.system('stty -echo -icanon min 1')\nprint('READY', flush=True)\ntime.sleep(0.3)\n"
    )
    at.wait_for(b"READY")
    if session.as_job:
        at.wait_for(PROMPT)
        at.quiet()
        at.type(b"stty -a | tr ';' '\\n' | grep -o -e '-echo ' -e '-icanon'; echo 'E'ND\n")
        assert at.wait_for(b"END").split() == [b"-icanon", b"-echo", b"END"]
    else:
        local = at.modes()[3]
        assert not local & (termios.ECHO | termios.ICANON)


@RUNS
@ALONE_OR_JOB
def test_a_program_sees_its_terminal_as_it_is(session: Session) -> None:
    at = session.start(
        "import os, sys, termios\n"
        "print([os.isatty(n) for n in (0, 1, 2)], [termios.tcgetattr(n)[:6] for n in (0, 1, 2)])\n"
        "print(os.getpgrp() == os.getpid(), os.tcgetpgrp(0) == os.getpgrp(), os.ttyname(0) == os.ttyname(2))\n"
        "print(os.ctermid(), os.path.samestat(os.fstat(0), os.fstat(1)), open('/dev/tty').isatty(), 'BYE')\n"
    )
    modes = str(at.modes()[:6]).encode()
    said = at.wait_for(b"BYE\r\n").splitlines()[-3:]
    if not session.as_job:
        assert said[0] == b"[True, True, True] [" + b", ".join([modes] * 3) + b"]"
    assert said[1:] == [b"True True True", b"/dev/tty True True BYE"]


@RUNS
@ALONE_OR_JOB
def test_ctrl_c_ends_it_by_that_signal(session: Session) -> None:
    at = session.start("import time\nprint('READY', flush=True)\ntime.sleep(30)\n")
    at.wait_for(b"READY")
    at.type(b"\x03")
    at.wait_for(b"KeyboardInterrupt")
    if session.as_job:
        at.wait_for(PROMPT)
        at.type(b"echo status=$?\n")
        at.wait_for(b"status=130")
    else:
        assert at.status() == -signal.SIGINT
        at.pid, _ = pty.fork()
        if at.pid == 0:
            os._exit(0)


STOPPED = re.compile(rb"Stopped")
COUNTS = (
    "import signal, sys, time\n{0}\nprint('READY', flush=True)\n"
    "for i in range(60):\n    time.sleep(0.1)\n    if i % 10 == 0: print('tick', i, flush=True)\nprint('END')\n"
)


@pytest.mark.parametrize("as_job", [True])
class TestAsAJob:
    @RUNS
    def test_ctrl_z_and_fg(self, session: Session) -> None:
        at = session.start("print('READY', flush=True)\nprint(input(), 'BYE')\n")
        at.wait_for(b"READY")
        at.type(b"\x1a")
        at.wait_for(PROMPT)
        at.type(b"jobs; echo 'O'K\n")
        assert STOPPED.search(at.wait_for(b"OK"))
        at.type(b"fg\n")
        time.sleep(0.5)
        at.type(b"abc\n")
        at.wait_for(b"abc BYE")
        at.wait_for(PROMPT)
        at.type(b"echo status=$?\n")
        at.wait_for(b"status=0")

    @RUNS
    @pytest.mark.parametrize("after", [" > log", " | cat"])
    def test_ctrl_z_and_fg_where_the_output_goes_elsewhere(self, session: Session, after: str) -> None:
        at = session.start("import sys\nprint('READY', file=sys.stderr)\nx = input()\nprint(x, 'BYE')\n", after)
        at.wait_for(b"READY")
        time.sleep(0.3)
        at.type(b"\x1a")
        at.wait_for(PROMPT)
        at.type(b"jobs; echo 'O'K\n")
        assert STOPPED.search(at.wait_for(b"OK"))
        at.type(b"fg\n")
        time.sleep(0.5)
        at.type(b"abc\n")
        at.wait_for(PROMPT)
        at.type(b"echo status=$?; test -e log && cat log\n")
        at.wait_for(b"status=0")

    @RUNS
    def test_a_program_that_ignores_ctrl_z_goes_on(self, session: Session) -> None:
        at = session.start(COUNTS.format("signal.signal(signal.SIGTSTP, signal.SIG_IGN)"))
        at.wait_for(b"READY")
        at.type(b"\x1a")
        at.wait_for(b"tick 20")
        at.type(b"\x03")
        at.wait_for(PROMPT)

    @RUNS
    def test_a_handler_of_ctrl_z_that_stops_itself(self, session: Session) -> None:
        """As curses, readline and full-screen programs do."""
        handler = (
            "def stop(*_): print('going', flush=True); os.kill(os.getpid(), signal.{0}); print('back', flush=True)"
        )
        for name in ("SIGSTOP", "SIGTSTP"):
            way = handler.format("SIGSTOP") if name == "SIGSTOP" else (
                "def stop(*_):\n    print('going', flush=True); signal.signal(20, signal.SIG_DFL)\n"
                "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [20]); os.kill(os.getpid(), 20)\n"
                "    print('back', flush=True)"
            )  # fmt: skip
            at = session.start(COUNTS.format(f"import os\n{way}\nsignal.signal(signal.SIGTSTP, stop)"))
            at.wait_for(b"READY")
            at.type(b"\x1a")
            at.wait_for(b"going")
            at.wait_for(PROMPT)
            at.type(b"fg\n")
            at.wait_for(b"back")
            at.wait_for(b"END")
            at.wait_for(PROMPT)
            at.close()
            session.terminal = None

    @RUNS
    def test_bg_and_fg(self, session: Session) -> None:
        at = session.start(
            COUNTS.format("names = []\nsignal.signal(signal.SIGCONT, lambda *_: print('cont', flush=True))")
        )
        at.wait_for(b"READY")
        at.type(b"\x1a")
        at.wait_for(PROMPT)
        at.type(b"bg\n")
        at.wait_for(b"cont")
        assert b"cont" not in at.wait_for(b"tick 30")
        at.type(b"fg\n")
        at.wait_for(b"tick 40")
        at.wait_for(b"END")
        at.wait_for(PROMPT)

    @RUNS
    def test_reading_in_the_background_stops_it_until_fg(self, session: Session) -> None:
        at = session.start("print('READY', flush=True)\nprint(input(), 'BYE')\n", after=" &")
        at.wait_for(b"READY")
        at.wait_for(b"\n")
        time.sleep(1.0)
        at.type(b"\n")
        at.wait_for(b"Stopped")
        at.quiet()
        at.type(b"fg\n")
        time.sleep(0.7)
        at.type(b"abc\n")
        at.wait_for(b"abc BYE")

    @RUNS
    def test_a_command_typed_ahead_is_for_the_shell(self, session: Session) -> None:
        """Where the system lets a program type (TIOCSTI): newer kernels do not, unless they are set to."""
        allowed = Path("/proc/sys/dev/tty/legacy_tiocsti")
        if allowed.exists() and allowed.read_text().strip() == "0":
            pytest.skip("dev.tty.legacy_tiocsti is 0")
        at = session.start("import time\nprint('READY', flush=True)\ntime.sleep(0.7)\n")
        at.wait_for(b"READY")
        at.type(b"echo NEXT$((1+1))\n")
        at.wait_for(b"NEXT2")

    @RUNS
    def test_modes_are_as_before_after_each_end(self, session: Session) -> None:
        at = session.start("print('READY', flush=True)\nimport time; time.sleep(0.2)\n")
        at.wait_for(b"READY")
        at.wait_for(PROMPT)
        at.quiet()
        at.type(b"stty -a | tr ';' '\\n' | grep -o -w -e '-*echo' -e '-*icanon' -e '-*isig' -e '-*opost'; echo 'E'ND\n")
        assert b"-" not in b"".join(at.wait_for(b"END").split()[-5:])


def test_a_command_that_is_none_leaves_the_terminal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    at = Terminal(["sh", "-c", f"{' '.join(LASTSTEP)} no-such-command; echo $?; stty -a"])
    assert b"no-such-command: No such file or directory\r\n127\r\n" in at.wait_for(b"127\r\n")
    assert b" icanon " in at.wait_for(b" echo ")
    at.close()


@RUNS
@ALONE_OR_JOB
def test_a_terminal_that_goes_away(session: Session) -> None:
    at = session.start(
        "import signal, time\nseen = open('seen', 'a', buffering=1)\n"
        "for n in (1, 18): signal.signal(n, lambda n, frame: print(n, file=seen))\n"
        "print('READY', flush=True)\nfor i in range(10): time.sleep(0.1)\n"
        "try: print('x', flush=True)\nexcept OSError as error: print('error', error.errno, file=seen)\n"
    )
    at.wait_for(b"READY")
    time.sleep(0.2)
    at.close()
    session.terminal = None
    end = time.monotonic() + 10
    while "error" not in (seen := (session.folder / "seen").read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    # A shell's job may get SIGHUP from the shell and from the kernel.
    assert sorted(set(seen.splitlines())) == ["1", "18", "error 5"]


@ALONE_OR_JOB
@pytest.mark.parametrize("recorded", [True])
def test_a_relay_that_dies_at_a_terminal_is_replaced(session: Session, as_job: bool) -> None:
    at = session.start(
        "import os, tty\ntty.setcbreak(0)  # drops what was typed\nprint('PARENT', os.getppid(), flush=True)\n"
        "for i in range(2): print('key', os.read(0, 1), flush=True)\nprint('BYE')\n"
    )
    at.wait_for(b"PARENT ")
    supervisor = supervisor_of(int(at.wait_for(b"\r\n")), as_job)
    at.type(b"a")
    at.wait_for(b"key b'a'\r\n")
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    (relay,) = [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text() == "output-relay\n"]
    os.kill(relay, signal.SIGKILL)
    time.sleep(0.3)
    at.type(b"b")
    assert at.wait_for(b"BYE\r\n") == b"key b'b'\r\nBYE\r\n"


def supervisor_of(parent: int, as_job: bool) -> int:
    """A job's parent is its monitor."""
    return int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1]) if as_job else parent


@pytest.mark.parametrize("as_job", [False, True], ids=["alone", "job"])
@pytest.mark.parametrize("recorded", [True])
def test_a_killed_supervisor_leaves_the_terminal_usable_and_the_program_running(session: Session, as_job: bool) -> None:
    at = session.start("import os\nprint('IS', os.getppid(), flush=True)\n" + COUNTS.format(""))
    at.wait_for(b"IS ")
    parent = int(at.wait_for(b"\r\n"))
    at.wait_for(b"READY")
    os.kill(supervisor_of(parent, as_job), signal.SIGKILL)
    at.wait_for(b"tick 20")
    local = at.modes()[3]
    assert as_job or (local & termios.ICANON and local & termios.ECHO)
    at.wait_for(b"END")


@pytest.mark.parametrize("as_job", [False])
@pytest.mark.parametrize("recorded", [True])
def test_what_is_said_while_it_runs_has_line_endings(session: Session) -> None:
    session.prefix = [PYTHON, "-m", "laststep", "run", "--stall-after", "2"]
    at = session.start("import laststep, time\nfor i in range(20): laststep.step(); time.sleep(0.1)\ntime.sleep(60)\n")
    said = at.wait_for(b"laststep: no progress", 40) + at.quiet(1.0)
    assert said.count(b"\n") == said.count(b"\r\n") > 2
