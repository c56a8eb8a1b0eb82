"""Only in a side run: redirect what the program writes, and keep what it would delete."""

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
DEVICE_FOLDERS = ("/dev/", "/proc/", "/sys/")
MAX_COPIED_BYTES = 64 << 20  # of a file to which the program would append
DESTRUCTIVE_CALLS = ("remove", "unlink", "rmdir", "rename", "replace", "truncate")
FILE_IO_MODULE = "tensorflow.python.lib.io.file_io"
SUMMARY_MODULE = "tensorflow.python.ops.summary_ops_v2"

_redirected: dict[str, str] = {}  # the program's path → where it is written instead


def install() -> None:
    recorder = state.current
    if recorder is None or not any(verb in recorder.options for verb in SIDE_RUNS):
        return
    redirect = WriteRedirect(recorder.folder, time.time())
    original = builtins.open
    for owner in (builtins, io):
        patch.replace(PROBE, owner, "open", redirect.wrap_open(original))
    for name in DESTRUCTIVE_CALLS:
        patch.replace(PROBE, os, name, redirect.wrap_destructive(getattr(os, name)))
    when_imported(PROBE, FILE_IO_MODULE, redirect.patch_file_io)
    when_imported(PROBE, SUMMARY_MODULE, redirect.patch_summaries)


class WriteRedirect:
    """Knows which paths are the user's: all except those in the temporary folder that this process created."""

    def __init__(self, folder: str, began: float) -> None:
        self.folder, self.began = os.path.join(folder, "written"), began
        self.temporary, self.project = os.path.realpath(tempfile.gettempdir()), os.path.realpath(os.getcwd())
        os.makedirs(self.folder, mode=0o700, exist_ok=True)

    def is_users(self, path: str) -> bool:
        if path.startswith(DEVICE_FOLDERS) or path.startswith(os.path.dirname(self.folder) + os.sep):
            return False
        if path.startswith(self.project + os.sep) or not path.startswith(self.temporary + os.sep):
            return True
        try:
            existing = path if os.path.lexists(path) else os.path.dirname(path)
            return os.lstat(existing).st_ctime < self.began and existing != self.temporary
        except OSError:
            return True

    def wrap_open(self, original: Any) -> Any:
        @functools.wraps(original)
        def open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            return original(self.redirected_path(file, mode), mode, *args, **kwargs)

        return open

    def redirected_path(self, file: Any, mode: Any) -> Any:
        """The file itself; or a path of ours if it is the user's and would be written to."""
        path = _path(file)
        if path is None or not isinstance(mode, str):
            return file
        if path in _redirected:
            return _redirected[path]
        if not set(mode) & set("wax+") or not self.is_users(path) or not os.path.isdir(os.path.dirname(path)):
            return file
        if "x" in mode and os.path.lexists(path):
            return file  # open raises an error by itself
        return self._redirect(path, keeps_content="w" not in mode)

    def _redirect(self, path: str, keeps_content: bool) -> str:
        new_path = os.path.join(self.folder, f"{len(_redirected)}-{os.path.basename(path)}")
        if keeps_content and os.path.isfile(path) and os.path.getsize(path) <= MAX_COPIED_BYTES:
            shutil.copyfile(path, new_path)
        _redirected[path] = new_path
        return new_path

    def wrap_destructive(self, original: Any) -> Any:
        """Does nothing to the user's files; a program that cleans up before training continues as if it had."""

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            paths = [_path(value, kwargs.get("dir_fd")) for value in (*args, *kwargs.values())]
            if any(self.is_users(path) for path in paths if path is not None):
                return None
            return original(*args, **kwargs)

        return wrapper

    def patch_file_io(self, module: ModuleType) -> None:
        for name in ("delete_file_v2", "delete_recursively_v2", "rename_v2", "delete_file", "delete_recursively"):
            if hasattr(module, name):
                patch.replace(PROBE, module, name, self.wrap_destructive(getattr(module, name)))

    def patch_summaries(self, module: ModuleType) -> None:
        original = module.create_file_writer_v2

        @functools.wraps(original)
        def create_file_writer_v2(logdir: Any, *args: Any, **kwargs: Any) -> Any:
            return original(os.path.join(self.folder, "summaries"), *args, **kwargs)

        patch.replace(PROBE, module, "create_file_writer_v2", create_file_writer_v2)


def _path(file: Any, folder: int | None = None) -> str | None:
    """The real path; None if it is not a path. `folder` is an open descriptor, as shutil.rmtree passes them."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        return None
    try:
        base = os.readlink(f"/proc/self/fd/{folder}") if folder is not None else ""
        return os.path.realpath(os.path.join(base, os.fsdecode(file)))
    except (OSError, TypeError, ValueError):
        return os.fsdecode(file)
