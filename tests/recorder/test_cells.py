"""laststep.start() in a notebook: cells that fail, and a kernel that goes on. A stand-in takes IPython's place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from laststep.record.events.process import Raised
from laststep.rules.diagnose import diagnose
from tests.test_library import wait_for_end

# As IPython 8 does it: what was registered is called after each cell, also after one that failed.
SHELL = """
import sys, types, traceback

class Events:
    hooks = []
    def register(self, event, function):
        assert event == "post_run_cell"
        self.hooks.append(function)

class Shell:
    events = Events()
    def run_cell(self, source):
        result = types.SimpleNamespace(error_in_exec=None)
        try:
            exec(compile(source, "<ipython-input-1-0a>", "exec"), sys.modules["__main__"].__dict__)
        except BaseException as error:
            result.error_in_exec = error
            sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        for hook in list(self.events.hooks):
            hook(result)

shell = Shell()
def get_ipython():
    return shell
"""
START = "import laststep, os, time; laststep.start()"
FAILS = "laststep.step(loss=1.0)\nraise ValueError('shapes (32, 3) and (32, 4) do not match')"
TRAINS = "for n in range(40): laststep.step(loss=1 / (n + 1)); time.sleep(0.02)"


def notebook(folder: Path, *cells: str) -> int:
    (folder / "IPython.py").write_text(SHELL)
    (folder / "kernel.py").write_text(f"from IPython import shell\nfor cell in {cells!r}:\n    shell.run_cell(cell)\n")
    done = subprocess.run([sys.executable, "kernel.py"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.returncode


def rules(folder: Path) -> list[str]:
    return [finding.rule for finding in diagnose(wait_for_end(folder)).findings]


def test_a_kernel_that_survived_a_cell_and_was_killed_later(tmp_path: Path) -> None:
    assert notebook(tmp_path, START, FAILS, "time.sleep(1.5)", "os.kill(os.getpid(), 9)") == -9
    run = wait_for_end(tmp_path)
    assert [error.left for error in run.all(Raised)] == ["cell"]
    assert rules(tmp_path) == ["killed-by-signal"]


def test_a_cell_that_was_repaired(tmp_path: Path) -> None:
    assert notebook(tmp_path, START, FAILS, TRAINS) == 0
    assert rules(tmp_path) == []


def test_a_cell_that_failed_last(tmp_path: Path) -> None:
    assert notebook(tmp_path, START, TRAINS, FAILS) == 0
    assert rules(tmp_path)[-1] == "unhandled-exception"
