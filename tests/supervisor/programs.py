"""Small programs and the conditions they run in; without and with recording they must behave alike. No TensorFlow."""

from __future__ import annotations

import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

PYTHON = sys.executable
LASTSTEP = [str(Path(PYTHON).with_name("laststep")), "run", "--quiet"]
SECONDS = 30.0
# The one frame that the program's own faulthandler shows if it sends itself a fatal signal: the README says so.
OWN_FRAME = re.compile(rb'  File "[^"\n]*/laststep/recorder/patch\.py", line \d+ in wrapper\n')
ADDRESS = re.compile(rb"0x[0-9a-f]{16}")  # of a thread, in the same list

# Each exits by itself; what it prints must not depend on process ids, times or addresses.
PROGRAMS: dict[str, str] = {
    "facts": """
import os, resource, signal, stat, sys
def kind(fd):
    try: mode = os.fstat(fd).st_mode
    except OSError: return "closed"
    return ("tty" if os.isatty(fd) else stat.filemode(mode)[0]), os.get_inheritable(fd), os.get_blocking(fd)
facts = [sorted(os.environ.items()), os.getcwd(), sys.argv, sys.path, sys.flags, sys.orig_argv, sys.warnoptions]
facts += [kind(fd) for fd in range(6)] + [sorted(int(n) for n in os.listdir("/proc/self/fd") if int(n) < 200)]
facts += [resource.getrlimit(n) for n in range(16)] + [os.umask(0), os.nice(0), os.getuid(), os.getgroups()]
facts += [[str(signal.getsignal(n)) for n in signal.valid_signals() if n not in (4, 6, 7, 8, 11, 2)]]
facts += [signal.pthread_sigmask(signal.SIG_BLOCK, []), sys.excepthook.__module__ == "laststep", __name__]
facts += [sys.getrecursionlimit(), sys.getswitchinterval(), sys.stdin and sys.stdin.encoding, sys.stderr is None]
facts += [os.sched_getaffinity(0) == set(range(os.cpu_count())) or sorted(os.sched_getaffinity(0))]
text = "".join(repr(fact) + "\\n" for fact in facts)
open("facts", "w").write(text)
if sys.stdout: sys.stdout.write(text)
""",
    "low descriptors": "import os\nprint([os.open('/dev/null', 0) for _ in range(3)])",
    "writes to both": "import os\nfor i in range(300): os.write(1 + i % 2, b'%d\\n' % i)",
    "no newline": "import sys; sys.stdout.write('x' * 70000); sys.stderr.write('y')",
    "reads all": "import sys; print(len(sys.stdin.read()) if sys.stdin else None)",
    "raises": "def f(): raise ValueError('näh')\nf()",
    "exit code": "raise SystemExit(77)",
    "exit text": "import sys; sys.exit('the end')",
    "killed": "import os, signal; print('x', flush=True); os.kill(os.getpid(), signal.SIGKILL)",
    "segfault": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "aborts": "import os; os.abort()",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM); print('not reached')",
    "interrupts itself": "import signal; signal.raise_signal(signal.SIGINT)",
    "at exit": "import atexit; atexit.register(print, 'last'); print('first'); raise SystemExit(5)",
    "os._exit": "import os; print('lost'); os._exit(9)",
    "child output": "import os; os.system('echo child; echo error >&2; exit 3'); print('parent')",
    "child ignores": "import subprocess; print(subprocess.run('kill -l', shell=True, capture_output=True).returncode)",
    "forks": "import os\npid = os.fork()\nif pid == 0: os._exit(4)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "thread raises": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t'); t.start(); t.join()",
    "closes stdout": "import os; os.close(1); os.open('/dev/null', os.O_RDWR); os.write(2, b'ok'); raise SystemExit(2)",
    "warns": "import warnings; warnings.warn('careful'); print('done')",
    "sees no children": "import os\ntry: print(os.waitpid(-1, 0))\nexcept ChildProcessError: print('none')",
    "closes all files": "import os\nos.closerange(3, 250); print([os.open('/dev/null', 0) for _ in range(3)])",
}


class Outcome(NamedTuple):
    """What can be observed from outside."""

    stdout: bytes
    stderr: bytes
    status: int
    modes: Any = None  # of the terminal, afterwards
    left: bytes = b""  # in the file that it wrote


@dataclass(frozen=True)
class Condition:
    """How a program is started."""

    name: str
    stdin: bytes | None = b""  # None: closed
    stdout: str = "pipe"  # pipe, file, same (as stderr), closed, terminal (all three)
    stderr: str = "pipe"
    prepare: Callable[[], None] = lambda: None
    environment: tuple[tuple[str, str], ...] = ()
    python: tuple[str, ...] = ()  # its options


def _limit(what: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(what, (most, most))


def _ignore() -> None:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)


def _block() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD])


def _settings() -> None:
    os.umask(0o037)
    os.nice(3)


PLAIN = Condition("pipes", stdin=b"abc\n" * 10)
CONDITIONS: tuple[Condition, ...] = (
    PLAIN,
    Condition("one pipe", stderr="same"),
    Condition("files", stdout="file", stderr="file"),
    Condition("terminal", stdout="terminal"),
    Condition("stdin closed", stdin=None),
    Condition("stdout closed", stdout="closed"),
    Condition("stderr closed", stderr="closed"),
    Condition("all closed", stdin=None, stdout="closed", stderr="closed"),
    Condition("signals ignored", prepare=_ignore),
    Condition("signals blocked", prepare=_block),
    Condition("other settings", prepare=_settings, python=("-X", "dev", "-u")),
    Condition("few descriptors", prepare=_limit(resource.RLIMIT_NOFILE, 40)),
    Condition("small files", prepare=_limit(resource.RLIMIT_FSIZE, 60_000)),
    Condition("no core", prepare=_limit(resource.RLIMIT_CORE, 0)),
    Condition("environment", environment=(("PYTHONPATH", "/nowhere:/else"), ("LC_ALL", "C"), ("TERM", "dumb"))),
)


def run(program: str, condition: Condition, folder: Path, recorded: bool) -> Outcome:
    """Run PROGRAMS[program] in a folder of its own."""
    (folder / "program.py").write_text(PROGRAMS[program])
    command = [*(LASTSTEP if recorded else []), PYTHON, *condition.python, "program.py", "--argument", "ä b"]
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    environ |= {"LASTSTEP_DIR": str(folder.with_name(folder.name + "-runs"))} | dict(condition.environment)
    if condition.stdout == "terminal":
        outcome = _at_terminal(command, condition, folder, environ)
    else:
        outcome = _with_streams(command, condition, folder, environ)
    left = folder / "facts"
    own = ADDRESS.sub(b"", OWN_FRAME.sub(b"", outcome.stderr) if recorded else outcome.stderr)
    return outcome._replace(stderr=own, left=left.read_bytes() if left.exists() else b"")


def _with_streams(command: list[str], condition: Condition, folder: Path, environ: dict[str, str]) -> Outcome:
    def prepare() -> None:
        wanted = {0: condition.stdin is None, 1: condition.stdout == "closed", 2: condition.stderr == "closed"}
        for fd, closed in wanted.items():
            if closed:
                os.close(fd)
        condition.prepare()

    files = {name: open(folder / name, "w+b") for name in ("stdout", "stderr")}
    ways = {"pipe": subprocess.PIPE, "same": subprocess.STDOUT, "closed": subprocess.DEVNULL}
    ended = subprocess.run(
        command,
        input=condition.stdin or b"",
        stdout=files["stdout"] if condition.stdout == "file" else ways[condition.stdout],
        stderr=files["stderr"] if condition.stderr == "file" else ways[condition.stderr],
        cwd=folder,
        env=environ,
        preexec_fn=prepare,
        timeout=SECONDS,
        start_new_session=True,
    )
    written = {name: Path(folder, name).read_bytes() for name in files}
    for file in files.values():
        file.close()
    return Outcome(
        (ended.stdout or b"") + written["stdout"], (ended.stderr or b"") + written["stderr"], ended.returncode
    )


def _at_terminal(command: list[str], condition: Condition, folder: Path, environ: dict[str, str]) -> Outcome:
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder)
        condition.prepare()
        os.execvpe(command[0], command, environ)
    os.write(master, b"typed\n\x04")
    seen, end = b"", time.monotonic() + SECONDS
    while time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            seen += chunk
        elif os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            break
    modes = termios.tcgetattr(master)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(master)
    return Outcome(seen, b"", status, modes)
