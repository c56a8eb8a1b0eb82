"""Filesystems of the tests' own: tiny, without safe mapping, or read-only; mounted as root, taken down afterwards."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Mount = Callable[..., Path]


def fill(place: Path) -> None:
    """Take all that is left of a disk, as a program's own output may."""
    with open(place / "hosts-own", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError as full:
            assert full.errno == errno.ENOSPC  # noqa: PT017 - the loop ends in no other way


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """mount("tmpfs", "size=1m") gives an empty folder on such a filesystem."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    mounted: list[Path] = []

    def mount_one(kind: str, options: str = "") -> Path:
        point = tmp_path / f"mounted-{len(mounted)}"
        point.mkdir()
        _mount(["-t", kind, *(["-o", options] if options else []), "none", str(point)])
        mounted.append(point)
        return point

    yield mount_one
    for point in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(point)], check=True)


@pytest.fixture
def small_ext4(tmp_path: Path) -> Iterator[Path]:
    """An ext4 of 4 MB: less than the steps want."""
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        pytest.skip("an ext4 of our own needs root and mkfs.ext4")
    image, point = tmp_path / "disk.img", tmp_path / "ext4"
    point.mkdir()
    with open(image, "wb") as file:
        file.truncate(4 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", str(image)], check=True)
    _mount(["-o", "loop", str(image), str(point)])
    yield point
    subprocess.run(["umount", "--lazy", str(point)], check=True)


def _mount(words: list[str]) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"can't mount here: {done.stderr.strip()}")
