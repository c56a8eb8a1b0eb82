"""Signatures of launches: with the user's own key, so that a command from elsewhere is recognized."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laststep.record.folder import SUPERVISOR_JOURNAL, user_state_directory
from laststep.record.journal import read_entries

if TYPE_CHECKING:
    from laststep.record.events.supervisor import Launch

SIGNATURE = "signature"
KEY_BYTES = 32
GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def signed(launch: dict[str, Any], time: float, folder: Path) -> dict[str, Any]:
    """The fields of a launch with their signature; unsigned if there is no key and none can be created."""
    try:
        return {**launch, SIGNATURE: _signature(_key() or _make_key(), launch, time, folder)}
    except (
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    ):  # no home directory, or it is read-only
        return launch


def why_not_ours(launch: Launch, folder: Path) -> str:
    """Why a launch is not known to be from this user on this machine; "" if it is.

    The signature covers the line as it was written, which may have fields that this version does not read. The line
    must decode to the launch that was read: no other command is covered by it.
    """
    import hmac

    try:
        for path in (folder, folder / SUPERVISOR_JOURNAL):
            if not _is_private(os.lstat(path)):
                return f"{path} belongs to another user, or others may write to it"
        fields = _as_written(launch, folder)
        if fields is None:
            return "its launch is not in the supervisor's journal"
        if launch.signature is None:
            return "it is not signed"
        given, key = fields.pop(SIGNATURE), _key()
        if key is None or not hmac.compare_digest(
            given.encode(), _signature(key, fields, launch.time, folder).encode()
        ):
            return "its signature is not that of this user, this machine and this folder"
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        return f"its signature can't be checked ({error})"
    return ""


def _as_written(launch: Launch, folder: Path) -> dict[str, Any] | None:
    """The fields of this launch in the supervisor's journal; None if it is not there."""
    entries = read_entries(folder / SUPERVISOR_JOURNAL)
    return next(
        (dict(entry.fields) for entry in entries if entry.kind == launch.KIND and entry.decode() == launch), None
    )


def _signature(key: bytes, launch: Mapping[str, Any], time: float, folder: Path) -> str:
    import hmac

    status = os.stat(folder)
    text = json.dumps([launch, time, folder.resolve().name, status.st_ino], sort_keys=True)
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & GROUP_AND_OTHERS and not stat.S_ISLNK(status.st_mode)


def _key() -> bytes | None:
    """The user's key; None if there is none, or if others could have read or written it."""
    try:
        fd = os.open(user_state_directory() / "key", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        key = os.read(fd, KEY_BYTES) if stat.S_ISREG(status.st_mode) and _is_private(status) else b""
        return key if len(key) == KEY_BYTES else None
    finally:
        os.close(fd)


def _make_key() -> bytes:
    """Created atomically: only one key, even if several runs begin at once."""
    home = user_state_directory()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = home / f"key.{os.getpid()}.{os.urandom(4).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, os.urandom(KEY_BYTES))
        os.link(fresh, home / "key")
    except FileExistsError:
        pass
    finally:
        os.close(fd)
        os.unlink(fresh)
    key = _key()
    if key is None:
        raise OSError(f"{home / 'key'} can't be used")
    return key
