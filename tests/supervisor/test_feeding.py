"""Where the pipeline's Python is while steps wait: snapshots only where the wait is long, three series at most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.shared import SeenLine
from laststep.record.events.stacks import ThreadStack
from laststep.record.events.supervisor import Feeding
from laststep.record.follow import Live
from laststep.record.journal import JournalWriter, read_journal
from laststep.record.steps import Beat, Now
from laststep.supervisor import feeding as module
from laststep.supervisor.feeding import MAX_SERIES, SNAPSHOTS, WINDOW_BEATS, FeedingWatcher
from tests.supervisor.stuck import EXECUTE, FIT, GET, LOAD, SCRIPT_OPS, TRAIN, WAIT, frame, main, thread, threads_of

NEXT = frame("/usr/lib/python3.11/site-packages/tensorflow/python/data/ops/iterator_ops.py", "__next__", 800)


class World:
    """A clock, the stacks that would be seen, and a training that waits for so much of each second."""

    def __init__(self, folder: Path) -> None:
        self.now = 0.0
        self.journal = JournalWriter(folder / "supervisor.jsonl", "supervisor")
        self.feeding = FeedingWatcher(self.journal)
        self.path = folder / "supervisor.jsonl"
        self.threads: list[dict[str, Any]] = [main(EXECUTE, FIT, TRAIN), thread(WAIT, GET, LOAD, SCRIPT_OPS)]
        self.snapshots = 0
        self.beat = 0
        self.waited = 0.0
        self.steps = 0.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def by_spy(self, pid: int) -> tuple[tuple[ThreadStack, ...], str]:
        self.snapshots += 1
        return threads_of(*self.threads), ""

    def second(self, share: float, steps: float = 20, phase: str | None = "step") -> None:
        self.now += 1.0
        self.beat += 1
        self.waited += share
        self.steps += steps
        beat = Beat(self.beat, float(self.beat), int(self.steps), 0, self.waited, 0.0)
        self.feeding.see(7, Live(Now(phase, 0, 0.0) if phase is not None else None, beat))

    @property
    def events(self) -> list[Feeding]:
        return [event for event in read_journal(self.path) if isinstance(event, Feeding)]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setattr(module, "time", made)
    monkeypatch.setattr(module, "by_spy", made.by_spy)
    return made


def repeat(times: int, action: Callable[[], None]) -> None:
    for _ in range(times):
        action()


def test_steps_that_wait_for_a_while_get_a_series_of_snapshots(world: World) -> None:
    repeat(WINDOW_BEATS - 1, lambda: world.second(0.8))
    assert world.events == []
    world.second(0.8)
    (event,) = world.events
    assert world.snapshots == SNAPSHOTS
    assert event.share == pytest.approx(0.8, abs=0.01)
    assert event.each == pytest.approx(0.04, abs=0.001)
    assert event.snapshots == SNAPSHOTS
    line = SeenLine(file="/home/me/load.py", line=12, text="item = q.get()", is_users=True, snapshots=SNAPSHOTS)
    assert event.lines == (line,)


@pytest.mark.parametrize(
    "share,steps",
    [
        (0.1, 20),  # a small part of the time
        (0.8, 500),  # a very short wait in each of many steps
        (0.8, 0),  # no step came: that is not slow, that is stuck
    ],
)
def test_what_is_not_worth_a_snapshot(world: World, share: float, steps: float) -> None:
    repeat(60, lambda: world.second(share, steps))
    assert (world.snapshots, world.events) == (0, [])


def test_three_series_in_a_run_at_most_and_ever_further_apart(world: World) -> None:
    times: list[float] = []
    for _ in range(3000):
        before = world.snapshots
        world.second(0.8)
        if world.snapshots > before:
            times.append(world.now)
    assert len(times) == len(world.events) == MAX_SERIES
    assert times[1] - times[0] >= 60
    assert times[2] - times[1] >= 600


@pytest.mark.parametrize("phase", ["validation", "epoch-end", "save", "trace", "first"])
def test_in_another_phase_the_counting_begins_anew(world: World, phase: str) -> None:
    repeat(WINDOW_BEATS - 1, lambda: world.second(0.8))
    world.second(0.8, phase=phase)
    repeat(WINDOW_BEATS - 1, lambda: world.second(0.8))
    assert world.events == []
    world.second(0.8)
    assert len(world.events) == 1


def test_a_hand_written_loop_waits_in_the_fetching_of_the_batch(world: World) -> None:
    world.threads = [main(WAIT, NEXT, TRAIN)]
    repeat(WINDOW_BEATS, lambda: world.second(0.8, phase="between"))
    assert world.events[0].lines[0].line == TRAIN["line"]


def test_where_the_pipeline_has_no_python_no_line_is_named(world: World) -> None:
    world.threads = [main(EXECUTE, FIT, TRAIN)]
    repeat(WINDOW_BEATS, lambda: world.second(0.8))
    assert world.events[0].lines == ()


def test_where_no_stack_can_be_read_the_share_is_still_written(world: World) -> None:
    world.threads = []
    repeat(WINDOW_BEATS, lambda: world.second(0.8))
    assert world.events[0].lines == ()
    assert world.events[0].share == pytest.approx(0.8, abs=0.01)


def test_the_lines_by_how_often_they_were_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(pid: int) -> tuple[tuple[ThreadStack, ...], str]:
        world.snapshots += 1
        line = 12 if world.snapshots % 5 else 30
        return threads_of(main(EXECUTE, FIT, TRAIN), thread(frame("/home/me/load.py", "f", line), SCRIPT_OPS)), ""

    monkeypatch.setattr(module, "by_spy", seen)
    repeat(WINDOW_BEATS, lambda: world.second(0.8))
    assert [(line.line, line.snapshots) for line in world.events[0].lines] == [(12, 8), (30, 2)]


def test_a_run_without_beats_is_no_error(world: World) -> None:
    world.feeding.see(7, Live())
    world.feeding.see(7, Live(Now("step", 0, 0.0), None, None))
    assert world.events == []
