"""Which rank the others wait for: a snapshot per second while steps run, a few series in a run."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.stacks import ThreadStack
from laststep.record.events.supervisor import Pace
from laststep.record.follow import Live
from laststep.record.journal import JournalWriter, read_journal
from laststep.record.steps import Beat, Now
from laststep.supervisor import ranks as module
from laststep.supervisor.ranks import PAUSES, SETTLING_BEATS, SNAPSHOTS, PaceWatcher, on_this_machine
from tests.supervisor.stuck import EXECUTE, FIT, IN_STEP, LOAD, SCRIPT_OPS, TRAIN, frame, main, thread, threads_of

DRAWS = (main(frame("/home/me/train.py", "draw", 44), TRAIN),)
WAITS = (main(*IN_STEP),)
FEEDS = (main(EXECUTE, FIT, TRAIN), thread(LOAD, SCRIPT_OPS))
SERIES = SETTLING_BEATS + SNAPSHOTS + 1


class World:
    """Ranks as processes 0, 1 …: their stacks, and the processor time that each used."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "supervisor.jsonl"
        self.workers = ["a:1", "b:2"]
        self.stacks: dict[int, tuple[dict[str, Any], ...]] = {0: WAITS, 1: DRAWS}
        self.cores = {0: 0.0, 1: 0.0}
        self.beats = self.asked = self.snapshots = 0
        self.pace = PaceWatcher(JournalWriter(self.path, "supervisor"), self.answer)
        monkeypatch.setattr(module, "on_this_machine", lambda workers: dict(enumerate(range(len(workers)))))
        monkeypatch.setattr(module, "by_spy", self.by_spy)
        monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
        monkeypatch.setattr(module.host, "cpu_seconds", lambda pid: self.beats * self.cores[pid])

    def answer(self) -> list[str]:
        self.asked += 1
        return self.workers

    def by_spy(self, pid: int) -> tuple[tuple[ThreadStack, ...], str]:
        self.snapshots += 1
        return threads_of(*self.stacks[pid]), ""

    def seconds(self, count: int, phase: str = "step") -> None:
        for _ in range(count):
            self.beats += 1
            self.pace.see(Live(Now(phase, 0, 0.0), Beat(self.beats, float(self.beats), self.beats, 0, 0.0, 0.0)))

    @property
    def events(self) -> list[Pace]:
        return [event for event in read_journal(self.path) if isinstance(event, Pace)]

    @property
    def at_work(self) -> list[int]:
        return [rank.at_work for rank in self.events[-1].ranks]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def test_one_draws_and_the_other_waits(world: World) -> None:
    world.seconds(SERIES - 1)
    assert world.events == []
    world.seconds(1)
    assert world.at_work == [0, SNAPSHOTS]
    lines = world.events[0].ranks[1].lines
    assert [(line.file, line.line, line.snapshots) for line in lines] == [("/home/me/train.py", 44, SNAPSHOTS)]


@pytest.mark.parametrize(
    ("stacks", "cores", "at_work"),
    [
        ((DRAWS, DRAWS), (0, 0), [SNAPSHOTS, SNAPSHOTS]),
        ((WAITS, WAITS), (0, 0), [0, 0]),
        ((WAITS, FEEDS), (0, 0), [0, SNAPSHOTS]),
        ((WAITS, WAITS), (0.9, 0.02), [SNAPSHOTS, 0]),
        ((WAITS, WAITS), (0.9, 0.9), [SNAPSHOTS, SNAPSHOTS]),
        ((WAITS, ()), (0, 0), [0, 0]),
    ],
    ids=["both draw", "both wait", "its data", "it computes", "both compute", "not to be seen"],
)
def test_who_is_at_work(world: World, stacks: Any, cores: Any, at_work: list[int]) -> None:
    world.stacks, world.cores = dict(enumerate(stacks)), dict(enumerate(cores))
    world.seconds(SERIES)
    assert world.at_work == at_work


def test_a_few_times_in_a_run_and_then_no_more(world: World) -> None:
    world.seconds(SERIES + PAUSES[0] + SERIES)
    assert len(world.events) == 2
    world.seconds(PAUSES[1] + SERIES + 5000)
    assert len(world.events) == 1 + len(PAUSES)
    assert world.snapshots == 2 * (1 + len(PAUSES)) * (SNAPSHOTS + 1)


def test_one_rank_alone_gets_no_snapshot(world: World) -> None:
    world.workers = []
    world.seconds(1000)
    assert (world.asked, world.snapshots, world.events) == (1, 0, [])


def test_a_validation_is_no_pace(world: World) -> None:
    world.seconds(500, "validation")
    assert world.snapshots == 0


def test_ranks_are_found_by_their_ports() -> None:
    import os

    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = [server.getsockname()[1] for server in (one, two)]
        workers = [f"localhost:{ports[0]}", "elsewhere:x", f"localhost:{ports[1]}"]
        assert on_this_machine(workers) == {0: os.getpid(), 2: os.getpid()}
        assert on_this_machine(workers[:1]) == {}
