"""The steps: the newest are complete, older ones are thinned out, half-written or foreign slots are detected."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laststep.record import steps as module
from laststep.record.steps import HEADER_BYTES, LEVELS, SLOT, StepWriter, compact, filesystem_of, read_steps

from .conftest import Mount, fill

SHARED_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
NEWEST = 65536


def write_range(writer: StepWriter, first: int, last: int, every: int = 1) -> None:
    for number in range(first, last + 1, every):
        writer.write(number, 1000.0 + number, 0.5, number / 2)


def kept(path: Path) -> list[int]:
    return [step.number for step in read_steps(path).steps]


def test_every_field_comes_back(tmp_path: Path) -> None:
    writer = StepWriter(str(tmp_path / "steps.1"))
    writer.write(7, 1234.5, 0.25, 3.75, 0.125, 2, 9, 3, 0.5)
    writer.write(8, 1235.5, 0.25)
    step, bare = read_steps(tmp_path / "steps.1").steps
    assert step == (7, 1234.5, 0.25, 0.5, 3.75, 0.125, 2, 9, 3)
    assert math.isnan(bare.loss)
    assert math.isnan(bare.data_wait)
    assert (bare.epoch, bare.batch, bare.fit) == (-1, -1, 0)


@pytest.mark.parametrize("loss", [math.inf, -math.inf, math.nan, 1e308, -0.0, 5e-324])
def test_any_loss_can_be_kept(tmp_path: Path, loss: float) -> None:
    writer = StepWriter(str(tmp_path / "steps.1"))
    writer.write(1, 1.0, 0.5, loss)
    (step,) = read_steps(tmp_path / "steps.1").steps
    assert struct.pack("<d", step.loss) == struct.pack("<d", loss)


def test_the_newest_are_all_there_and_history_gets_coarser(tmp_path: Path) -> None:
    writer = StepWriter(str(tmp_path / "steps.1"))
    last = 400_003
    write_range(writer, 1, last)
    numbers = kept(tmp_path / "steps.1")
    assert numbers == sorted(set(numbers))
    assert numbers[-NEWEST:] == list(range(last - NEWEST + 1, last + 1))
    old = [number for number in numbers if number <= last - NEWEST]
    sixteenth = [number for number in old if number > last - 16 * 16384]
    assert sixteenth == [number for number in range(last - 16 * 16384 + 1, last - NEWEST + 1) if number % 16 == 0]
    assert [number for number in old if number % 256 == 0][:3] == [256, 512, 768]
    assert os.path.getsize(tmp_path / "steps.1") == HEADER_BYTES + sum(slots for _, slots in LEVELS) * SLOT.size


def test_values_after_the_ring_went_round_are_the_new_ones(tmp_path: Path) -> None:
    writer = StepWriter(str(tmp_path / "steps.1"))
    write_range(writer, 1, NEWEST + 100)
    steps = read_steps(tmp_path / "steps.1").steps
    assert [(step.time, step.loss) for step in steps] == [(1000.0 + step.number, step.number / 2) for step in steps]
    assert [step.number for step in steps[-NEWEST:]] == list(range(101, NEWEST + 101))


@pytest.mark.parametrize("weight,start", [(32, 32), (10, 10), (16, 5), (7, 3)])
def test_several_steps_in_one_execution_keep_a_history_too(tmp_path: Path, weight: int, start: int) -> None:
    """steps_per_execution: the count advances by `weight`, from wherever an earlier fit left it."""
    writer = StepWriter(str(tmp_path / "steps.1"))
    last = 400_000
    write_range(writer, start, last, weight)
    numbers = kept(tmp_path / "steps.1")
    written = list(range(start, last + 1, weight))
    assert [number for number in numbers if number > last - NEWEST] == [n for n in written if n > last - NEWEST]
    assert len([number for number in numbers if number <= last - NEWEST]) >= 50


@SHARED_FOLDER
@given(data=st.data())
def test_a_slot_torn_at_any_byte_is_skipped_and_costs_no_other(tmp_path: Path, data: st.DataObject) -> None:
    """A kill in mid-write leaves the beginning of the new slot before the end of the old one (or of nothing)."""
    path = tmp_path / "steps.1"
    path.unlink(missing_ok=True)
    writer = StepWriter(str(path))
    write_range(writer, 1, 40)
    torn = data.draw(st.integers(1, 40))
    cut = data.draw(st.integers(1, SLOT.size - 1))
    fresh = SLOT.pack(torn + NEWEST, 9.0, 9.0, 9.0, 9.0, 9.0, 9, 9, 9, 0, torn + NEWEST)
    with open(path, "r+b") as file:
        file.seek(HEADER_BYTES + torn * SLOT.size)
        file.write(fresh[:cut])
        file.seek(HEADER_BYTES + torn * SLOT.size)
        complete = file.read(SLOT.size) == fresh  # the missing bytes were zeros anyway
    others = set(range(1, 41)) - {torn}
    found = {step.number: step for step in read_steps(path).steps}
    assert others <= set(found)
    assert (torn + NEWEST in found) == complete
    assert torn not in found or found[torn].loss == torn / 2


@SHARED_FOLDER
@given(cut=st.integers(0, HEADER_BYTES + 60 * SLOT.size))
def test_a_file_cut_at_any_byte_still_reads(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "steps.1"
    path.unlink(missing_ok=True)
    writer = StepWriter(str(path))
    write_range(writer, 1, 40)
    os.truncate(path, cut)
    whole = max(0, (cut - HEADER_BYTES) // SLOT.size - 1)  # slot 0 holds step 65,536
    assert kept(path) == list(range(1, min(whole, 40) + 1))


@SHARED_FOLDER
@given(head=st.binary(max_size=64), body=st.binary(max_size=4 * SLOT.size))
def test_absurd_headers_and_rubbish_are_no_error(tmp_path: Path, head: bytes, body: bytes) -> None:
    path = tmp_path / "steps.1"
    for start in (b"", module.MAGIC, module.MAGIC + struct.pack("<II", SLOT.size, 0xFFFFFFFF)):
        path.write_bytes((start + head).ljust(HEADER_BYTES, b"\xff") + body)
        record = read_steps(path)
        assert len(record.steps) <= 4
        assert record.now is None or record.now.phase in module.PHASES
        compact(path)


def test_the_mark_says_what_goes_on(tmp_path: Path) -> None:
    writer = StepWriter(str(tmp_path / "steps.1"))
    assert read_steps(tmp_path / "steps.1").now is None
    writer.mark(module.PHASES.index("validation"), 12, 99.5)
    assert read_steps(tmp_path / "steps.1").now == ("validation", 12, 99.5)


def test_compact_keeps_every_step_and_the_mark_and_gives_the_rest_back(tmp_path: Path) -> None:
    path = tmp_path / "steps.1"
    writer = StepWriter(str(path))
    write_range(writer, 1, 70_000)
    writer.mark(1, 70_000, 5.0)
    before = repr(read_steps(path))  # as text: NaN is not equal to itself
    size = path.stat().st_size
    old = os.umask(0)
    try:
        compact(path)
    finally:
        os.umask(old)
    assert repr(read_steps(path)) == before
    assert path.stat().st_size < size
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
    compact(path)
    assert repr(read_steps(path)) == before


def test_compact_of_a_short_run_is_small(tmp_path: Path) -> None:
    path = tmp_path / "steps.1"
    write_range(StepWriter(str(path)), 1, 10)
    compact(path)
    assert kept(path) == list(range(1, 11))
    assert path.stat().st_blocks * 512 <= 8192


def test_compact_leaves_a_file_alone_that_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "steps.1"
    path.write_bytes(b"somebody's notes")
    compact(path)
    assert path.read_bytes() == b"somebody's notes"


def test_compact_on_a_full_disk_changes_nothing(mount: Mount) -> None:
    place = mount("tmpfs", "size=8m")
    path = place / "steps.1"
    write_range(StepWriter(str(path)), 1, 40_000)
    before = repr(read_steps(path))  # as text: NaN is not equal to itself
    fill(place)
    compact(path)
    assert repr(read_steps(path)) == before
    assert sorted(entry.name for entry in place.iterdir()) == ["hosts-own", "steps.1"]


def test_the_file_is_ours_alone_and_the_host_keeps_its_descriptors(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    old = os.umask(0)
    try:
        writer = StepWriter(str(tmp_path / "steps.1"))
    finally:
        os.umask(old)
    assert (tmp_path / "steps.1").stat().st_mode & 0o777 == 0o600
    if writer.mapped:
        # Python's mmap keeps a duplicate of its own; nothing else may stay.
        assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_without_room_the_constructor_raises_and_leaves_the_disk_as_it_was(small_ext4: Path) -> None:
    """Less space than the steps need: no byte that the host has left may be used."""
    before = os.statvfs(small_ext4).f_bavail
    with pytest.raises(OSError, match="No space"):
        StepWriter(str(small_ext4 / "steps.1"))
    after = os.statvfs(small_ext4).f_bavail
    assert before - after <= 4, f"{before} blocks were free, now {after}"


def test_a_mapping_survives_a_disk_that_fills_up(mount: Mount) -> None:
    place = mount("tmpfs", "size=8m")
    writer = StepWriter(str(place / "steps.1"))
    assert writer.mapped
    fill(place)
    write_range(writer, 1, NEWEST + 5)
    assert kept(place / "steps.1")[-NEWEST:] == list(range(6, NEWEST + 6))


def test_where_mapping_is_not_safe_slots_are_written_with_pwrite(mount: Mount) -> None:
    place = mount("ramfs")
    writer = StepWriter(str(place / "steps.1"))
    assert not writer.mapped
    write_range(writer, 1, 1000)
    writer.mark(1, 1000, 5.0)
    numbers, now = kept(place / "steps.1"), read_steps(place / "steps.1").now
    assert numbers == list(range(1, 1001))
    assert now == ("step", 1000, 5.0)


@pytest.fixture
def positioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StepWriter:
    monkeypatch.setattr(module, "SAFE_TO_MMAP", frozenset())
    writer = StepWriter(str(tmp_path / "steps.1"))
    assert not writer.mapped
    return writer


def test_pwrite_stays_out_of_a_reused_descriptor(positioned: StepWriter, tmp_path: Path) -> None:
    positioned.write(1, 1.0, 0.5)
    fd = positioned._file._fd
    hosts = tmp_path / "hosts-own-file"
    hosts.write_bytes(b"precious")
    os.dup2(os.open(hosts, os.O_RDWR), fd)
    write_range(positioned, 2, 40)
    positioned.mark(1, 40, 1.0)
    assert hosts.read_bytes() == b"precious"
    assert kept(tmp_path / "steps.1") == [1]


def test_pwrite_into_a_closed_descriptor_never_raises(positioned: StepWriter) -> None:
    os.close(positioned._file._fd)
    write_range(positioned, 1, 40)
    positioned.mark(1, 40, 1.0)


def test_pwrite_that_fails_never_raises(positioned: StepWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, content: bytes, offset: int) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    write_range(positioned, 1, 40)
    positioned.mark(1, 40, 1.0)


def test_the_filesystem_is_found_by_the_nearest_mount(mount: Mount) -> None:
    tmpfs, ramfs = mount("tmpfs", "size=64k"), mount("ramfs")
    assert filesystem_of(str(tmpfs)) == "tmpfs"
    assert filesystem_of(str(tmpfs / "deep" / "er")) == "tmpfs"
    assert filesystem_of(str(ramfs / "x")) == "ramfs"
    assert filesystem_of(str(tmpfs) + "-beside") not in ("tmpfs", "")
