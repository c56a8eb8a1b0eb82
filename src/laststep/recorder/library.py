"""laststep as a library: start() and step() inside a notebook or a script."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

from laststep.recorder import state
from laststep.recorder.frames import users_place, users_stack
from laststep.recorder.guard import attempt, guard
from laststep.recorder.probes import exceptions

if TYPE_CHECKING:
    from pathlib import Path


def start_here(directory: str | None) -> str:
    """Record this process, and start a second one that watches it from outside."""
    from laststep.record.folder import create_run
    from laststep.recorder.start import start
    from laststep.settings import read_settings

    if state.current is not None:
        return os.path.basename(state.current.folder)
    if os.environ.get("LASTSTEP_OFF") == "1":
        return ""
    folder = create_run(read_settings({"dir": directory}).dir)
    start(str(folder))
    _spawn_watcher(folder)
    guard("library", _watch_cells)
    return folder.name


def _watch_cells() -> None:
    """In a notebook an exception ends the cell, not the program: IPython reports it after each cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        shell.events.register("post_run_cell", lambda result: guard("library", _cell_ended, result))


def _cell_ended(result: Any) -> None:
    error = getattr(result, "error_in_exec", None)
    if error is not None:
        exceptions.record(error, error.__traceback__, "cell")


def _spawn_watcher(folder: Path) -> None:
    import subprocess

    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    code = f"import sys; sys.path.insert(0, {package!r}); from laststep.supervisor.beside import main; main()"
    # Through a shell that exits at once: os.wait() in the program must not find a child that it did not start.
    command = ["/bin/sh", "-c", '"$@" &', "sh", sys.executable, "-c", code, str(folder), str(os.getpid())]
    try:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).wait()
    except OSError as error:
        if state.current is not None:
            state.current.event("probe", name="watcher", state="unsupported", because=str(error))


def step_done(loss: float | None) -> None:
    """Does nothing if this process is not recorded: a script may keep its calls."""
    if state.current is not None:
        guard("library", _step, state.current, loss)


def _step(recorder: state.Recorder, loss: float | None) -> None:
    if recorder.count == 0:
        frame = sys._getframe(3)  # this function, the guard, step_done
        recorder.event("loop", where=users_place(frame), function=None, stack=users_stack(frame))
    number, _ = attempt(float, math.nan if loss is None else loss)
    recorder.hand_step(math.nan if number is None else number)
