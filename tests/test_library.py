"""import laststep: start(), step(), why() in a script that was not wrapped."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from laststep.record.events.supervisor import ProcessEnd
from laststep.record.folder import find_run
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose


def script(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    path = folder / "note.py"
    path.write_text(code)
    return subprocess.run([sys.executable, "note.py"], capture_output=True, text=True, cwd=folder, timeout=60)


def wait_for_end(folder: Path) -> Run:
    """The process that watches from beside notices the end on its own."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        run = Run.load(find_run(None, str(folder / ".laststep")))
        if run.has(ProcessEnd):
            return run
        time.sleep(0.1)
    raise AssertionError("the watcher did not notice the end")


def test_start_step_and_why(tmp_path: Path) -> None:
    ended = script(
        tmp_path,
        "import laststep, time\n"
        "name = laststep.start()\n"
        "for i in range(20): laststep.step(loss=1 / (i + 1))\n"
        "time.sleep(1)\n"
        "answer = laststep.why()\n"
        "print(answer.outcome, answer.run.id == name, answer.run.steps[-1].number)\n"
        "print('What happened' in str(answer))\n",
    )
    assert ended.stderr == ""
    assert ended.stdout == "running True 20\nTrue\n"
    run = wait_for_end(tmp_path)
    assert diagnose(run).outcome == "finished"
    assert diagnose(run).findings == ()


def test_why_of_a_run_by_its_name(tmp_path: Path) -> None:
    script(tmp_path, "import laststep\nlaststep.start()\nlaststep.step()\n")
    name = wait_for_end(tmp_path).id
    ended = script(tmp_path, f"import laststep\nprint(laststep.why({name!r}).run.id)\nprint(laststep.why().run.id)\n")
    assert ended.stdout == f"{name}\n{name}\n"


def test_an_exception_after_start_is_named(tmp_path: Path) -> None:
    ended = script(tmp_path, "import laststep\nlaststep.start()\nlaststep.step()\nraise ValueError('later')\n")
    assert ended.returncode == 1
    diagnosis = diagnose(wait_for_end(tmp_path))
    assert (diagnosis.outcome, diagnosis.findings[0].rule) == ("crashed", "unhandled-exception")


def test_a_kill_after_start_is_not_called_finished(tmp_path: Path) -> None:
    ended = script(
        tmp_path,
        "import laststep, os, time\nlaststep.start()\nlaststep.step()\ntime.sleep(1)\nos.kill(os.getpid(), 9)\n",
    )
    assert ended.returncode == -9
    diagnosis = diagnose(wait_for_end(tmp_path))
    assert diagnosis.outcome == "stopped"
    assert diagnosis.findings[0].rule == "killed-by-signal"


def test_step_without_start_does_nothing(tmp_path: Path) -> None:
    ended = script(tmp_path, "import laststep\nlaststep.step(loss=1.0)\nprint('ok')\n")
    assert (ended.stdout, ended.returncode) == ("ok\n", 0)
    assert not (tmp_path / ".laststep").exists()


def test_start_twice_is_one_run(tmp_path: Path) -> None:
    ended = script(tmp_path, "import laststep\nprint(laststep.start() == laststep.start())\n")
    assert ended.stdout == "True\n"
