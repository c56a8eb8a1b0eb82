"""The ways in which a program leaves by itself: sys.exit, os._exit, a signal to itself, exec, the normal end."""

from __future__ import annotations

import _sitebuiltins
import atexit
import os
import signal
import sys
from collections.abc import MutableMapping
from typing import Any

from laststep.recorder import state
from laststep.recorder.frames import describe_exception, number, users_place
from laststep.recorder.guard import guard
from laststep.recorder.patch import before

PROBE = "exits"


def install() -> None:
    before(PROBE, sys, "exit", _exit("sys.exit"))
    before(PROBE, _sitebuiltins.Quitter, "__call__", lambda self, code=None: _exit("exit")(code))
    before(PROBE, os, "_exit", _exit("os._exit"))
    before(PROBE, os, "abort", lambda: _sent(os.getpid(), signal.SIGABRT, "os.abort"))
    before(PROBE, os, "kill", lambda pid, sig: _sent(pid, sig, "os.kill"))
    before(PROBE, os, "killpg", lambda group, sig: _sent(group, sig, "os.killpg"))
    before(PROBE, signal, "raise_signal", lambda sig: _sent(os.getpid(), sig, "signal.raise_signal"))
    before(PROBE, os, "execv", lambda path, argv: _go_along(os.environ))
    before(PROBE, os, "execve", lambda path, argv, env: _go_along(env))
    atexit.register(guard, PROBE, _exiting)


def _exit(how: str) -> Any:
    def record(status: Any = None) -> None:
        recorder = state.current
        if recorder is None:
            return
        fit = recorder.open_fits[-1] if recorder.open_fits else None
        recorder.event(
            "exit-call",
            how=how,
            status=number(status),
            message=str(status)[:500] if isinstance(status, str) else None,
            where=users_place(sys._getframe(3)),
            fit=fit.id if fit else None,
            epoch=fit.epoch if fit else None,
            steps=recorder.count,
        )

    return record


def _sent(target: int, sig: int, how: str) -> None:
    recorder = state.current
    mine = target in (os.getpid(), 0) or (how == "os.killpg" and target == os.getpgid(0))
    if recorder is None or not mine or sig == 0:
        return
    recorder.event("signal-sent", signal=_name(sig), how=how, where=users_place(sys._getframe(4)))


def _name(sig: int) -> str:
    try:
        return signal.Signals(sig).name
    except ValueError:
        return f"signal {int(sig)}"


def _go_along(env: Any) -> None:
    """A launcher that replaces itself (poetry run, a wrapper) takes the recorder with it: it stays the same process."""
    recorder = state.current
    if recorder is None or recorder.handover is None or not isinstance(env, MutableMapping):
        return
    here, path = recorder.handover
    env["LASTSTEP_RECORD"] = recorder.folder
    if path is not None:
        env["LASTSTEP_PYTHONPATH"] = path
    env["LASTSTEP_ASKED"] = ";".join(f"{name}={value}" for name, value in recorder.options.items())
    env["PYTHONPATH"] = here + (os.pathsep + path if path else "")


def _exiting() -> None:
    """The interpreter is at its normal end. Registered first, so it runs after all others."""
    recorder = state.current
    if recorder is None:
        return
    data: dict[str, Any] = {"steps": recorder.count, "dropped": recorder.dropped}
    error = getattr(sys, "last_value", None)
    if error is not None:  # also when the program put a hook of its own in our hook's place
        data["uncaught"] = describe_exception(error, getattr(sys, "last_traceback", None))
    recorder.event("exiting", **data)
