"""Child processes that have TensorFlow loaded while the recorded one does not train: a launcher's workers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from laststep.record.claim import claimant
from laststep.record.decode import encode
from laststep.record.events.supervisor import Child
from laststep.record.journal import JournalWriter
from laststep.record.redact import hide_secrets

MAX_NOTED = 8
MAX_PROCESSES = 64  # that are looked at
MAX_WORDS, MAX_WORD_CHARS = 30, 200  # of a command that are kept
FIRST_WAIT_SECONDS, WAIT_FACTOR = 1.0, 1.5  # between two looks at one process
LIBRARY = b"/tensorflow/"  # in the paths of the files that a process has mapped


class ChildWatcher:
    """Asked at each sample; ends by itself once the recorded process trains."""

    def __init__(self, pid: int, folder: Path, journal: JournalWriter) -> None:
        self._pid, self._folder, self._journal = pid, folder, journal
        self._next: dict[int, tuple[float, float]] = {}  # pid → when to look again, and how long to wait after that
        self.commands: list[list[str]] = []  # of those that were noted

    def see(self, sample: dict[str, Any]) -> None:
        if (sample.get("inside") or {}).get("step") or len(self.commands) >= MAX_NOTED:
            return
        recorded = claimant(str(self._folder))
        for pid in _tree(self._pid):
            if pid != recorded and self._is_due(pid) and _has_tensorflow(pid):
                self._next[pid] = (float("inf"), 0.0)
                self._note(pid, recorded)

    def _is_due(self, pid: int) -> bool:
        now = time.monotonic()
        due, wait = self._next.get(pid, (now, FIRST_WAIT_SECONDS))
        if now >= due:
            self._next[pid] = (now + wait, wait * WAIT_FACTOR)
        return now >= due

    def _note(self, pid: int, recorded: int) -> None:
        command = _command(pid)
        if recorded and command == _command(recorded):
            return  # a fork of the recorded process: it has loaded nothing itself
        self.commands.append(command)
        child = Child(pid=pid, command=tuple(hide_secrets(command)))
        self._journal.write(Child.KIND, encode(child))


def _tree(pid: int) -> list[int]:
    """The process and its descendants, by the kernel's lists of children."""
    found = [pid]
    for each in found:
        found += _children(each)
        if len(found) >= MAX_PROCESSES:
            break
    return found[:MAX_PROCESSES]


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (OSError, ValueError):
        return []


def _has_tensorflow(pid: int) -> bool:
    try:
        return LIBRARY in Path(f"/proc/{pid}/maps").read_bytes()
    except OSError:
        return False


def _command(pid: int) -> list[str]:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return []
    return [word.decode("utf-8", "replace")[:MAX_WORD_CHARS] for word in words[:MAX_WORDS]]
