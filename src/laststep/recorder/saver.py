"""Save the model of the open fit once before the process dies: between two steps, in the training thread."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import ctypes
import os
import signal
import threading
import time
from typing import Any

from laststep.recorder import state
from laststep.recorder.guard import attempt, guard

PROBE = "saving"
FOLDER = "saved"
GRACE_SECONDS = 25.0  # after SIGTERM a step may take so long to end; then the process dies as it would have without us


class Saver:
    """A step checks `is_wanted` only. The model is saved at most once, even if the attempt fails."""

    def __init__(self, recorder: state.Recorder) -> None:
        self.is_wanted = False
        self._recorder = recorder
        self._is_done = False
        self._reason = ""
        self._terminated_at = 0.0

    def request(self, reason: str) -> None:
        if not self._is_done:
            self._reason = self._reason or reason
            self.is_wanted = True

    def save(self, model: Any) -> None:
        """Called between two steps; training waits until the model is written."""
        self.is_wanted = False
        if not self._is_done and model is not None:
            self._is_done = True
            guard(PROBE, self._save, model)
        if self._terminated_at:
            die()

    def _save(self, model: Any) -> None:
        began = time.time()
        folder = os.path.join(self._recorder.folder, FOLDER)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path, because = _write(model.save, folder, "model", ".keras")
        if not path:
            path, _ = _write(model.save_weights, folder, "model", ".weights.h5")
        size = os.path.getsize(path) if path else 0
        fields = {"path": path or None, "bytes": size, "seconds": round(time.time() - began, 3), "why": self._reason}
        self._recorder.event("saved", step=self._recorder.count, because=because or None, **fields)

    def catch_terminate(self) -> None:
        """While a fit is open, and only if SIGTERM would kill the program without further notice."""
        is_main_thread = threading.current_thread() is threading.main_thread()
        if is_main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminate)

    def release_terminate(self) -> None:
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGTERM) == self._terminate:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _terminate(self, number: int, frame: Any) -> None:
        if not self._recorder.open_fits or self._is_done:
            die()
        self._terminated_at = self._terminated_at or time.monotonic()
        self.is_wanted, self._reason = True, self._reason or "SIGTERM"

    def beat(self) -> None:
        if self._terminated_at and time.monotonic() - self._terminated_at > GRACE_SECONDS and not self._is_done:
            die()


def _write(save: Any, folder: str, name: str, ending: str) -> tuple[str, str]:
    """(path, "") or ("", the error). Written under another name first, so that `path` is never a partial file."""
    path, part = (os.path.join(folder, f"{name}{mark}{ending}") for mark in ("", ".part"))
    _, problem = attempt(save, part)
    if not problem:
        _, problem = attempt(_finish, part, path)
    if problem:
        attempt(os.unlink, part)
    return ("", problem) if problem else (path, "")


def _finish(part: str, path: str) -> None:
    fd = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(part, path)


def die() -> None:
    """Die of SIGTERM, as without us. Through the C library: only the main thread may set a handler in Python."""
    ctypes.CDLL(None).signal(int(signal.SIGTERM), 0)
    _signal.raise_signal(signal.SIGTERM)  # not through `signal`, which a probe would record as the program's own call
