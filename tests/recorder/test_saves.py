"""While a model is written, the phase is "save"; afterwards it is the earlier one. With stand-ins for Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from laststep.record.follow import Follower
from laststep.recorder import patch, state
from laststep.recorder.probes import saves


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[state.Recorder]:
    made = state.Recorder(str(tmp_path))
    monkeypatch.setattr(state, "current", made)
    saves._phases_before.clear()
    yield made
    patch.restore(saves.PROBE)
    made.journal.close()


def saving_lib(body: object) -> ModuleType:
    module = ModuleType("saving_lib")
    module.save_model = module.save_weights_only = body  # type: ignore[attr-defined]
    saves._patch_saving(module)
    return module


def phase(recorder: state.Recorder) -> str:
    now = Follower(Path(recorder.folder)).read().now
    return now.phase if now is not None else "none"


@pytest.mark.parametrize("name", ["save_model", "save_weights_only"])
def test_a_save_is_a_phase_and_then_it_is_over(recorder: state.Recorder, name: str) -> None:
    seen: list[str] = []
    module = saving_lib(lambda *words, **more: seen.append(phase(recorder)) or "written")
    recorder.mark(state.PHASE["epoch-end"], 1.0)
    assert getattr(module, name)("model", path="x") == "written"
    assert seen == ["save"]
    assert phase(recorder) == "epoch-end"


def test_a_save_within_a_save(recorder: state.Recorder) -> None:
    seen: list[str] = []

    def write(deep: bool = True) -> None:
        if deep:
            module.save_model(deep=False)
        seen.append(phase(recorder))

    module = saving_lib(write)
    recorder.mark(state.PHASE["step"], 1.0)
    module.save_model()
    assert seen == ["save", "save"]
    assert phase(recorder) == "step"


def test_a_save_that_fails_is_over_too_and_its_error_is_the_same(recorder: state.Recorder) -> None:
    mine = OSError(28, "No space left on device")

    def write() -> None:
        raise mine

    module = saving_lib(write)
    recorder.mark(state.PHASE["step"], 1.0)
    with pytest.raises(OSError, match="No space") as raised:
        module.save_model()
    assert raised.value is mine
    assert phase(recorder) == "step"
    assert saves._phases_before == []


def test_before_any_training_a_save_starts_nothing(recorder: state.Recorder, tmp_path: Path) -> None:
    module = saving_lib(lambda: 5)
    assert module.save_model() == 5
    assert list(tmp_path.glob("steps.*")) == []


def test_without_a_recorder_it_is_only_called(recorder: state.Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    module = saving_lib(lambda: 5)
    monkeypatch.setattr(state, "current", None)
    assert module.save_model() == 5
