"""When a run counts as stuck: phases, patience, the loop it must be in; made-up snapshots and a real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

import laststep
from laststep.analysis.stacks import SnapshotView
from laststep.record.event import Event
from laststep.record.events.stacks import Snapshot, Stall
from laststep.record.events.supervisor import MovingAgain, SignalReceived
from laststep.record.follow import Live
from laststep.record.journal import JournalWriter, read_journal
from laststep.record.place import Place
from laststep.record.steps import PHASES, Beat, Now, StepWriter
from laststep.supervisor import stall as module
from laststep.supervisor.stall import (
    MIN_BUSY_STALL_SECONDS,
    MIN_FROZEN_STALL_SECONDS,
    MIN_STALL_SECONDS,
    SNAPSHOT_EVERY,
    StallWatcher,
    Use,
    _next,
    in_loop,
    phase_of,
)
from tests.supervisor.stuck import (
    EXECUTE,
    FIT,
    GET,
    HOOK,
    LOAD,
    SCRIPT_OPS,
    TRAIN,
    WAIT,
    frame,
    frames_of,
    main,
    snapshot,
    snapshot_view,
    thread,
)

SRC = str(Path(laststep.__file__).parents[1])


def live(phase: str | None, number: int, step: int) -> Live:
    return Live(Now(phase, number, 1.0) if phase is not None else None, Beat(1, 1.0, step, 0, 0.0, 0.0))


@pytest.mark.parametrize(
    "phase,number,step,key",
    [
        ("step", 0, 0, "first step"),
        ("step", 10, 10, "epoch start"),
        ("step", 10, 11, "step"),
        (None, 0, 0, ""),  # nothing known yet
        (None, 0, 5, "loop"),  # a loop of the program's own sets no mark
        ("", 0, 5, "loop"),
        ("", 0, 0, ""),
        ("between", 10, 10, "between"),
        ("between", 10, 15, "loop"),  # after a fit a hand-written loop goes on
        ("evaluate", 10, 10, "evaluate"),
        ("evaluate", 10, 15, "loop"),
        ("predict", 10, 15, "loop"),
        ("validation", 10, 10, "validation"),
        ("epoch-end", 10, 10, "epoch-end"),
        ("start", 0, 0, "start"),
        ("trace", 0, 0, "trace"),
        ("save", 10, 10, "save"),
    ],
)
def test_the_phase_for_which_normal_is_learned(phase: str | None, number: int, step: int, key: str) -> None:
    assert phase_of(live(phase, number, step)) == key
    assert phase is None or phase in PHASES


def test_without_a_beat_nothing_is_complete() -> None:
    assert phase_of(Live(Now("step", 0, 1.0), None, None)) == "first step"
    assert phase_of(Live()) == ""


LOOP = """
import time
def train():
    for epoch in range(3):
        for step in range(10):
            step_it()
        save()
    upload()
while True:
    train()
done()
"""


@pytest.mark.parametrize(
    "line,at,stands",
    [
        (6, 6, True),
        (6, 7, True),  # in the loop around it
        (6, 8, False),  # the loops are over
        (6, 11, False),
        (10, 10, True),
        (10, 11, False),
        (8, 8, False),  # in no loop of this function
    ],
)
def test_whether_it_is_still_in_the_loop(tmp_path: Path, line: int, at: int, stands: bool) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    file = str(tmp_path / "train.py")
    frames = frames_of({"file": f"{sys.prefix}/x.py", "line": 6}, {"file": file, "line": at})
    assert in_loop(Place(file, line), frames) is stands


@pytest.mark.parametrize("content", [b"def broken(:\n", b"\xff\xfe", b"x = 1\0\n", b""])
def test_a_loop_nobody_can_read_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "train.py").write_bytes(content)
    for file in (str(tmp_path / "train.py"), str(tmp_path / "gone.py"), "<ipython-input-3>"):
        assert in_loop(Place(file, 1), frames_of({"file": file, "line": 1})) is False
        assert in_loop(Place(file, 1), ()) is False


@pytest.mark.parametrize(
    "seconds,patience,then",
    [
        (8.0, None, 20.0),
        (20.0, None, 30.0),
        (25.0, None, 30.0),
        (121.0, None, 121.0 + SNAPSHOT_EVERY),
        (8.0, 12.0, 12.0),  # not later than it would be stuck
        (8.0, 90.0, 20.0),
        (30.0, 20.0, 60.0),  # over already
    ],
)
def test_when_to_take_the_next_snapshot(seconds: float, patience: float | None, then: float) -> None:
    assert _next(seconds, patience) == then


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "run"
    made.mkdir()
    return made


@pytest.fixture
def journal(folder: Path) -> Iterator[JournalWriter]:
    made = JournalWriter(folder / "supervisor.jsonl", "supervisor")
    made.write("run", {"command": ["python"]})
    yield made
    made.close()


Make = Callable[..., StallWatcher]


@pytest.fixture
def stalls(folder: Path, journal: JournalWriter) -> Make:
    def make(pid: int = 0, **settings: Any) -> StallWatcher:
        own = pid or os.getpid()
        on_stall = settings.pop("on_stall", lambda: None)
        return StallWatcher(own, folder, journal, lambda: [own], lambda: [], on_stall, **settings)

    return make


IN_STEP = (EXECUTE, FIT, TRAIN)


def patience(made: StallWatcher, key: str, data: dict[str, Any], normal: float | None = None) -> float | None:
    if normal is not None:
        made._slowest[key] = normal
    return made._patience(key, snapshot_view(data))


def test_an_idle_step_is_given_four_times_its_longest(stalls: Make) -> None:
    idle = snapshot(main(*IN_STEP, call="futex"))
    assert patience(stalls(), "step", idle, 0.5) == MIN_STALL_SECONDS
    assert patience(stalls(), "step", idle, 10.0) == 40.0


def test_the_first_time_depends_on_what_it_is_in(stalls: Make) -> None:
    assert patience(stalls(), "first step", snapshot(main(*IN_STEP, call="futex"))) == MIN_STALL_SECONDS
    assert patience(stalls(), "first step", snapshot(main(FIT, TRAIN, call="recv"))) == 20.0
    assert patience(stalls(), "first step", snapshot(main(FIT, TRAIN, call="sleep"))) == 30.0
    assert patience(stalls(), "first step", snapshot(main(FIT, TRAIN, call="sleep", wakes=1000.0))) == MIN_STALL_SECONDS
    ours = thread(TRAIN, frame("/x/laststep/recorder/heartbeat.py", "_run"), call="sleep")
    assert patience(stalls(), "first step", snapshot(main(*IN_STEP, call="futex"), ours)) == MIN_STALL_SECONDS


def test_the_longest_of_what_it_was_in_counts_until_it_moves(stalls: Make) -> None:
    made = stalls()
    assert patience(made, "first step", snapshot(main(FIT, TRAIN, call="sleep"))) == 30.0
    at_a_lock = snapshot(main(FIT, TRAIN, call="futex"))
    assert patience(made, "first step", at_a_lock) == 30.0, "the same short sleeps, seen between two of them"
    assert patience(stalls(), "first step", at_a_lock) == MIN_STALL_SECONDS


def test_who_computes_is_given_more(stalls: Make) -> None:
    busy = snapshot(main(FIT, TRAIN), cpu=1.0)
    assert patience(stalls(), "step", busy, 0.5) == MIN_BUSY_STALL_SECONDS
    assert patience(stalls(), "step", busy | {"beat_age": 9.0}, 0.5) == MIN_FROZEN_STALL_SECONDS
    assert patience(stalls(), "step", busy | {"moves": True}, 0.5) is None
    assert patience(stalls(), "step", busy) is None, "the first time nothing is known"
    assert patience(stalls(), "step", snapshot(main(*IN_STEP, call="futex"), cpu=1.0), 0.5) is None
    assert patience(stalls(), "step", snapshot(main(FIT, TRAIN), io=10**8), 0.5) == MIN_BUSY_STALL_SECONDS


def test_who_cannot_be_seen_or_asks_somebody_is_not_stuck(stalls: Make) -> None:
    for made in (stalls(), stalls(after=1.0)):
        typing = snapshot(main(FIT, TRAIN, call="read", on="standard input"))
        assert patience(made, "step", typing, 0.5) is None
        assert patience(made, "step", snapshot(), 0.5) is None
    assert patience(stalls(), "", snapshot(main(TRAIN)), 0.5) is None


def test_asked_for_seconds_count_alone(stalls: Make) -> None:
    for key in ("step", "loop", "", "between"):
        assert patience(stalls(after=3.0), key, snapshot(main(TRAIN), cpu=1.0)) == 3.0


def test_a_loop_of_its_own_must_still_be_in_it(stalls: Make, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    at = {"file": str(tmp_path / "train.py"), "line": 6}
    recorder = JournalWriter(folder / "recorder.7.jsonl", "recorder")
    assert patience(stalls(), "loop", snapshot(main(at)), 0.5) is None, "no loop is known"
    recorder.write("loop", {"where": at, "stack": [at]})
    here = at | {"text": "x()"}
    assert patience(stalls(), "loop", snapshot(main(here, call="futex")), 0.5) == MIN_STALL_SECONDS
    assert patience(stalls(), "loop", snapshot(main(here)), 0.5) == 30.0, "what it is in is not known"
    assert patience(stalls(), "loop", snapshot(main(at | {"line": 8})), 0.5) is None
    assert patience(stalls(), "between", snapshot(main(here, call="open")), 0.5) == MIN_STALL_SECONDS
    assert patience(stalls(), "between", snapshot(main(WAIT, GET, here, call="futex")), 0.5) is None, (
        "it waits for work"
    )
    recorder.close()


FOLDS = """
for fold in range(5):
    model.fit(x)
    publish(fold)
for job in jobs:
    model.fit(job)
while True:
    job = jobs.get()
    model.fit(job)
"""


@pytest.mark.parametrize(
    ("fit", "at", "goes_on"),
    [
        (3, 4, True),
        (6, 5, False),  # it waits for the next one
        (9, 8, False),  # a worker
        (3, 8, False),  # the loop is over
    ],
)
def test_between_fits_there_is_more_to_do_in_the_body_of_a_for(
    stalls: Make, folder: Path, tmp_path: Path, fit: int, at: int, goes_on: bool
) -> None:
    (tmp_path / "train.py").write_text(FOLDS)
    file = str(tmp_path / "train.py")
    recorder = JournalWriter(folder / "recorder.7.jsonl", "recorder")
    recorder.write("fit", {"id": 1, "stack": [{"file": file, "line": fit}]})
    waits = snapshot_view(snapshot(main(WAIT, GET, {"file": file, "line": at, "text": "x()"}, call="futex")))
    assert stalls()._has_more_to_do("between", waits) is goes_on
    recorder.close()


def test_in_fit_there_is_more_to_do_and_before_any_step_nobody_knows(stalls: Make) -> None:
    in_fit = snapshot_view(snapshot(main(HOOK, FIT, TRAIN)))
    for key in ("start", "step", "epoch-end", "validation"):
        assert stalls()._has_more_to_do(key, in_fit) is True
    assert stalls()._has_more_to_do("", in_fit) is False
    assert stalls()._has_more_to_do("between", snapshot_view(snapshot(main(TRAIN)))) is False


# The thread's own life, with made-up snapshots and a clock: no second is waited for.


class Clock:
    """Time that passes only on request."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    monkeypatch.setattr("laststep.supervisor.feeding.time", made)
    return made


E = TypeVar("E", bound=Event)


def written_events(folder: Path, kind: type[E]) -> list[E]:
    """What the watcher wrote: of this very kind, since a stall is a snapshot too."""
    return [event for event in read_journal(folder / "supervisor.jsonl") if type(event) is kind]


class Training:
    """A steps file, and the snapshot that the supervisor would take of its process."""

    def __init__(self, folder: Path, made: StallWatcher, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writer = StepWriter(str(folder / "steps.7"))
        self.folder, self.stalls, self.clock = folder, made, clock
        self.step = self.number = self.snapshots = 0
        self.calls = 0.0
        self.began = clock.now
        self.seen = snapshot(main(*IN_STEP, call="futex"), thread(WAIT, GET, LOAD, SCRIPT_OPS, call="futex"))
        monkeypatch.setattr(module, "take_snapshot", self._take)
        monkeypatch.setattr(module, "_use", lambda pid: Use(0.0, 0.0))
        monkeypatch.setattr(module.cores, "queue_times", lambda tree: {77: 0.0})

    def _take(self, *words: Any) -> Snapshot:
        self.snapshots += 1
        return snapshot_view(self.seen).snapshot

    def mark(self, phase: str) -> None:
        self.writer.mark(PHASES.index(phase), self.step, self.clock.now)

    def trains(self, seconds: float, each: float) -> None:
        """Steps that take so long each, with a poll a second."""
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.step += 1
            self.stalls_for(each)

    def waits_for(self, seconds: float, calls: float = 0.0) -> None:
        """For a batch, since it began."""
        for _ in range(round(seconds)):
            self.stalls_for(1, waiting=self.clock.now - self.began, calls=calls)

    def stalls_for(self, seconds: float, waiting: float = 0.0, calls: float = 0.0) -> None:
        """So many calls of Python by the pipeline in each second."""
        for _ in range(max(1, round(seconds))):
            self.clock.now += seconds / max(1, round(seconds))
            self.number += 1
            self.calls += calls
            self.writer.note_calls(int(self.calls))
            self.writer.beat(Beat(self.number, self.clock.now, self.step, 0, 0.0, waiting))
            self.stalls.poll()

    def events(self, kind: type[E]) -> list[E]:
        return written_events(self.folder, kind)

    def kinds(self) -> list[str]:
        kinds = (Snapshot, Stall, MovingAgain, SignalReceived)
        return [event.KIND for event in read_journal(self.folder / "supervisor.jsonl") if isinstance(event, kinds)]


@pytest.fixture
def training(folder: Path, stalls: Make, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Training]:
    def make(**settings: Any) -> Training:
        made = Training(folder, stalls(**settings), clock, monkeypatch)
        made.mark("step")
        return made

    return make


def test_while_steps_run_no_snapshot_is_taken(training: Callable[..., Training]) -> None:
    run = training()
    run.trains(120, 1.0)
    run.trains(120, 5.0)
    assert (run.snapshots, run.kinds()) == (0, [])


def test_a_step_that_does_not_come_is_stuck_and_told_once(training: Callable[..., Training]) -> None:
    data: list[float] = []
    run = training(on_stall=lambda: data.append(run.clock.now))
    run.trains(30, 1.0)
    began = run.clock.now
    run.stalls_for(60, waiting=30.0)
    assert run.kinds() == ["stall"]
    assert data[0] - began <= 10.0
    assert len(data) == 1
    (stall,) = run.events(Stall)
    assert stall.phase == "step"
    assert stall.slowest == pytest.approx(1.0, abs=0.1)
    assert stall.waiting == 30.0
    assert stall.step == run.step
    assert not run.stalls.stopped


def test_it_goes_on_and_gets_stuck_again(training: Callable[..., Training]) -> None:
    data: list[float] = []
    run = training(on_stall=lambda: data.append(run.clock.now))
    run.trains(30, 1.0)
    run.stalls_for(15)
    run.trains(5, 1.0)
    assert run.kinds() == ["stall", "moving-again"]
    assert run.events(MovingAgain)[0].after == pytest.approx(16.0, abs=1.5)
    run.stalls_for(40)
    assert run.kinds() == ["stall", "moving-again"], "16 s are normal by now"
    run.stalls_for(40)
    assert run.kinds() == ["stall", "moving-again", "stall"]
    assert len(data) == 2


def test_slow_steps_are_normal_where_they_were_so_before(training: Callable[..., Training]) -> None:
    run = training()
    run.seen = snapshot(main(*IN_STEP, call="futex"), thread(LOAD, SCRIPT_OPS, call="recv"))
    run.trains(60, 12.0)
    assert "stall" not in run.kinds(), "the first time a network is given 20 s"
    run.stalls_for(30)
    assert "stall" not in run.kinds()
    run.stalls_for(30)
    assert run.kinds()[-1] == "stall"


def test_a_sleep_that_will_end_is_waited_for(training: Callable[..., Training]) -> None:
    run = training()
    run.trains(30, 1.0)
    run.seen = snapshot(main(FIT, TRAIN, call="sleep", wakes=20.0))
    run.stalls_for(12)
    assert run.kinds() == ["look"]
    run.trains(5, 1.0)
    assert "stall" not in run.kinds()


def test_a_sleep_that_has_ended_and_nothing_moves_is_stuck(training: Callable[..., Training]) -> None:
    run = training()
    run.trains(30, 1.0)
    run.seen = snapshot(main(FIT, TRAIN, call="sleep", wakes=20.0))
    run.stalls_for(60)
    assert run.kinds() == ["look", "stall"]


def test_short_sleeps_before_the_first_step_are_given_time_however_they_are_seen(
    training: Callable[..., Training],
) -> None:
    run = training()
    for call, woke, seconds in (("sleep", 0, 10), ("futex", 80, 6), ("futex", 0, 6)):
        run.seen = snapshot(main(FIT, TRAIN, call=call, woke=woke))
        run.stalls_for(seconds)
    assert "stall" not in run.kinds()
    run.stalls_for(20)
    assert run.kinds()[-1] == "stall"


def test_a_sleep_without_end_is_stuck_at_once(training: Callable[..., Training]) -> None:
    run = training()
    run.trains(30, 1.0)
    run.seen = snapshot(main(FIT, TRAIN, call="sleep", wakes=5000.0))
    run.stalls_for(12)
    assert run.kinds() == ["stall"]


def starved(run: Training, monkeypatch: pytest.MonkeyPatch, part: float) -> None:
    """A thread of the program is ready to run and has no core, for this part of the time."""
    monkeypatch.setattr(module.cores, "queue_times", lambda tree: {77: part * run.clock.now})


def test_who_gets_no_core_is_given_as_much_longer(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = training()
    run.trains(30, 1.0)
    starved(run, monkeypatch, 0.95)
    run.stalls_for(60, waiting=60.0)
    assert set(run.kinds()) == {"look"}
    assert run.events(Snapshot)[-1].lost > 40
    assert run.snapshots <= 5, "a snapshot costs CPU time too"


def test_who_sleeps_on_a_busy_machine_is_stuck_all_the_same(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = training()
    run.trains(30, 1.0)
    starved(run, monkeypatch, 0.1)  # it wakes up now and then, and waits a little each time
    began = run.clock.now
    run.stalls_for(12, waiting=12.0)
    assert run.kinds() == ["look", "stall"] or run.kinds() == ["stall"]
    assert run.clock.now - began <= 12.0


def test_asked_for_seconds_are_not_stretched(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = training(after=5.0)
    run.trains(30, 1.0)
    starved(run, monkeypatch, 0.95)
    run.stalls_for(8)
    assert run.kinds() == ["stall"]


def test_our_own_work_is_not_blamed_on_the_program(training: Callable[..., Training]) -> None:
    """The census has the interpreter lock; the main thread waits for it at a line of the user's."""
    guarded = frame("/x/laststep/recorder/guard.py", "guard"), frame("/x/laststep/recorder/heartbeat.py", "_run")
    census = frame("/x/laststep/recorder/memory_census.py", "take_census")
    run = training()
    run.trains(30, 1.0)
    run.seen = snapshot(main(FIT, TRAIN, call="futex"), thread(census, *guarded, holds_gil=True))
    run.stalls_for(40)
    assert set(run.kinds()) == {"look"}
    assert run.events(Snapshot)[0].ours is True
    run.seen = snapshot(main(FIT, TRAIN, call="futex"), thread(census, *guarded))
    run.stalls_for(12)
    assert run.kinds()[-1] == "stall", "ours waits for the lock too"


def test_one_that_computes_gets_more_snapshots_and_is_left_alone(training: Callable[..., Training]) -> None:
    run = training()
    run.mark("step")
    run.stalls_for(2)
    run.seen = snapshot(main(*IN_STEP, call="futex"), cpu=1.5)
    run.stalls._used = lambda: Use(1.5, 0.0)  # type: ignore[method-assign]
    run.stalls_for(200)
    assert set(run.kinds()) == {"look"}
    assert 3 <= run.snapshots <= 6


def test_before_the_first_beat_nothing_is_said(training: Callable[..., Training]) -> None:
    run = training()
    for _ in range(100):
        run.clock.now += 1.0
        run.stalls.poll()
    assert run.snapshots == 0


def test_asked_for_seconds_hold_in_any_phase(training: Callable[..., Training]) -> None:
    run = training(after=3.0)
    run.trains(30, 1.0)
    run.mark("epoch-end")
    run.stalls_for(5)
    assert run.kinds() == ["stall"]


def test_polls_that_fail_do_not_end_the_watching(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = training()
    run.trains(10, 1.0)
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    polls: list[int] = []

    def poll() -> None:
        polls.append(1)
        raise RuntimeError("a poll that fails")

    run.stalls.poll = poll  # type: ignore[method-assign]
    run.stalls.start()
    time.sleep(0.3)
    run.stalls.stop()
    assert len(polls) > 3


ROW = frame("/home/me/rows.py", "rows", 8, "row = reader.read()")
SKIPS = frame("/home/me/rows.py", "rows", 10, "continue")
FILTERED = [{"stage": "Batch", "batch_size": 4}, {"stage": "Filter"}, {"stage": "FlatMap", "generator": True}]
ENDLESS = [{"stage": "Filter"}, {"stage": "Shuffle", "buffer_size": 50}, {"stage": "Repeat", "count": -1}]


@pytest.fixture
def first_batch(
    training: Callable[..., Training], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Training]]:
    """A fit that waits for its first batch."""
    recorder = JournalWriter(folder / "recorder.7.jsonl", "recorder")

    def make(told: dict[str, Any], cores: float, stages: Sequence[dict[str, Any]] = ()) -> Training:
        recorder.write("fit", {"id": 1, "data": {"stages": list(stages)}})
        run = training()
        run.seen = told
        run.stalls._used = lambda: Use(cores, 0.0)  # type: ignore[method-assign]
        monkeypatch.setattr(
            "laststep.supervisor.feeding.by_spy", lambda pid: (snapshot_view(told).snapshot.threads, "")
        )
        return run

    yield make
    recorder.close()


def naps() -> dict[str, Any]:
    return snapshot(main(*IN_STEP, call="futex"), thread(ROW, SCRIPT_OPS, call="sleep", woke=80))


def computes() -> dict[str, Any]:
    return snapshot(main(*IN_STEP, call="futex"), thread(ROW, SCRIPT_OPS, cpu=0.9))


def in_tensorflow() -> dict[str, Any]:
    return snapshot(main(*IN_STEP, call="futex"), cpu=0.9)


@pytest.mark.parametrize("cores,told", [(0.0, naps()), (0.9, computes())])
def test_a_generator_that_yields_is_no_stall_however_slow(
    first_batch: Callable[..., Training], cores: float, told: dict[str, Any]
) -> None:
    run = first_batch(told, cores)
    run.waits_for(900, calls=0.1)
    assert set(run.kinds()) == {"look"}
    assert run.events(Snapshot)[-1].calls == pytest.approx(90, abs=35)
    assert run.snapshots < 12, "a snapshot costs CPU time"


@pytest.mark.parametrize("cores,told,after", [(0.0, naps(), 30.0), (0.9, computes(), MIN_BUSY_STALL_SECONDS)])
def test_one_that_yielded_and_does_so_no_more_is_stuck(
    first_batch: Callable[..., Training], cores: float, told: dict[str, Any], after: float
) -> None:
    run = first_batch(told, cores)
    run.waits_for(200, calls=50)
    assert "stall" not in run.kinds()
    silent = run.clock.now
    while "stall" not in run.kinds() and run.clock.now < silent + 500:
        run.waits_for(1)
    assert run.clock.now - silent == pytest.approx(after, abs=5.0)
    (stall,) = run.events(Stall)
    assert stall.calls == 9_950, "those before the first poll belong to what was before"
    assert stall.call_age == pytest.approx(after, abs=5.0)
    assert [line.line for line in stall.lines] == [8]


def test_python_that_computes_before_its_first_element_may_load_data(first_batch: Callable[..., Training]) -> None:
    run = first_batch(computes(), 0.9)
    run.waits_for(1, calls=2)
    run.waits_for(module.MIN_FIRST_ELEMENT_SECONDS - 20)
    assert "stall" not in run.kinds()
    run.waits_for(40)
    assert run.kinds()[-1] == "stall"


def test_a_trace_in_the_first_step_does_not_tell_what_is_normal(first_batch: Callable[..., Training]) -> None:
    run = first_batch(in_tensorflow(), 0.9)
    run.stalls_for(3)
    run.mark("trace")
    run.stalls_for(3)
    run.mark("step")
    run.began = run.clock.now
    run.waits_for(400)
    assert "stall" not in run.kinds(), "it may read, decode or fill a buffer"


def test_elements_that_come_each_half_minute_are_waited_for(first_batch: Callable[..., Training]) -> None:
    """The longest time between two is known: the next may take four times as long."""
    run = first_batch(snapshot(main(*IN_STEP, call="futex"), thread(ROW, SCRIPT_OPS, call="recv")), 0.0)
    for _ in range(4):
        run.waits_for(1, calls=1)
        run.waits_for(18)
    run.waits_for(50)
    assert "stall" not in run.kinds()
    run.waits_for(40)
    assert run.kinds()[-1] == "stall"


@pytest.mark.parametrize("stages,stuck", [(FILTERED, True), (FILTERED[:1], False)])
def test_a_filter_that_drops_all_that_a_generator_yields(
    first_batch: Callable[..., Training], stages: list[dict[str, Any]], stuck: bool
) -> None:
    run = first_batch(in_tensorflow(), 0.9, stages)
    run.waits_for(90, calls=30)
    assert "stall" not in run.kinds(), "2,700 rows: one in a thousand may pass"
    run.waits_for(400, calls=30)
    assert ("stall" in run.kinds()) is stuck


@pytest.mark.parametrize("stages,stuck", [(ENDLESS, True), (ENDLESS[1:], False), (list(reversed(ENDLESS)), False)])
def test_a_filter_behind_an_endless_repeat(
    first_batch: Callable[..., Training], stages: list[dict[str, Any]], stuck: bool
) -> None:
    run = first_batch(in_tensorflow(), 0.9, stages)
    run.waits_for(module.MIN_FIRST_FILTER_SECONDS - 5)
    assert "stall" not in run.kinds()
    run.waits_for(500)
    assert ("stall" in run.kinds()) is stuck


# A real process that stands in for a training: it writes steps and heartbeats, and then hangs.

STAND_IN = """
import os, signal, sys, threading, time
from laststep.record.steps import Beat, StepWriter
from laststep.recorder.guard import guard
folder, then = sys.argv[1:3]
writer = StepWriter(os.path.join(folder, f"steps.{os.getpid()}"))
done = 0
def beats():
    number = 0
    while True:
        number += 1
        writer.beat(Beat(number, time.time(), done, 0, 0.0, 0.0))
        time.sleep(0.1)
def long_work():  # one call of C code that has the interpreter lock for some seconds, as our census once did
    guard("census", sum, range(300_000_000))
if then == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=beats, name="laststep-beat", daemon=True).start()
print("READY", flush=True)
for turn in range(30):
    done = turn + 1
    writer.write(done, time.time(), 0.05)
    time.sleep(0.05)
    if turn == 15:
        if then == "ours":
            threading.Thread(target=long_work).start()
            continue
        if then == "computes":
            while True:
                turn += 1
        threading.Event().wait()  # <- here
"""
HERE = next(number for number, line in enumerate(STAND_IN.splitlines(), 1) if line.endswith("# <- here"))


@pytest.fixture
def stand_in(folder: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    running: list[subprocess.Popen[bytes]] = []

    def begin(then: str = "waits") -> subprocess.Popen[bytes]:
        (tmp_path / "train.py").write_text(STAND_IN)
        where = {"file": str(tmp_path / "train.py"), "line": HERE - 9}
        recorder = JournalWriter(folder / "recorder.7.jsonl", "recorder")
        recorder.write("recorder", {"pid": 7})
        recorder.write("loop", {"where": where, "stack": [where]})
        recorder.close()
        environment = {**os.environ, "PYTHONPATH": SRC}
        process = subprocess.Popen(
            [sys.executable, str(tmp_path / "train.py"), str(folder), then], env=environment, stdout=subprocess.PIPE
        )
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"READY\n"
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(module, "MIN_STALL_SECONDS", 1.5)
    monkeypatch.setattr(module, "KILL_AFTER", 0.5)
    monkeypatch.setattr("laststep.supervisor.snapshot.SECONDS_APART", 0.3)


StandIn = Callable[..., subprocess.Popen[bytes]]


def wait_for(condition: Callable[[], Any], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def test_a_real_process_that_is_stuck(stand_in: StandIn, stalls: Make, folder: Path, hasty: None) -> None:
    process = stand_in()
    data = threading.Event()
    made = stalls(process.pid, on_stall=data.set)
    made.start()
    assert data.wait(20)
    made.stop()
    (stall,) = written_events(folder, Stall)
    seen = SnapshotView(stall)
    if not seen.threads:
        pytest.skip("py-spy cannot read stacks here")
    assert (stall.phase, stall.step, stall.pid) == ("loop", 16, process.pid)
    assert seen.main.place is not None
    assert (seen.main.place.line, seen.doing) == (HERE, "user")
    assert seen.idle
    assert stall.slowest is not None
    assert 0.05 < stall.slowest < 3.0
    assert process.poll() is None, "warn leaves it alone"


def test_one_that_computes_for_good_is_not_stuck_at_once(
    stand_in: StandIn, stalls: Make, folder: Path, hasty: None
) -> None:
    process = stand_in("computes")
    made = stalls(process.pid)
    made.start()
    wait_for(lambda: written_events(folder, Snapshot))
    made.stop()
    assert written_events(folder, Stall) == []
    assert written_events(folder, Snapshot)[0].cpu > 0.2


def test_the_lock_is_held_by_ours(
    stand_in: StandIn, stalls: Make, folder: Path, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For some seconds a thread of ours lets no other thread run; before that a step took 0.05 s."""
    monkeypatch.setattr(module, "MIN_FROZEN_SECONDS", 1.0)
    monkeypatch.setattr(module, "MIN_FROZEN_STALL_SECONDS", 2.0)
    process = stand_in("ours")
    made = stalls(process.pid)
    made.start()
    process.wait(60)
    made.stop()
    assert written_events(folder, Stall) == []
    snapshots = written_events(folder, Snapshot)
    if not snapshots or not snapshots[0].threads:
        pytest.skip("py-spy cannot read stacks here")
    assert snapshots[0].ours is True


@pytest.mark.parametrize("then,number", [("waits", signal.SIGTERM), ("stubborn", signal.SIGKILL)])
def test_it_is_asked_to_end_and_then_made_to(
    stand_in: StandIn, stalls: Make, folder: Path, hasty: None, then: str, number: int
) -> None:
    process = stand_in(then)
    made = stalls(process.pid, action="stop", after=1.5)
    made.start()
    assert process.wait(20) == -number
    made.stop()
    assert made.stopped
    sent = written_events(folder, SignalReceived)
    assert [each.signal for each in sent] == (["SIGTERM"] if then == "waits" else ["SIGTERM", "SIGKILL"])
    assert {each.by for each in sent} == {"laststep"}


def test_a_process_that_was_stopped_is_left_alone(stand_in: StandIn, stalls: Make, folder: Path, hasty: None) -> None:
    process = stand_in()
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGSTOP)
    made = stalls(process.pid, action="stop", after=1.0)
    made.start()
    wait_for(lambda: written_events(folder, Snapshot))
    made.stop()
    assert process.poll() is None
    assert written_events(folder, Stall) == []
    assert written_events(folder, SignalReceived) == []


def test_the_process_is_gone_before_it_is_ended(stalls: Make, folder: Path) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    made = stalls(child.pid, action="stop")
    made._end()
    assert made.stopped
    assert [event.KIND for event in read_journal(folder / "supervisor.jsonl")] == ["run", "signal"]
