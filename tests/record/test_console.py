"""The console: always the newest part of the output, never more than two files of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laststep.record import console as module
from laststep.record.console import ConsoleWriter, read_console

from .conftest import Mount

CHUNK = 65536  # what the relay reads at once, at most
SHARED_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


@SHARED_FOLDER
@given(chunks=st.lists(st.tuples(st.integers(0, 255), st.integers(0, 40)), max_size=60))
def test_what_is_kept_is_the_newest_part_of_what_was_printed(tmp_path: Path, chunks: list[tuple[int, int]]) -> None:
    place = tmp_path / "console"
    for piece in tmp_path.iterdir():
        piece.unlink()
    patch = pytest.MonkeyPatch()
    patch.setattr(module, "PIECE_BYTES", 300)
    try:
        writer, printed = ConsoleWriter(place), b""
        for byte, size in chunks:
            writer.write(bytes([byte]) * size)
            printed += bytes([byte]) * size
    finally:
        patch.undo()
    kept = read_console(place)
    assert printed.endswith(kept)
    assert len(kept) >= min(len(printed), 300)
    assert len(kept) <= 2 * (300 + 40)


def test_real_sizes_hold(tmp_path: Path) -> None:
    writer = ConsoleWriter(tmp_path / "console")
    for number in range(64):
        writer.write(bytes([number]) * CHUNK)
        assert sum(piece.stat().st_size for piece in tmp_path.iterdir()) <= 2 * (module.PIECE_BYTES + CHUNK)
    assert read_console(tmp_path / "console").endswith(bytes([62]) * CHUNK + bytes([63]) * CHUNK)


def test_the_files_are_ours_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        writer = ConsoleWriter(tmp_path / "console")
        for _ in range(12):
            writer.write(b"x" * CHUNK)
    finally:
        os.umask(old)
    assert {piece.name: piece.stat().st_mode & 0o777 for piece in tmp_path.iterdir()} == {
        "console": 0o600,
        "console.old": 0o600,
    }


def test_a_full_disk_never_raises(mount: Mount) -> None:
    place = mount("tmpfs", "size=128k")
    writer = ConsoleWriter(place / "console")
    for number in range(100):
        writer.write(bytes([number]) * CHUNK)
    assert read_console(place / "console").startswith(b"\0" * CHUNK)


def test_a_folder_that_goes_away_never_raises_and_closes_nobody_elses_file(tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.mkdir()
    writer = ConsoleWriter(place / "console")
    shutil.rmtree(place)
    for _ in range(6):
        writer.write(b"x" * CHUNK)  # the last ones need a new file, which cannot be created
    others = [os.open(tmp_path, os.O_RDONLY) for _ in range(8)]
    for _ in range(6):
        writer.write(b"x" * CHUNK)
    for fd in others:
        os.fstat(fd)
        os.close(fd)


def test_a_folder_that_is_gone_already_never_raises(tmp_path: Path) -> None:
    writer = ConsoleWriter(tmp_path / "gone" / "console")
    writer.write(b"x")


def test_without_a_file_it_is_empty(tmp_path: Path) -> None:
    assert read_console(tmp_path / "console") == b""
