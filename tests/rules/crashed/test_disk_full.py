"""disk-full: what was free afterwards is shown by folder."""

from __future__ import annotations

from laststep.record.events.supervisor import Aftermath
from laststep.record.sample import DiskSpace
from tests.rules.crashed.ended import ended, raised, says


def test_what_was_free_afterwards_is_told_for_each_folder_that_could_be_read() -> None:
    disks = (
        DiskSpace(path="/data", free=0, total=9),
        DiskSpace(path="/gone"),
        DiskSpace(path="/home", free=52_000_000),
    )
    error = raised("OSError", "[Errno 28] No space left on device: '/data/m.keras'")
    diagnosis = ended(error, Aftermath(time=98.0, disks=disks))
    assert diagnosis.findings[0].rule == "disk-full"
    assert "after the end: 0 B free in /data, 52 MB free in /home" in says(diagnosis)
