"""Python's stack at a fatal signal, by faulthandler, into a file of the run folder."""

from __future__ import annotations

import faulthandler
import os

from laststep.blackbox.journal import move_up
from laststep.recorder import state

PROBE = "faults"


def install() -> None:
    recorder = state.current
    if recorder is None or faulthandler.is_enabled():
        return  # the user's own goes to stderr, as without us; the console's record has it
    path = os.path.join(recorder.folder, "faults")
    fd = move_up(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    faulthandler.enable(file=fd, all_threads=True)
