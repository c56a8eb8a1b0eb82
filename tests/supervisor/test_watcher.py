"""The watcher's samples of a real process: what is measured now and then is known in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from laststep.record.sample import HostMemory, MemoryGroup, Sample
from laststep.supervisor.gpu import Gpus
from laststep.supervisor.watcher import Watcher, is_short


def test_the_disks_are_known_between_two_readings(tmp_path: Path) -> None:
    with open(tmp_path / "written", "w"):
        watcher = Watcher(os.getpid(), tmp_path, [tmp_path], Gpus(), lambda groups: None)
        first, second = watcher.sample(), watcher.sample()
    assert str(tmp_path) in [disk["path"] for disk in first["disks"]]
    assert "disks" not in second
    assert str(tmp_path) in watcher.disks


@pytest.mark.parametrize(
    "host,group,short",
    [
        (HostMemory(total=100, available=60), None, False),
        (HostMemory(total=100, available=20), None, True),
        (HostMemory(), None, False),  # not known
        (HostMemory(total=100, available=60), MemoryGroup(used=8, limit=10), True),
        (HostMemory(total=100, available=60), MemoryGroup(used=7, limit=10), False),
        (HostMemory(total=100, available=60), MemoryGroup(used=7), False),  # not limited
    ],
)
def test_when_memory_is_short(host: HostMemory, group: MemoryGroup | None, short: bool) -> None:
    assert is_short(Sample(time=1.0, host=host, group=group)) is short
