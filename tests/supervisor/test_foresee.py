"""A living run: when a census is taken, when the end of memory is announced and how, which handles are listed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from laststep.record.event import Event
from laststep.record.events.supervisor import Forecast
from laststep.record.events.training import Census
from laststep.record.journal import JournalWriter, read_journal
from laststep.record.place import Place
from laststep.record.steps import CENSUS, SAVE, StepWriter
from laststep.supervisor import foresee as module
from laststep.supervisor.foresee import Forecaster

MB = 10**6
LIMIT = 4000 * MB
PER_SECOND = 20 * MB
LINE = {"file": "/home/anna/train.py", "line": 27}
Holds = Callable[[float], dict[str, Any]]
E = TypeVar("E", bound=Event)


def sample(t: int, per_second: float = PER_SECOND, limit: int = LIMIT, **more: Any) -> dict[str, Any]:
    """As the watcher makes them: 600 MB when training begins, ten steps a second."""
    used = int(600 * MB + per_second * t)
    group = {"used": used, "limit": limit, "kills": 0}
    host = {"total": 64_000 * MB, "available": 60_000 * MB, "swap_total": 0, "swap_free": 0}
    inside = {"phase": "step", "number": t, "time": float(t), "step": 1 + 10 * t, "pulse": 0}
    return {"t": float(t), "rss": used, "group": group, "host": host, "inside": inside, "cpu": 1.0} | more


def holds_tensors(t: float) -> dict[str, Any]:
    held = {"name": "Keep.kept", "file": LINE["file"], "kind": "list", "length": int(t), "bytes": int(PER_SECOND * t)}
    return {"containers": [held | {"holds": "EagerTensor", "most": None, "where": LINE}]}


def holds_nothing(t: float) -> dict[str, Any]:
    return {"containers": []}


def makes_graphs(t: float) -> dict[str, Any]:
    return {"containers": [], "counts": {"FuncGraph": int(t)}}


class Watched:
    """A living run: the recorder's side of the folder, and what the supervisor says and writes."""

    def __init__(self, folder: Path, may_save: bool = False) -> None:
        self.folder = folder
        self.has_epochs = True
        self.steps = StepWriter(str(folder / "steps.1"))
        self.clock = 0.0
        self.inside = JournalWriter(folder / "recorder.1.jsonl", "recorder", clock=lambda: self.clock)
        self.outside = JournalWriter(folder / "supervisor.jsonl", "supervisor", clock=lambda: self.clock)
        self.said: list[str] = []
        self.forecaster = Forecaster(folder, 1, self.outside, self.said.append, may_save)

    def see(self, fields: dict[str, Any], holds: Holds = holds_tensors) -> None:
        self.clock = t = fields["t"]
        if self.has_epochs and t % 10 == 0:
            self.inside.write("epoch", {"fit": 1, "epoch": int(t) // 10})
        if t % 4 == 0 and self.asked & CENSUS:
            self.inside.write("census", {"step": int(10 * t), "counts": {}, "freed": 0, **holds(t)})
        self.forecaster.see(fields)

    @property
    def asked(self) -> int:
        return self.steps.requests()

    def written(self, kind: type[E]) -> list[E]:
        return [event for event in read_journal(self.folder / "supervisor.jsonl") if isinstance(event, kind)]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_leak_is_announced_once_and_again_at_half_of_the_time_left(watched: Watched) -> None:
    for t in range(1, 170):
        watched.see(sample(t))
    assert len(watched.said) == 2
    first, second = watched.written(Forecast)
    for event in (first, second):
        left = (LIMIT - 600 * MB) / PER_SECOND - event.time
        assert event.seconds == pytest.approx(left, rel=0.1)
        assert event.step == pytest.approx(10 * (LIMIT - 600 * MB) / PER_SECOND, rel=0.05)
        assert event.per_step == pytest.approx(PER_SECOND / 10, rel=0.05)
        assert (event.limit, event.whose, event.keeps) == (LIMIT, "the control group", "Keep.kept")
        assert event.where == Place("/home/anna/train.py", 27)
    assert first.seconds is not None
    assert second.seconds is not None
    assert second.seconds <= first.seconds / 2
    assert "`Keep.kept` (train.py:27) keeps growing." in watched.said[0]
    assert "2 MB more per step; limit 4.0 GB of the control group" in watched.said[0]


@pytest.mark.parametrize("has_epochs", [True, False])
def test_before_an_epoch_has_ended_it_may_be_data_being_read(watched: Watched, has_epochs: bool) -> None:
    watched.has_epochs = has_epochs
    for t in range(1, 60):
        watched.see(sample(t, limit=10_000 * MB))
    assert watched.asked == CENSUS
    assert len(watched.said) == has_epochs


def test_nothing_is_announced_after_a_few_seconds(watched: Watched) -> None:
    for t in range(1, 10):
        watched.see(sample(t))
    assert watched.said == []
    assert watched.asked == 0


def test_graphs_are_named_where_no_container_accounts_for_it(watched: Watched) -> None:
    for t in range(1, 100):
        watched.see(sample(t), makes_graphs)
    assert " more TensorFlow graphs are alive." in watched.said[0]
    assert watched.written(Forecast)[0].keeps is None


def test_a_leak_without_an_owner_says_so(watched: Watched) -> None:
    for t in range(1, 170):
        watched.see(sample(t), holds_nothing)
    assert watched.said
    assert "No container that accounts for it was found." in watched.said[0]
    assert "No container" not in watched.said[1]


@pytest.mark.parametrize("per_second", [0.0, 0.2 * MB])
def test_small_growth_is_not_worth_a_census(watched: Watched, per_second: float) -> None:
    for t in range(1, 120):
        watched.see(sample(t, per_second))
    assert watched.asked == 0
    assert watched.said == []


@pytest.mark.parametrize(("may_save", "asked"), [(True, CENSUS | SAVE), (False, CENSUS)])
def test_the_model_is_saved_in_time_where_that_is_allowed(tmp_path: Path, may_save: bool, asked: int) -> None:
    watched = Watched(tmp_path, may_save)
    for t in range(1, 140):
        watched.see(sample(t))
    assert watched.asked == asked


def test_a_jump_to_the_limit_is_enough_to_save(tmp_path: Path) -> None:
    watched = Watched(tmp_path, may_save=True)
    watched.see(sample(1, per_second=0))
    assert watched.asked == 0
    watched.see(sample(2, group={"used": int(0.95 * LIMIT), "limit": LIMIT, "cache": 0}))
    assert watched.asked == SAVE


def test_handles_that_grow_are_listed_and_again_when_there_are_twice_as_many(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [{"what": "part-#.bin", "count": 9}]
    monkeypatch.setattr(module, "LIST_HANDLES", module.LIST_HANDLES | {"files": lambda pid: listed})
    for t in range(1, 101):
        rare = {"files": 20 + t, "threads": 8, "processes": 2} if t % 5 == 0 else {"processes": 2}
        watched.see(sample(t, 0.0, **rare))
    events = watched.written(Census)
    assert [(event.handles, event.count) for event in events] == [("files", 65), ("files", 105)]
    assert [(group.what, group.count) for group in events[0].what] == [("part-#.bin", 9)]
    assert watched.asked == CENSUS


def test_samples_before_the_first_step_do_not_count(watched: Watched) -> None:
    for t in range(1, 60):
        fields = sample(t, 60 * MB, inside={"phase": "", "step": 0})
        watched.see({name: value for name, value in fields.items() if name != "inside" or t % 2})
    assert watched.asked == 0


def test_the_samples_kept_are_bounded(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SAMPLES", 100)
    for t in range(1, 500):
        watched.see(sample(t, 0.0))
    assert 50 <= len(watched.forecaster._samples) <= 100
