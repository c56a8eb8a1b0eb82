"""Which process records into a run folder: its pid and start time, so that a reused pid is not mistaken for it."""

from __future__ import annotations

import os

CLAIM = "recorded"  # name of the file


def start_time(pid: int) -> str:
    """When a process started, in kernel clock ticks; together with the pid this identifies one process for good."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError, OverflowError):
        return ""


def claimant(folder: str) -> int:
    """The pid of the live process that records into the folder; 0 if there is none."""
    from laststep.record.reading import read_plain

    pid, _, started = read_plain(os.path.join(folder, CLAIM), 100).decode("ascii", "replace").partition(" ")
    is_alive = pid.isdecimal() and started != "" and start_time(int(pid)) == started
    return int(pid) if is_alive else 0


def claimed_by_another(folder: str) -> bool:
    return claimant(folder) not in (0, os.getpid())
