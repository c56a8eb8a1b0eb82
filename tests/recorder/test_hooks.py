"""What the probes record in programs without a framework, and that every hook is chained."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.process import ExitCall, ProbeState, Raised, WarningShown
from laststep.record.folder import find_run
from laststep.record.run import Run


def record(folder: Path, code: str) -> tuple[subprocess.CompletedProcess[str], Run]:
    path = folder / "train.py"
    path.write_text(code)
    ended = subprocess.run(
        [sys.executable, "-m", "laststep", "run", "--quiet", sys.executable, "train.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
    )
    run = Run.load(find_run(None, str(folder / ".laststep")))
    failed = [event for event in run.all(ProbeState) if event.state in ("failed", "removed")]
    assert failed == [], "the guard swallowed something"
    return ended, run


def answer(folder: Path) -> Any:
    output = subprocess.check_output([sys.executable, "-m", "laststep", "why", "--json"], cwd=folder, text=True)
    return json.loads(output)


def test_a_hook_of_the_user_still_gets_the_exception(tmp_path: Path) -> None:
    ended, run = record(
        tmp_path,
        "import sys\n"
        "def mine(kind, error, tb):\n    print('mine', kind.__name__, tb.tb_lineno)\n"
        "sys.excepthook = mine\n"
        "raise KeyError('x')\n",
    )
    assert (ended.stdout, ended.returncode) == ("mine KeyError 5\n", 1)
    assert run.uncaught is not None
    assert run.uncaught.where is not None
    assert run.uncaught.where.line == 5


def test_default_traceback_is_unchanged(tmp_path: Path) -> None:
    code = "def f():\n    raise ValueError('deep')\ndef g():\n    f()\ng()\n"
    ended, run = record(tmp_path, code)
    bare = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, cwd=tmp_path)
    assert ended.stderr == bare.stderr
    assert run.uncaught is not None
    assert run.uncaught.where is not None
    assert (run.uncaught.where.line, run.uncaught.where.function) == (2, "f")


def test_an_exception_in_a_thread_is_seen_and_printed(tmp_path: Path) -> None:
    ended, run = record(
        tmp_path,
        "import threading\n"
        "def work():\n    raise OSError('in a thread')\n"
        "t = threading.Thread(target=work, name='loader'); t.start(); t.join()\n",
    )
    assert "in a thread" in ended.stderr
    assert ended.returncode == 0
    [event] = [event for event in run.all(Raised) if event.left == "thread"]
    assert event.where is not None
    assert (event.thread, event.where.line) == ("loader", 3)


@pytest.mark.parametrize(
    "leave, how",
    [("sys.exit(4)", "sys.exit"), ("exit(4)", "exit"), ("os._exit(4)", "os._exit")],
)
def test_the_line_that_left_is_named(tmp_path: Path, leave: str, how: str) -> None:
    ended, run = record(tmp_path, f"import os, sys\ndef stop():\n    {leave}\nstop()\n")
    assert ended.returncode == 4
    call = run.last(ExitCall)
    assert call is not None
    assert call.where is not None
    assert (call.how, call.status, call.where.line) == (how, 4, 3)
    assert answer(tmp_path)["findings"][0]["rule"] == "script-exited"


def test_a_bare_system_exit_is_still_named(tmp_path: Path) -> None:
    ended, _ = record(tmp_path, "raise SystemExit(6)\n")
    assert ended.returncode == 6
    finding = answer(tmp_path)["findings"][0]
    assert (finding["rule"], finding["confidence"]) == ("script-exited", "LIKELY")


def test_a_signal_to_itself_names_its_line(tmp_path: Path) -> None:
    ended, _ = record(tmp_path, "import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert ended.returncode == -9
    finding = answer(tmp_path)["findings"][0]
    assert (finding["rule"], finding["where"]["line"]) == ("killed-by-signal", 3)


def test_warnings_are_kept_and_shown_as_before(tmp_path: Path) -> None:
    code = (
        "import warnings\n"
        "warnings.warn('careful', stacklevel=1)\n"
        "with warnings.catch_warnings(record=True) as w:\n    warnings.warn('not shown')\n"
        "print(len(w))\n"
    )
    ended, run = record(tmp_path, code)
    bare = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, cwd=tmp_path)
    assert (ended.stdout, ended.stderr) == (bare.stdout, bare.stderr)
    assert [event.message for event in run.all(WarningShown)] == ["careful"]


def test_an_own_faulthandler_keeps_its_place(tmp_path: Path) -> None:
    code = "import faulthandler, ctypes, sys\nfaulthandler.enable()\nctypes.string_at(0)\n"
    ended, _ = record(tmp_path, code)
    assert ended.returncode == -11
    assert "Fatal Python error: Segmentation fault" in ended.stderr


def test_nothing_is_printed_at_a_fault_that_would_not_have_been(tmp_path: Path) -> None:
    code = "import ctypes\ndef touch():\n    ctypes.string_at(0)\ntouch()\n"
    ended, _ = record(tmp_path, code)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", -11)
    finding = answer(tmp_path)["findings"][0]
    assert (finding["rule"], finding["where"]["line"]) == ("segmentation-fault", 3)


def test_secrets_of_the_environment_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "s3cr3t-one")
    monkeypatch.setenv("TF_SECRET_TOKEN", "s3cr3t-two")
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "2")
    record(tmp_path, "print('hi')\n")
    content = b"".join(path.read_bytes() for path in (tmp_path / ".laststep").rglob("*") if path.is_file())
    assert b"s3cr3t" not in content
    assert b"TF_NUM_INTRAOP_THREADS" in content


def test_an_unknown_version_is_reported_and_no_crash(tmp_path: Path) -> None:
    package = tmp_path / "keras" / "src" / "callbacks"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").write_text("")
    (package / "callback_list.py").write_text("# a Keras without CallbackList\n")
    ended, run = record(tmp_path, "import keras.src.callbacks.callback_list\nprint('fine')\n")
    assert (ended.stdout, ended.stderr, ended.returncode) == ("fine\n", "", 0)
    [probe] = run.all(ProbeState)
    assert (probe.name, probe.state) == ("keras_fit", "unsupported")
    assert "CallbackList" in probe.because


def test_numbers_in_loops_without_a_framework(tmp_path: Path) -> None:
    code = "import laststep\nfor i in range(70_000):\n    laststep.step(loss=1.0 / (i + 1))\n"
    _, run = record(tmp_path, code)
    assert run.steps[-1].number == 70_000
    newest = [step.number for step in run.steps[-65_536:]]
    assert newest == list(range(70_000 - 65_536 + 1, 70_001))
    assert run.steps[0].number == 16, "the older ones are thinned to every sixteenth"
