"""The profiler probe with a session that fails wherever possible: the host is unaffected, and the record says why."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from laststep.record.events.training import ProfileState
from laststep.record.journal import read_journal
from laststep.recorder import guard, patch, state
from laststep.recorder.probes import profiler


class Sessions(ModuleType):
    """Replaces TensorFlow's module; counts the running sessions."""

    def __init__(self) -> None:
        super().__init__("sessions")
        self.running = 0
        self.trouble = ""
        made = self

        class ProfilerSession:
            def start(self, folder: str, options: dict[str, Any]) -> None:
                if made.running or made.trouble == "start":
                    raise RuntimeError("another one is active")
                made.running += 1

            def export_to_tb(self) -> None:
                made.running -= 1
                if made.trouble == "export":
                    raise OSError("no space left")

        self.ProfilerSession = ProfilerSession


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sessions]:
    module = ModuleType(profiler.PROFILER_MODULE)
    module._pywrap_profiler = Sessions()
    monkeypatch.setitem(sys.modules, profiler.PROFILER_MODULE, module)
    monkeypatch.setattr(profiler, "MODEL_CLASSES", {})
    yield module._pywrap_profiler
    patch.restore(profiler.PROBE)
    guard.reset()


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> state.Recorder:
    made = state.Recorder(str(tmp_path))
    made.options = {"profile": "3:5"}
    monkeypatch.setattr(state, "current", made)
    monkeypatch.setattr(profiler.atexit, "register", lambda *words: None)
    profiler.install()
    return made


@pytest.fixture
def events(recorder: state.Recorder, tmp_path: Path) -> Callable[[], list[ProfileState]]:
    def read() -> list[ProfileState]:
        found = [event for path in tmp_path.glob("recorder.*") for event in read_journal(path)]
        assert all(isinstance(event, ProfileState) for event in found)
        return found  # type: ignore[return-value]

    return read


def test_nothing_where_nobody_asked(tmp_path, monkeypatch):
    made = state.Recorder(str(tmp_path))
    monkeypatch.setattr(state, "current", made)
    profiler.install()
    assert made.at_step_end == []


def test_the_steps_that_were_asked_for(sessions, recorder, events):
    running = []
    for _ in range(12):
        recorder.hand_step()
        running.append(sessions.running)
    assert running == [0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    began, done = events()
    assert (began.state, began.after) == ("began", 3)
    assert (done.state, [row[0] for row in done.steps]) == ("done", [4, 5, 6, 7, 8])
    assert all(begin < end for _, begin, end in done.steps)
    assert sessions.ProfilerSession.__name__ == "ProfilerSession"
    assert not hasattr(sessions.ProfilerSession, "__wrapped__"), "the original is back"


def test_one_of_the_program_s_own_ends_ours(sessions, recorder, events):
    for _ in range(5):
        recorder.hand_step()
    own = sessions.ProfilerSession()
    own.start("logs", {})
    assert sessions.running == 1
    assert events()[-1].because == "the program began a profile itself"
    assert [row[0] for row in events()[-1].steps] == [4, 5]
    for _ in range(9):
        recorder.hand_step()
    assert len(events()) == 2


@pytest.mark.usefixtures("errors_are_swallowed")
def test_one_that_can_t_start_is_reported_once(sessions, recorder):
    sessions.trouble = "start"
    for _ in range(9):
        recorder.hand_step()
    assert [str(error) for error in guard.swallowed] == [
        "TensorFlow's profiler could not start: RuntimeError: another one is active"
    ]
    assert recorder.count == 9


@pytest.mark.usefixtures("errors_are_swallowed")
def test_without_tensorflow_there_is_a_reason(recorder, monkeypatch):
    monkeypatch.delitem(sys.modules, profiler.PROFILER_MODULE, raising=False)
    for _ in range(9):
        recorder.hand_step()
    assert "does not use TensorFlow" in str(guard.swallowed[0])
    assert len(guard.swallowed) == 1
    guard.reset()


def test_a_trace_that_can_t_be_written_is_reported_as_lost(sessions, recorder, events):
    sessions.trouble = "export"
    for _ in range(12):
        recorder.hand_step()
    assert (events()[-1].state, events()[-1].because) == ("lost", "OSError: no space left")


def test_steps_that_are_reported_from_several_threads(sessions, recorder, events):
    threads = [threading.Thread(target=lambda: [recorder.hand_step() for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sessions.running == 0
    assert [event.state for event in events()] == ["began", "done"]
