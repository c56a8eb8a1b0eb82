"""Watch a process that was not started by us: the second process behind `laststep.start()`."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path

from laststep.record.claim import start_time
from laststep.record.decode import encode
from laststep.record.events.supervisor import ProcessEnd
from laststep.supervisor.autopsy import Autopsy, signal_of_fault, tidy
from laststep.supervisor.foresee import Forecaster
from laststep.supervisor.gpu import Gpus
from laststep.supervisor.kernel_log import KernelLog
from laststep.supervisor.launch import describe_run, open_journal
from laststep.supervisor.watcher import Watcher


def main() -> None:
    """Arguments: the run folder and the process to watch. Ends when the process does, and prints nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a notebook's stop button is for the notebook
    watch_beside(Path(sys.argv[1]), int(sys.argv[2]))


def watch_beside(folder: Path, pid: int) -> None:
    born = start_time(pid)
    began = time.time()
    journal = open_journal(folder)
    describe_run(journal, _command(pid), began)
    gpus = Gpus()
    autopsy = Autopsy(journal, folder, gpus, KernelLog())
    autopsy.before([Path.cwd(), folder])
    watcher = Watcher(pid, folder, [Path.cwd(), folder], gpus, autopsy.note_groups)
    watcher.at_sample.append(Forecaster(folder, pid, journal, None, False).see)
    watcher.start()
    _wait_for_end(pid, born)
    ended = time.time()
    watcher.stop()
    autopsy.after(watcher.tree, [str(Path.cwd()), str(folder)])
    # It is not our child, and only its parent gets its exit status.
    end = ProcessEnd(signal=signal_of_fault(folder), seconds=max(0.0, ended - began), pid=pid, beside=True)
    journal.write(end.KIND, encode(end), at=ended)
    journal.close()
    tidy(folder)


def _command(pid: int) -> list[str]:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    return [word.decode("utf-8", "replace") for word in words if word]


def _wait_for_end(pid: int, born: str) -> None:
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        while start_time(pid) == born != "":
            time.sleep(0.5)
        return
    select.select([handle], [], [])
    os.close(handle)
