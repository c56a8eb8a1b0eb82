"""Fail open: whatever laststep lacks, the program runs, with its own output and status."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from laststep.supervisor.program import CannotExec, Program, ProgramSetup

pytestmark = pytest.mark.slow  # many processes
PYTHON = sys.executable
LASTSTEP = [PYTHON, "-m", "laststep", "run", "--quiet"]
ENDS = "print('ran'); raise SystemExit(7)"
OPENS_ALL = """
import os
files = []
try:
    while True: files.append(os.open('/dev/null', 0))
except OSError: print(files)
"""
DIES_OF_A_LARGE_FILE = """
import signal, warnings, laststep
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
warnings.simplefilter('always')
for i in range(20): laststep.step(1.0); warnings.warn('w' * 5000)
print('ran'); raise SystemExit(7)
"""


def both(folder: Path, code: str, what: int, most: int, *user: str) -> list[tuple[bytes, int]]:
    environ = {**os.environ, "LASTSTEP_DIR": str(folder / "runs")}
    ended = [
        subprocess.run(
            [*user, *prefix, PYTHON, "-c", code],
            capture_output=True,
            cwd=folder,
            env=environ,
            timeout=60,
            preexec_fn=lambda: resource.setrlimit(what, (most, most)),
        )
        for prefix in ([], LASTSTEP)
    ]
    return [(one.stdout, one.returncode) for one in ended]


@pytest.mark.parametrize("most", [5, 6, 8, 10, 12, 14, 16, 24, 40, 300])
@pytest.mark.parametrize("code", [ENDS, OPENS_ALL], ids=["ends", "opens-all"])
def test_few_descriptors(tmp_path: Path, code: str, most: int) -> None:
    bare, recorded = both(tmp_path, code, resource.RLIMIT_NOFILE, most)
    assert recorded[1] == bare[1]
    assert recorded[0] == bare[0] or most > 240  # there the recorder uses some, above those of the program
    assert recorded[0][:200] == bare[0][:200]


@pytest.mark.parametrize("most", [0, 1000, 100_000, 1 << 20])
def test_small_files(tmp_path: Path, most: int) -> None:
    bare, recorded = both(tmp_path, DIES_OF_A_LARGE_FILE, resource.RLIMIT_FSIZE, most)
    assert recorded == bare == (b"ran\n", 7)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 70])
def test_few_processes(tmp_path: Path, most: int) -> None:
    """As an ordinary user who may read our files: the limit does not apply to root."""
    capabilities = "+dac_override,+dac_read_search"
    number = 64100 + most  # the limit counts all processes of a user: exclude those of parallel tests
    user = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]
    user += [f"--inh-caps={capabilities}", f"--ambient-caps={capabilities}"]
    if os.geteuid() != 0 or subprocess.run([*user, "true"], capture_output=True).returncode:
        pytest.skip("becoming another user needs root and setpriv")
    tmp_path.chmod(0o777)
    busy = [subprocess.Popen([*user, "sleep", "20"]) for _ in range(69 if most == 70 else 0)]
    try:
        bare, recorded = both(tmp_path, ENDS, resource.RLIMIT_NPROC, most, *user)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert recorded == bare == (b"ran\n", 7)


def test_no_memory_to_spare(tmp_path: Path) -> None:
    for megabytes in (40, 80):
        bare, recorded = both(tmp_path, ENDS, resource.RLIMIT_AS, megabytes << 20)
        assert recorded == bare == (b"ran\n", 7)


def test_a_terminal_that_cannot_be_given_is_no_fault_of_the_command() -> None:
    """If the system refuses us a resource, run without us; only exec decides that there is no such command."""
    with open(os.devnull) as no_terminal, pytest.raises(OSError, match="unavailable") as refused:
        Program(ProgramSetup([PYTHON, "-c", "1"], dict(os.environ), terminal=no_terminal.fileno()))
    assert not isinstance(refused.value, CannotExec)
    with pytest.raises(CannotExec):
        Program(ProgramSetup(["/no/such/command"], dict(os.environ)))
