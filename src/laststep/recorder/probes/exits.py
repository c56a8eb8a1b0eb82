"""How a program ends itself: sys.exit, os._exit, a signal to itself, exec, the normal end."""

from __future__ import annotations

import _sitebuiltins
import atexit
import json
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
    before(PROBE, sys, "exit", _on_exit_call("sys.exit"))
    before(PROBE, _sitebuiltins.Quitter, "__call__", lambda self, code=None: _on_exit_call("exit")(code))
    before(PROBE, os, "_exit", _on_exit_call("os._exit"))
    before(PROBE, os, "abort", lambda: _on_signal_sent(os.getpid(), signal.SIGABRT, "os.abort"))
    before(PROBE, os, "kill", lambda pid, sig: _on_signal_sent(pid, sig, "os.kill"))
    before(PROBE, os, "killpg", lambda group, sig: _on_signal_sent(group, sig, "os.killpg"))
    before(PROBE, signal, "raise_signal", lambda sig: _on_signal_sent(os.getpid(), sig, "signal.raise_signal"))
    before(PROBE, os, "execv", lambda path, argv: _pass_recorder_on(os.environ))
    before(PROBE, os, "execve", lambda path, argv, env: _pass_recorder_on(env))
    atexit.register(guard, PROBE, _on_exit)


def _on_exit_call(how: str) -> Any:
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


def _on_signal_sent(target: int, sig: int, how: str) -> None:
    recorder = state.current
    is_own_process = target in (os.getpid(), 0) or (how == "os.killpg" and target == os.getpgid(0))
    if recorder is None or not is_own_process or sig == 0:
        return
    recorder.event("signal-sent", signal=_name(sig), how=how, where=users_place(sys._getframe(4)))


def _name(sig: int) -> str:
    try:
        return signal.Signals(sig).name
    except ValueError:
        return f"signal {int(sig)}"


def _pass_recorder_on(env: Any) -> None:
    """A launcher that replaces itself by exec (poetry run, a wrapper) takes the recorder along: same process."""
    recorder = state.current
    if recorder is None or recorder.handover is None or not isinstance(env, MutableMapping):
        return
    here, path = recorder.handover
    env["LASTSTEP_RECORD"] = recorder.folder
    if path is not None:
        env["LASTSTEP_PYTHONPATH"] = path
    env["LASTSTEP_ASKED"] = json.dumps(recorder.options)
    env["PYTHONPATH"] = here + (os.pathsep + path if path else "")


def _on_exit() -> None:
    """The interpreter ends normally. Registered first, so it runs after all other atexit functions."""
    recorder = state.current
    if recorder is None:
        return
    fields: dict[str, Any] = {"steps": recorder.count, "dropped": recorder.dropped}
    error = getattr(sys, "last_value", None)
    if error is not None:  # also if the program replaced our excepthook by its own
        fields["uncaught"] = describe_exception(error, getattr(sys, "last_traceback", None))
    recorder.event("exiting", **fields)
