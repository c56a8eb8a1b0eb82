"""When sentinels are read and evaluated: within a budget of CPU time, bad steps at once, the rest later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laststep.record.events.numbers import Numbers
from laststep.recorder import slices, state
from laststep.recorder.numbers import reader as module
from laststep.recorder.numbers.gradient_site import GradientSite
from laststep.recorder.numbers.reader import CpuBudget, Reader, pause_before_next_read
from laststep.recorder.numbers.sentinel import Answer


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module.time, "monotonic", made.monotonic)
    return made


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> state.Recorder:
    made = state.Recorder(str(tmp_path))
    monkeypatch.setattr(state, "current", made)
    return made


class Sentinel:
    """Returns the given answers, one per read."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests = 0

    def collect(self) -> list[Answer]:
        return [self.answers.pop(0)] if self.answers else []

    def request(self) -> None:
        self.requests += 1


class Variable:
    """Referenced weakly by a site, which is gone when this is."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> GradientSite:
    kept = Variable()
    made = GradientSite(1, ["dense/kernel"], [lambda: kept], [], None)
    monkeypatch.setattr(made, "_values", list)
    return made


def answer(loss: float = 1.0, count: int = 0, size: int = 4) -> Answer:
    batch = {"x": np.ones((size, 2), "float32")}
    return Answer(not np.isfinite(loss), loss, count, {0: 0.5}, {}, batch)


def numbers(folder: Path) -> list[Any]:
    from laststep.record.journal import read_recorders

    return [event.step for event in read_recorders(folder) if isinstance(event, Numbers)]


def test_a_budget_is_spent_at_once_and_comes_back_slowly(clock: Clock) -> None:
    budget = CpuBudget(at_once=0.006, share=0.001)
    assert budget.pause == 0.0
    budget.spend(0.005)
    assert budget.pause == 0.0
    budget.spend(0.003)
    assert budget.pause == pytest.approx(2.0)
    clock.now += 1.5
    assert budget.pause == pytest.approx(0.5)
    clock.now += 1e6
    budget.spend(0.007)
    assert budget.pause == pytest.approx(1.0), "what was saved up is no more than at first"


def test_looks_get_rarer_and_wait_for_their_budget(clock: Clock) -> None:
    budget = CpuBudget(0.006, 0.001)
    assert [pause_before_next_read(looks, budget) for looks in (0, 23, 24, 60, 600)] == [0.02, 0.02, 0.25, 1.0, 5.0]
    budget.spend(0.010)
    assert pause_before_next_read(0, budget) == pytest.approx(4.0)
    budget.spend(10.0)
    assert pause_before_next_read(0, budget) == module.MAX_PAUSE_SECONDS


def test_what_was_read_waits_and_is_taken_in_order(
    recorder: state.Recorder, site: GradientSite, tmp_path: Path
) -> None:
    reader, sentinel = Reader(), Sentinel(answer(count=0), answer(count=1), answer(count=2))
    reader.sites.append((site, sentinel))  # type: ignore[arg-type]
    for _ in range(3):
        reader.read()
    assert sentinel.requests == 3
    assert numbers(tmp_path) == []
    reader.work()
    assert numbers(tmp_path) == [1, 2, 3]


def test_a_bad_step_is_taken_at_once_with_all_before_it(
    recorder: state.Recorder, site: GradientSite, tmp_path: Path
) -> None:
    reader, sentinel = Reader(), Sentinel(answer(count=0), answer(float("nan"), count=7), answer(count=8))
    reader.sites.append((site, sentinel))  # type: ignore[arg-type]
    for _ in range(3):
        reader.read()
    assert numbers(tmp_path) == [1, 8]
    assert site.bad
    assert sentinel.requests == 1, "after a bad step nothing is asked any more"


def test_large_batches_do_not_wait(recorder: state.Recorder, site: GradientSite, tmp_path: Path) -> None:
    reader, sentinel = Reader(), Sentinel(answer(size=module.MAX_WAITING_BYTES // 8 + 1))
    reader.sites.append((site, sentinel))  # type: ignore[arg-type]
    reader.read()
    assert numbers(tmp_path) == [1]


def test_tensorflow_is_not_asked_while_no_step_goes_by(clock: Clock) -> None:
    reader = Reader()
    assert reader._has_new_steps(1)
    assert not reader._has_new_steps(1)
    clock.now += module.IDLE_READ_SECONDS
    assert reader._has_new_steps(1)


def test_in_a_forked_child_tensorflow_is_not_asked(site: GradientSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends like a program, but has none of TensorFlow's threads."""
    monkeypatch.setattr(state, "current", None)  # as after a fork
    reader = Reader()
    sentinel = Sentinel(answer(count=0))
    reader.sites.append((site, sentinel))  # type: ignore[arg-type]
    reader._finish()
    assert len(sentinel.answers) == 1


def test_at_the_end_all_is_read_without_pauses(
    recorder: state.Recorder, site: GradientSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "_pauses", True)
    monkeypatch.setattr(slices.time, "sleep", lambda seconds: pytest.fail("it paused"))
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)
    reader = Reader()
    reader.sites.append((site, Sentinel(answer(count=0), answer(count=1))))  # type: ignore[arg-type]
    reader._remembered = [site]
    reader._finish()
    assert numbers(tmp_path) == [1, 2]
