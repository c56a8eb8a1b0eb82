"""Save the model of the open fit once, when its end is near: at a step's end, in the training's own thread."""

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
GRACE = 25.0  # seconds after SIGTERM in which a step may end; then the process dies as it would have without us


class Saver:
    """`is_wanted` is all that a step looks at. Once means once: also when the one attempt failed."""

    def __init__(self, recorder: state.Recorder) -> None:
        self.is_wanted = False
        self._recorder = recorder
        self._is_done = False
        self._why = ""
        self._terminated_at = 0.0

    def want(self, why: str) -> None:
        if not self._is_done:
            self._why = self._why or why
            self.is_wanted = True

    def save(self, model: Any) -> None:
        """Called between two steps. What the model costs to write, training waits for."""
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
        told = {"path": path or None, "bytes": size, "seconds": round(time.time() - began, 3), "why": self._why}
        self._recorder.event("saved", step=self._recorder.count, because=because or None, **told)

    def catch_terminate(self) -> None:
        """While a fit is open, and only where the program would die of SIGTERM without a word."""
        mine = threading.current_thread() is threading.main_thread()
        if mine and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminate)

    def release_terminate(self) -> None:
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGTERM) == self._terminate:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _terminate(self, number: int, frame: Any) -> None:
        if not self._recorder.open_fits or self._is_done:
            die()
        self._terminated_at = self._terminated_at or time.monotonic()
        self.is_wanted, self._why = True, self._why or "SIGTERM"

    def beat(self) -> None:
        if self._terminated_at and time.monotonic() - self._terminated_at > GRACE and not self._is_done:
            die()


def _write(save: Any, folder: str, name: str, ending: str) -> tuple[str, str]:
    """(path, "") or ("", why not): under another name first, so that what is called by its name is whole."""
    path, part = (os.path.join(folder, f"{name}{mark}{ending}") for mark in ("", ".part"))
    _, trouble = attempt(save, part)
    if not trouble:
        _, trouble = attempt(_finish, part, path)
    if trouble:
        attempt(os.unlink, part)
    return ("", trouble) if trouble else (path, "")


def _finish(part: str, path: str) -> None:
    fd = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(part, path)


def die() -> None:
    """Of SIGTERM, as without us. By the C library: only the main thread may ask Python for the default."""
    ctypes.CDLL(None).signal(int(signal.SIGTERM), 0)
    _signal.raise_signal(signal.SIGTERM)  # not by `signal`, where it would be noted as the program's own doing
