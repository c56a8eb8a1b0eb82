"""Only in a side run: what the program writes goes elsewhere, what it would delete stays, until we leave."""

from __future__ import annotations

import builtins
import functools
import io
import os
import shutil
import tempfile
import time
from types import ModuleType
from typing import Any

from laststep.recorder import patch, state
from laststep.recorder.imports import when_imported

PROBE = "untouched"
SIDE_RUNS = ("tune", "prove", "replay")
DEVICES = ("/dev/", "/proc/", "/sys/")
MOST_COPIED = 64 << 20  # bytes of a file that the program would add to
DESTRUCTIVE = ("remove", "unlink", "rmdir", "rename", "replace", "truncate")
FILE_IO = "tensorflow.python.lib.io.file_io"
SUMMARIES = "tensorflow.python.ops.summary_ops_v2"

_elsewhere: dict[str, str] = {}  # the program's path → where its writing is


def install() -> None:
    recorder = state.current
    if recorder is None or not any(verb in recorder.options for verb in SIDE_RUNS):
        return
    keeper = WriteRedirect(recorder.folder, time.time())
    plain = builtins.open
    for owner in (builtins, io):
        patch.replace(PROBE, owner, "open", keeper.opening(plain))
    for name in DESTRUCTIVE:
        patch.replace(PROBE, os, name, keeper.sparing(getattr(os, name)))
    when_imported(PROBE, FILE_IO, keeper.watch_file_io)
    when_imported(PROBE, SUMMARIES, keeper.watch_summaries)


class WriteRedirect:
    """Knows which paths are the user's: all but those in the temporary folder that this very process made."""

    def __init__(self, folder: str, began: float) -> None:
        self.folder, self.began = os.path.join(folder, "written"), began
        self.temporary, self.project = os.path.realpath(tempfile.gettempdir()), os.path.realpath(os.getcwd())
        os.makedirs(self.folder, mode=0o700, exist_ok=True)

    def is_users(self, path: str) -> bool:
        if path.startswith(DEVICES) or path.startswith(os.path.dirname(self.folder) + os.sep):
            return False
        if path.startswith(self.project + os.sep) or not path.startswith(self.temporary + os.sep):
            return True
        try:
            made = path if os.path.lexists(path) else os.path.dirname(path)
            return os.lstat(made).st_ctime < self.began and made != self.temporary
        except OSError:
            return True

    def opening(self, plain: Any) -> Any:
        @functools.wraps(plain)
        def open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            return plain(self.instead(file, mode), mode, *args, **kwargs)

        return open

    def instead(self, file: Any, mode: Any) -> Any:
        """The file itself; or, where it is the user's and would be written to, a place of ours."""
        path = _path(file)
        if path is None or not isinstance(mode, str):
            return file
        if path in _elsewhere:
            return _elsewhere[path]
        if not set(mode) & set("wax+") or not self.is_users(path) or not os.path.isdir(os.path.dirname(path)):
            return file
        if "x" in mode and os.path.lexists(path):
            return file  # it refuses by itself
        return self._make(path, keep="w" not in mode)

    def _make(self, path: str, keep: bool) -> str:
        chosen = os.path.join(self.folder, f"{len(_elsewhere)}-{os.path.basename(path)}")
        if keep and os.path.isfile(path) and os.path.getsize(path) <= MOST_COPIED:
            shutil.copyfile(path, chosen)
        _elsewhere[path] = chosen
        return chosen

    def sparing(self, plain: Any) -> Any:
        """Does nothing to what is the user's; a program that cleans up before it trains goes on as if it had."""

        @functools.wraps(plain)
        def spare(*args: Any, **kwargs: Any) -> Any:
            paths = [_path(value, kwargs.get("dir_fd")) for value in (*args, *kwargs.values())]
            if any(self.is_users(path) for path in paths if path is not None):
                return None
            return plain(*args, **kwargs)

        return spare

    def watch_file_io(self, module: ModuleType) -> None:
        for name in ("delete_file_v2", "delete_recursively_v2", "rename_v2", "delete_file", "delete_recursively"):
            if hasattr(module, name):
                patch.replace(PROBE, module, name, self.sparing(getattr(module, name)))

    def watch_summaries(self, module: ModuleType) -> None:
        plain = module.create_file_writer_v2

        @functools.wraps(plain)
        def create_file_writer_v2(logdir: Any, *args: Any, **kwargs: Any) -> Any:
            return plain(os.path.join(self.folder, "summaries"), *args, **kwargs)

        patch.replace(PROBE, module, "create_file_writer_v2", create_file_writer_v2)


def _path(file: Any, folder: int | None = None) -> str | None:
    """Where it really is; None for what is no path. `folder` is an open one, as shutil.rmtree names them."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        return None
    try:
        base = os.readlink(f"/proc/self/fd/{folder}") if folder is not None else ""
        return os.path.realpath(os.path.join(base, os.fsdecode(file)))
    except (OSError, TypeError, ValueError):
        return os.fsdecode(file)
