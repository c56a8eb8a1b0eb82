"""--save-before-death: one whole file, once, and the same end as without it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from laststep.commands.run import split
from laststep.record.events.supervisor import Forecast, ProcessEnd
from laststep.record.events.training import Saved
from laststep.recorder import state
from laststep.recorder.saver import Saver
from tests.answers import read_answer
from tests.harness import CannotRun, Ran, run_scenario, scenario


@pytest.mark.slow
@pytest.mark.parametrize("name", ["terminated__saved", "tensors_accumulating__callback"])
def test_the_model_is_saved_once_and_whole(name: str, tmp_path: Path) -> None:
    try:
        ran = run_scenario(scenario(name), tmp_path / name, recorded=True)
    except CannotRun as reason:
        pytest.skip(str(reason))
    assert ran.folder is not None
    (saved,) = [event for event in ran.events() if isinstance(event, Saved)]
    path = ran.folder / "saved" / "model.keras"
    assert (saved.because, saved.path) == (None, str(path))
    assert [file.name for file in path.parent.iterdir()] == ["model.keras"]
    assert zipfile.ZipFile(path).testzip() is None
    page = " ".join(read_answer(ran.folder, ran.cwd).page.split())
    assert f"saved at step {saved.step:,}" in page
    load = f"import keras; print(keras.models.load_model({str(path)!r}).count_params())"
    done = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True)
    assert done.stdout.split()[-1:] == ["49"], done.stderr
    if name == "tensors_accumulating__callback":
        _the_end_was_foretold(ran)


def _the_end_was_foretold(ran: Ran) -> None:
    """While it ran, with the name of what keeps the memory and its line."""
    first = ran.forecasts[0]
    assert "limit 1.7 GB of the control group" in first
    line = scenario("tensors_accumulating__callback").here
    assert f"`KeepPredictions.kept` (train.py:{line}) keeps growing." in first
    forecast = next(event for event in ran.events() if isinstance(event, Forecast))
    end = next(event for event in ran.events() if isinstance(event, ProcessEnd))
    assert forecast.seconds is not None
    assert 0.3 < forecast.seconds / (end.time - forecast.time) < 3


def test_it_is_an_option_of_ours_not_of_the_program() -> None:
    assert split(["--save-before-death", "train.py", "--quiet"]) == (["--save-before-death"], ["train.py", "--quiet"])


class Model:
    """Stands in for Keras's: what matters here is the file."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.saves = 0

    def save(self, path: str) -> None:
        self.saves += 1
        Path(path).write_text("half a file")
        if self.fails:
            raise OSError(28, "No space left on device")

    def save_weights(self, path: str) -> None:
        self.save(path)


@pytest.fixture
def saver(tmp_path: Path) -> Saver:
    return Saver(state.Recorder(str(tmp_path)))


def test_never_twice(saver: Saver, tmp_path: Path) -> None:
    model = Model()
    for _ in range(3):
        saver.request("memory")
        if saver.is_wanted:
            saver.save(model)
    assert model.saves == 1
    assert [file.name for file in (tmp_path / "saved").iterdir()] == ["model.keras"]


def test_never_half_a_file(saver: Saver, tmp_path: Path) -> None:
    saver.request("memory")
    saver.save(Model(fails=True))
    assert list((tmp_path / "saved").iterdir()) == []
    assert "No space left" in next(tmp_path.glob("recorder.*.jsonl")).read_text()


def test_nothing_is_caught_without_a_fit(tmp_path: Path) -> None:
    """Outside a fit SIGTERM is the program's own, with the option too; a handler of its own is left alone."""
    code = """
import os, signal, sys
from laststep.commands.run import split
from laststep.recorder import state
from laststep.recorder.saver import Saver
saver = Saver(state.Recorder(sys.argv[1]))
signal.signal(signal.SIGTERM, mine := lambda *_: None)
saver.catch_terminate()
assert signal.getsignal(signal.SIGTERM) is mine
signal.signal(signal.SIGTERM, signal.SIG_DFL)
saver.catch_terminate()
saver.release_terminate()
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
saver.catch_terminate()
os.kill(os.getpid(), signal.SIGTERM)
"""
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)]).returncode == -15
