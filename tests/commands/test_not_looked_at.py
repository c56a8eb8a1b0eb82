"""Runs whose training was not looked at, in real processes: what is said, in place of "nothing to report"."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.supervisor import Child
from laststep.record.journal import JournalWriter, read_journal
from laststep.supervisor.children import ChildWatcher

SITECUSTOMIZE = Path(__file__).parents[2] / "src" / "laststep" / "recorder" / "sitecustomize.py"
LAUNCHER = """\
import subprocess, sys
done = subprocess.run([sys.executable, *sys.argv[1:]])
print("worker exited with", done.returncode)
"""
TRAINS = """\
import numpy as np, keras
x = np.random.default_rng(0).random((64, 4)).astype("float32")
y = x.sum(axis=1)
{change}
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=3, verbose=2)
"""
# A library of that name is mapped, as TensorFlow's is, for as long as the launcher needs to see it.
MAPS_IT = """\
import mmap, time
with open("tensorflow/libx.so", "rb") as file:
    kept = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
print("ready", flush=True)
time.sleep(30)
"""


def said(stderr: str) -> str:
    return " ".join(stderr.split())


def why(laststep: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(laststep("why", "--json").stdout)
    return answer


def test_a_program_without_training(laststep, runs_in):
    result = laststep("run", "prog.py")
    assert result.stderr.startswith(f"laststep: finished, but no training was seen ({runs_in()[0].name})\n")
    assert "loaded neither Keras nor TensorFlow" in said(result.stderr)
    assert "Nothing to report" not in laststep("why").stdout
    assert why(laststep)["unseen"]["kind"] == "no-training"
    assert "(no training)" in laststep("runs").stdout
    assert "No training was seen" in laststep("watch").stdout


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_an_option_that_keeps_the_recorder_out(laststep, flag):
    result = laststep("run", "--", "python", flag, "prog.py", "0")
    assert "nothing was looked at inside" in result.stderr
    assert "laststep run python prog.py 0\n" in result.stderr
    assert "(not looked at)" in laststep("runs").stdout
    assert f"could not look inside: python {flag}" in laststep("watch").stdout
    unseen = why(laststep)["unseen"]
    assert (unseen["kind"], unseen["remedy"]["change"]) == ("closed", "laststep run python prog.py 0")


def test_the_line_to_type_instead_works(laststep, here):
    (here / "loop.py").write_text("import laststep\nfor _ in range(5): laststep.step(loss=1.0)\n")
    laststep("run", "--quiet", "--", "python", "-I", "loop.py")
    line = why(laststep)["unseen"]["remedy"]["change"]
    assert "nothing to report" in laststep(*line.split()[1:]).stderr


def test_no_python_at_all(laststep):
    result = laststep("run", "sh", "-c", "echo fine")
    assert "sh started no Python that could load the recorder" in said(result.stderr)
    assert "the console (1 line; no training progress; no error in it)" in said(result.stderr)


def test_a_python_that_is_too_old(laststep):
    old = next(filter(None, map(shutil.which, ("python3.9", "python3.8", "python3.7", "python2.7"))), None)
    pyenv = sorted(Path("~/.pyenv/versions").expanduser().glob("3.[6-9].*/bin/python"))
    if old is None and not pyenv:
        pytest.skip("no Python older than 3.10 on this machine")
    result = laststep("run", str(pyenv[0]) if pyenv else old, "prog.py")
    assert result.stdout == "hello\n"
    assert "is older than 3.10, the oldest that laststep records" in said(result.stderr)


def test_an_old_python_leaves_its_reason(tmp_path: Path) -> None:
    code = f"import runpy, sys; sys.version_info = (3, 9); runpy.run_path({str(SITECUSTOMIZE)!r})"
    environ = {**os.environ, "LASTSTEP_RECORD": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environ, check=True, timeout=60)
    assert "is older than 3.10" in (tmp_path / "refused").read_text()


def test_a_limit_that_keeps_the_recorder_out(laststep):
    result = laststep("run", "sh", "-c", "ulimit -n 64; python prog.py")
    assert "the limit on open files (ulimit -n) is too low" in said(result.stderr)


def test_a_launcher_whose_child_prints_a_loss_that_is_nan(laststep, here):
    """The launcher ends in order, and the console is all there is about its worker."""
    lines = "".join(f"print('Epoch {n}/3\\n2/2 - 0s - 20ms/step - loss: nan')\n" for n in (1, 2, 3))
    (here / "worker.py").write_text(lines)
    (here / "launcher.py").write_text(LAUNCHER)
    result = laststep("run", "launcher.py", "worker.py")
    assert result.returncode == 0
    answer = why(laststep)
    assert [finding["rule"] for finding in answer["findings"]] == ["nan-loss"]
    assert any("the console" in item["says"] for item in answer["findings"][0]["evidence"])
    assert answer["unseen"]["kind"] == "elsewhere"


def test_a_retraining_launcher_whose_first_child_failed_is_not_blamed_for_it(laststep, here):
    crash = "Traceback (most recent call last):\n  File 'w.py', line 1\nValueError: no\n".replace("'", '"')
    good = "Epoch 1/1\n2/2 - 0s - 20ms/step - loss: 0.5\n"
    (here / "worker.py").write_text(f"import sys\nprint({crash!r} + {good!r})\n")
    (here / "launcher.py").write_text(LAUNCHER)
    assert "its training was not looked at" in laststep("run", "launcher.py", "worker.py").stderr
    assert why(laststep)["findings"] == []


def test_a_child_that_has_tensorflow_loaded_is_noted_once(tmp_path: Path) -> None:
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "libx.so").write_bytes(b"x" * 4096)
    command = [sys.executable, "-c", MAPS_IT, "--token=secret"]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        watcher = ChildWatcher(os.getpid(), tmp_path, JournalWriter(tmp_path / "supervisor.jsonl", "supervisor"))
        watcher.see({"inside": {"step": 3}})  # the recorded process trains: what its children do is its own business
        assert watcher.commands == []
        watcher.see({})
        watcher.see({})
    finally:
        child.kill()
        child.wait()
    found = [event for event in read_journal(tmp_path / "supervisor.jsonl") if isinstance(event, Child)]
    [noted] = [event for event in found if event.pid == child.pid]  # a process of another test may have it loaded too
    assert noted.command[-1] == "--token=…"


@pytest.mark.slow
def test_a_worker_of_multiprocessing_that_starts_laststep_is_recorded(laststep, here, runs_in):
    (here / "spawn.py").write_text(
        "import multiprocessing as mp\n"
        "def work():\n"
        "    import laststep\n"
        "    laststep.start()\n"
        "    for _ in range(5): laststep.step(loss=1.0)\n"
        "if __name__ == '__main__':\n"
        "    worker = mp.get_context('spawn').Process(target=work)\n"
        "    worker.start(); worker.join()\n"
    )
    laststep("run", "--quiet", "spawn.py")
    steps = [json.loads(laststep("why", "--json", folder.name).stdout)["run"]["steps"] for folder in runs_in()]
    assert sorted(steps) == [0, 5]


@pytest.mark.slow
def test_a_launcher_whose_child_trains(environ, here):
    """With Keras: which process trained is seen, its NaN found, and the line to type works."""
    (here / "worker.py").write_text(TRAINS.format(change="x[0, 0] = np.nan"))
    (here / "launcher.py").write_text(LAUNCHER)
    run = [sys.executable, "-m", "laststep", "run", "launcher.py", "worker.py"]
    subprocess.run(run, cwd=here, env=environ, timeout=300, check=True, capture_output=True)
    shown = subprocess.run(
        [*run[:3], "why", "--json"], cwd=here, env=environ, timeout=60, check=True, capture_output=True
    )
    answer = json.loads(shown.stdout)
    assert [finding["rule"] for finding in answer["findings"]] == ["nan-loss"]
    assert answer["unseen"]["because"].startswith("TensorFlow was loaded in a child process")
    assert answer["unseen"]["remedy"]["change"] == f"laststep run {sys.executable} worker.py"


@pytest.mark.slow
def test_a_launcher_that_hides_the_error_of_its_child(environ, here):
    (here / "worker.py").write_text(TRAINS.format(change="x = x[:, :3]"))
    (here / "launcher.py").write_text(LAUNCHER)
    run = [sys.executable, "-m", "laststep", "run", "launcher.py", "worker.py"]
    done = subprocess.run(run, cwd=here, env=environ, timeout=300, check=True, capture_output=True, text=True)
    assert "LIKELY  The layer dense was built for 4 features" in done.stderr
    assert "worker.py:7" in done.stderr
    assert "the console, line" in done.stderr
    assert "The training was not recorded" in done.stderr
