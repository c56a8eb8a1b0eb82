"""The present of a living run from a few bytes: marks, beats, the last step, and what the recorder is asked for."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from laststep.record import steps as module
from laststep.record.follow import Follower, Live
from laststep.record.steps import (
    BEAT_OFFSET,
    CENSUS,
    HEADER_BYTES,
    LEVELS,
    NOW_OFFSET,
    REQUEST_OFFSET,
    SAVE,
    SLOT,
    Beat,
    StepWriter,
    compact,
)

from .conftest import Mount

BEAT = Beat(3, 1000.5, 7, 2, 1.25, 0.5)


@pytest.fixture(params=["mapped", "positioned"])
def writer(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StepWriter:
    """Both ways in which a steps file is written."""
    mapped = request.param == "mapped"
    monkeypatch.setattr(module, "filesystem_of", lambda path: "ext4" if mapped else "nfs")
    made = StepWriter(str(tmp_path / "steps.1"))
    assert made.mapped is mapped
    return made


def test_nothing_is_there_yet(tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    assert follower.read() == Live(None, None, None)
    assert follower.ask(CENSUS) is False
    assert Follower(tmp_path / "gone").read() == Live()


def test_a_mark_alone_a_beat_alone(writer: StepWriter, tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    assert follower.read() == Live()
    writer.mark(1, 4, 99.0)
    assert follower.read() == Live(now=module.Now("step", 4, 99.0))
    writer.beat(BEAT._replace(step=0))
    assert follower.read().beat == BEAT._replace(step=0)
    assert follower.read().step is None


def test_the_calls_of_the_pipeline(writer: StepWriter, tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    writer.beat(BEAT)
    assert follower.read().calls == 0, "an older recorder counts none"
    writer.note_calls(1 << 40)
    assert follower.read().calls == 1 << 40
    assert follower.read().beat == BEAT
    assert follower.ask(CENSUS)
    assert writer.requests() == CENSUS


def test_the_beat_says_which_step_is_the_last(writer: StepWriter, tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    for number in range(1, 8):
        writer.write(number, 100.0 + number, 0.5, loss=number / 4)
    writer.beat(BEAT)
    live = follower.read()
    assert live.beat == BEAT
    assert live.step is not None
    assert (live.step.number, live.step.time, live.step.loss) == (7, 107.0, 1.75)
    writer.beat(BEAT._replace(number=4, step=9))  # counted, and not written yet
    assert follower.read().step is None


def test_the_last_step_is_found_after_the_ring_went_round(writer: StepWriter, tmp_path: Path) -> None:
    number = LEVELS[0][1] + 5
    writer.write(5, 1.0, 0.5)
    writer.write(number, 2.0, 0.5)
    writer.beat(BEAT._replace(step=number))
    step = Follower(tmp_path).read().step
    assert step is not None
    assert (step.number, step.time) == (number, 2.0)
    writer.beat(BEAT._replace(step=5))
    assert Follower(tmp_path).read().step is None, "that slot holds another step by now"


def test_each_thing_asked_for_adds_to_the_others(writer: StepWriter, tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    writer.write(1, 1.0, 0.5)
    writer.mark(1, 1, 1.0)
    writer.beat(BEAT._replace(step=1))
    before = follower.read()
    assert writer.requests() == 0
    assert follower.ask(SAVE)
    assert writer.requests() == SAVE
    assert follower.ask(CENSUS)
    assert follower.ask(CENSUS)
    assert writer.requests() == SAVE | CENSUS
    assert repr(follower.read()) == repr(before), "asking changes nothing else"


def test_asking_writes_its_own_eight_bytes_only(writer: StepWriter, tmp_path: Path) -> None:
    path = tmp_path / "steps.1"
    for number in range(1, 40):
        writer.write(number, 1.0, 0.5)
    writer.beat(BEAT)
    writer.mark(1, 1, 1.0)
    before = path.read_bytes()
    Follower(tmp_path).ask(SAVE)
    after = path.read_bytes()
    assert (
        after[:REQUEST_OFFSET] + after[REQUEST_OFFSET + 8 :] == before[:REQUEST_OFFSET] + before[REQUEST_OFFSET + 8 :]
    )
    assert len(after) == len(before)


def test_marks_and_beats_go_on_while_somebody_asks(writer: StepWriter, tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    for number in range(1, 200):
        writer.write(number, float(number), 0.5)
        writer.mark(1, number, float(number))
        writer.beat(BEAT._replace(number=number, step=number))
        follower.ask(SAVE if number % 2 else CENSUS)
        live = follower.read()
        assert live.now is not None
        assert live.beat is not None
        assert live.step is not None
        assert live.now.number == live.beat.step == live.step.number == number
    assert writer.requests() == SAVE | CENSUS


def test_a_torn_mark_and_a_torn_beat_are_none(writer: StepWriter, tmp_path: Path) -> None:
    writer.mark(1, 4, 99.0)
    writer.beat(BEAT)
    with open(tmp_path / "steps.1", "r+b") as file:
        file.seek(BEAT_OFFSET)
        file.write(struct.pack("<Q", 77))
        file.seek(NOW_OFFSET)
        file.write(struct.pack("<Q", 77))
    assert Follower(tmp_path).read() == Live()


def test_an_unknown_phase_is_none(writer: StepWriter, tmp_path: Path) -> None:
    writer.mark(200, 4, 99.0)
    assert Follower(tmp_path).read().now is None


@pytest.mark.parametrize(
    "content", [b"", b"LSTEPS01", b"x" * 8192, b"LSTEPS01".ljust(HEADER_BYTES, b"\xff"), b"\0" * HEADER_BYTES]
)
def test_rubbish_is_no_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "steps.1").write_bytes(content)
    live = Follower(tmp_path).read()
    assert live.step is None
    assert live.now is None


@pytest.mark.parametrize("content", [b"", b"LSTEPS01"])
def test_asking_rubbish_is_no_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "steps.1").write_bytes(content)
    assert Follower(tmp_path).ask(SAVE) is False


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    writer = StepWriter(str(real / "steps.1"))
    writer.mark(1, 4, 99.0)
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "steps.1").symlink_to(real / "steps.1")
    assert Follower(linked).read() == Live()
    assert Follower(linked).ask(SAVE) is False
    assert writer.requests() == 0


def test_the_newest_file_counts_and_never_one_half_compacted(tmp_path: Path) -> None:
    old, new = StepWriter(str(tmp_path / "steps.1")), StepWriter(str(tmp_path / "steps.2"))
    old.mark(1, 1, 1.0)
    new.mark(2, 2, 2.0)
    os.utime(tmp_path / "steps.1", (1000, 1000))
    os.utime(tmp_path / "steps.2", (2000, 2000))
    (tmp_path / "steps.2.new").write_bytes(b"half")
    now = Follower(tmp_path).read().now
    assert now is not None
    assert now.number == 2


def test_beat_and_mark_outlive_compacting(tmp_path: Path) -> None:
    writer = StepWriter(str(tmp_path / "steps.1"))
    for number in range(1, 8):
        writer.write(number, 1.0, 0.5)
    writer.mark(1, 7, 9.0)
    writer.beat(BEAT)
    compact(tmp_path / "steps.1")
    live = Follower(tmp_path).read()
    assert (live.now, live.beat) == (("step", 7, 9.0), BEAT)


def test_where_mapping_is_not_safe_beats_are_written_with_pwrite(mount: Mount) -> None:
    place = mount("ramfs")
    writer = StepWriter(str(place / "steps.1"))
    assert not writer.mapped
    writer.beat(BEAT)
    assert Follower(place).read().beat == BEAT
    Follower(place).ask(SAVE)
    assert writer.requests() == SAVE


@pytest.fixture
def positioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StepWriter:
    monkeypatch.setattr(module, "SAFE_TO_MMAP", frozenset())
    return StepWriter(str(tmp_path / "steps.1"))


def test_a_reused_descriptor_is_neither_read_nor_written(positioned: StepWriter, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts-own"
    hosts.write_bytes(b"\xff" * 4096)
    os.dup2(os.open(hosts, os.O_RDWR), positioned._file._fd)
    positioned.beat(BEAT)
    assert positioned.requests() == 0
    assert hosts.read_bytes() == b"\xff" * 4096


def test_a_closed_descriptor_never_raises(positioned: StepWriter) -> None:
    os.close(positioned._file._fd)
    positioned.beat(BEAT)
    assert positioned.requests() == 0


def test_a_file_cut_short_under_it_never_raises(positioned: StepWriter, tmp_path: Path) -> None:
    os.truncate(tmp_path / "steps.1", 100)
    assert positioned.requests() == 0


def test_slots_and_header_do_not_overlap() -> None:
    assert NOW_OFFSET + module.NOW.size <= BEAT_OFFSET
    assert BEAT_OFFSET + module.BEAT.size <= REQUEST_OFFSET
    assert REQUEST_OFFSET + module.REQUEST.size <= HEADER_BYTES
    assert module.PREAMBLE.size + len(LEVELS) * module.LEVEL.size <= NOW_OFFSET
    assert SLOT.size == 64
