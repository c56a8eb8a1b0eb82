"""Which checkpoint, saved model or backup a library was reading when it raised an error."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Any

LIBRARIES = frozenset({"keras", "tf_keras", "tensorflow"})
# Functions that read a file, and the argument that names it.
READERS = {
    **{"load_weights": "filepath", "load_model": "filepath", "load": "export_dir"},
    **{"restore": "save_path", "read": "save_path", "NewCheckpointReader": "filepattern"},
}


def file_being_loaded(traceback: TracebackType | None) -> dict[str, str] | None:
    """The path as it was given to the outermost reader; for a backup, its folder and the file in it."""
    backup, paths = "", []
    while traceback is not None:
        frame, traceback = traceback.tb_frame, traceback.tb_next
        if str(frame.f_globals.get("__name__")).partition(".")[0] in LIBRARIES:
            owner = frame.f_locals.get("self")
            if type(owner).__name__ == "BackupAndRestore":
                backup = _text(getattr(owner, "backup_dir", ""))
                paths = [_text(getattr(owner, "_training_metadata_path", ""))]
            paths.append(_path_in(frame))
    paths = [path for path in paths if path]
    if backup:
        return {"file": (paths or [backup])[-1], "backup": backup}
    return {"file": paths[0]} if paths else None


def _path_in(frame: FrameType) -> str:
    variables, name = frame.f_locals, frame.f_code.co_name
    if name == "error_handler":  # Keras removes the reader's frame from the traceback; this frame wraps it
        return _argument(variables, getattr(variables.get("fn"), "__name__", ""))
    return _text(variables.get(READERS.get(name, "")))


def _argument(variables: Mapping[str, Any], name: str) -> str:
    positional, named = list(variables.get("args") or ()), variables.get("kwargs") or {}
    return _text(named.get(READERS[name], next(iter(positional[1:]), ""))) if name in READERS else ""


def _text(path: Any) -> str:
    return os.fspath(path)[:500] if isinstance(path, str) or hasattr(type(path), "__fspath__") else ""
