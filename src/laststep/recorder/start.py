"""Start recording: claim the run for this process, install each probe when the host imports its library."""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys

from laststep.record.claim import CLAIM, claimed_by_another, start_time
from laststep.record.journal import MIN_OWN_FD
from laststep.recorder import imports, patch, state
from laststep.recorder.guard import Unsupported, guard, on_failure

_PROBES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes")
# The other probes would observe our own fits.
_SIDE_RUN_PROBES = {"side_run.py", "untouched.py", "exceptions.py", "exits.py", "hand_loop.py"}


def start(folder: str, restore: tuple[str, str | None] | None = None, options: str = "") -> bool:
    """Record this process into the folder; returns False if another live process of the run is recorded already.

    `restore` is what sitecustomize removed from the environment: its folder, and the original PYTHONPATH;
    `options` is what a command requests beyond recording, as JSON (see state.Recorder.options).
    """
    if os.environ.get("LASTSTEP_OFF") == "1" or state.current is not None:
        return False
    if _has_few_descriptors():
        return _refuse(folder, "the limit on open files (ulimit -n) is too low for the recorder", "Raise that limit")
    if not _claim(folder):
        return False
    recorder = state.Recorder(folder)
    recorder.handover = restore
    recorder.options = json.loads(options) if options else {}
    state.current = recorder
    recorder.event(
        "recorder",
        pid=recorder.pid,
        python=sys.version.split()[0],
        executable=sys.executable,
        platform=sys.platform,
        **({"profile": recorder.options["profile"]} if "profile" in recorder.options else {}),
    )
    on_failure(_record_failure)
    os.register_at_fork(after_in_child=_disable_in_child)
    for name in sorted(os.listdir(_PROBES)):
        is_wanted = name in _SIDE_RUN_PROBES or not recorder.is_side_run
        if name.endswith(".py") and name != "__init__.py" and is_wanted:
            guard(name[:-3], _install, name[:-3])
    return True


def _has_few_descriptors() -> bool:
    """Our descriptors have high numbers. If the limit is too low for that, the program would lack those we take."""
    return 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] < MIN_OWN_FD + 16


def _refuse(folder: str, because: str, does: str) -> bool:
    """Tell the supervisor why this process is not recorded, and what to do."""
    try:
        with open(os.path.join(folder, "refused"), "w") as file:
            file.write(f"{because}\n{does}")
    except OSError:
        pass
    return False


def _install(name: str) -> None:
    importlib.import_module(f"laststep.recorder.probes.{name}").install()


def _record_failure(probe: str, error: Exception, is_removed: bool) -> None:
    if is_removed:
        patch.restore(probe)
    if state.current is None:
        return
    if isinstance(error, Unsupported):
        state.current.event("probe", name=probe, state="unsupported", because=str(error))
        return
    message = f"{type(error).__name__}: {error}"
    state.current.event("probe", name=probe, state="removed" if is_removed else "failed", because=message)


def _disable_in_child() -> None:
    """A forked child is not recorded: it must not touch the parent's files."""
    state.current = None
    imports.remove()


def stop() -> None:
    """Restore everything (for tests, and for a second start in the same process)."""
    patch.restore()
    imports.remove()
    if state.current is not None:
        state.current.journal.close()
        state.current = None


def _claim(folder: str) -> bool:
    """Only one live process of a run is recorded; once it has called exec or died, another may take its place."""
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
