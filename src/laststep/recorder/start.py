"""Start recording: claim the run for this process, install each probe when the host imports its library."""

from __future__ import annotations

import importlib
import os
import resource
import sys

from laststep.record.claim import CLAIM, claimed_by_another, start_time
from laststep.record.journal import MIN_OWN_FD
from laststep.recorder import imports, patch, state
from laststep.recorder.guard import Unsupported, guard, on_failure

_PROBES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes")
# The rest would see our own fits.
_IN_A_SIDE_RUN = {"side_run.py", "untouched.py", "exceptions.py", "exits.py", "hand_loop.py"}


def start(folder: str, restore: tuple[str, str | None] | None = None, asked: str = "") -> bool:
    """Record this process into the folder; False if another living process of the run does already.

    `restore` is what sitecustomize took out of the environment: its folder, and PYTHONPATH as it was before;
    `asked` is what a command wants of it beyond recording (state.Recorder.asked).
    """
    if os.environ.get("LASTSTEP_OFF") == "1" or state.current is not None or _few_files() or not _claim(folder):
        return False
    recorder = state.Recorder(folder)
    recorder.handover = restore
    recorder.asked = dict(word.partition("=")[::2] for word in asked.split(";") if word)
    state.current = recorder
    recorder.event(
        "recorder",
        pid=recorder.pid,
        python=sys.version.split()[0],
        executable=sys.executable,
        platform=sys.platform,
        **({"profile": recorder.asked["profile"]} if "profile" in recorder.asked else {}),
    )
    on_failure(_tell_failure)
    os.register_at_fork(after_in_child=_stand_aside)
    for name in sorted(os.listdir(_PROBES)):
        wanted = name in _IN_A_SIDE_RUN or not recorder.is_side_run
        if name.endswith(".py") and name != "__init__.py" and wanted:
            guard(name[:-3], _install, name[:-3])
    return True


def _few_files() -> bool:
    """Ours have numbers above those of the program; where there are none, it would miss those that we take."""
    return 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] < MIN_OWN_FD + 16


def _install(name: str) -> None:
    importlib.import_module(f"laststep.recorder.probes.{name}").install()


def _tell_failure(probe: str, error: Exception, given_up: bool) -> None:
    if given_up:
        patch.restore(probe)
    if state.current is None:
        return
    if isinstance(error, Unsupported):
        state.current.event("probe", name=probe, state="unsupported", because=str(error))
        return
    because = f"{type(error).__name__}: {error}"
    state.current.event("probe", name=probe, state="removed" if given_up else "failed", because=because)


def _stand_aside() -> None:
    """A forked child is not the run: it leaves the parent's files alone."""
    state.current = None
    imports.remove()


def stop() -> None:
    """Put everything back (for tests and for a second start in the same process)."""
    patch.restore()
    imports.remove()
    if state.current is not None:
        state.current.journal.close()
        state.current = None


def _claim(folder: str) -> bool:
    """Only one living process of a run is recorded; after an exec, or when it is dead, the next one may be."""
    path = os.path.join(folder, CLAIM)
    for _ in range(2):
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            if claimed_by_another(folder):
                return False
            os.unlink(path)
            continue
        os.write(fd, f"{os.getpid()} {start_time(os.getpid())}".encode())
        os.close(fd)
        return True
    return False
