"""--save-before-death: one complete file, once, and the same end as without it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from laststep.commands.run import split
from laststep.record.events.supervisor import Forecast, ProcessEnd
from laststep.record.events.training import Saved
from laststep.recorder import state
from laststep.recorder.saver import Saver
from tests.harness import Ran, Scenario, scenario

RunIt = Callable[[Scenario], Ran]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(name))
        for name in ("terminated__saved", "tensors_accumulating__callback")
    ],
)
def test_the_model_is_saved_once_and_whole(name: str, recorded: RunIt) -> None:
    ran = recorded(scenario(name))
    (saved,) = [event for event in ran.events() if isinstance(event, Saved)]
    assert saved.because is None
    assert ran.folder is not None
    path = ran.folder / "saved" / "model.keras"
    assert [file.name for file in path.parent.iterdir()] == ["model.keras"]
    assert zipfile.ZipFile(path).testzip() is None
    assert str(saved.path) == str(path)
    assert f"saved at step {saved.step:,}" in " ".join(ran.page.split())
    load = f"import keras; print(keras.models.load_model({str(path)!r}).count_params())"
    done = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True)
    assert done.stdout.split()[-1:] == ["49"], done.stderr


@pytest.mark.slow
@pytest.mark.xdist_group("tensors_accumulating__callback")
def test_the_end_was_forecast(recorded: RunIt) -> None:
    """While it ran, with the name of the container that holds the memory, and its line."""
    ran = recorded(scenario("tensors_accumulating__callback"))
    first = ran.forecasts[0]
    assert "limit 1.7 GB of the control group" in first
    assert "What keeps it: KeepPredictions.kept, train.py:27." in first
    forecast = next(event for event in ran.events() if isinstance(event, Forecast))
    end = next(event for event in ran.events() if isinstance(event, ProcessEnd))
    assert forecast.seconds is not None
    assert 0.3 < forecast.seconds / (end.time - forecast.time) < 3


def test_it_is_an_option_of_ours_not_of_the_program() -> None:
    assert split(["--save-before-death", "train.py", "--quiet"]) == (["--save-before-death"], ["train.py", "--quiet"])


class Model:
    """Stands in for a Keras model: only the file matters here."""

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
    """Outside a fit SIGTERM is the program's own, even with the option; a handler of its own is left alone."""
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
