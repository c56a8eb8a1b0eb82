"""Run folders: created with mode 0700, found by name, pruned from the oldest."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from laststep.record.claim import claimant
from laststep.record.reading import read_plain

HOME_NAME = ".laststep"
SUPERVISOR_JOURNAL = "supervisor.jsonl"
SAMPLES = "samples.jsonl"
CONSOLE = "console"
FAULTS = "faults"
PROVE_RESULTS = "proofs.jsonl"


class NoSuchRun(Exception):
    """Its message is printed as one line."""


def user_data_directory() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "laststep"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "laststep"


def user_state_directory() -> Path:
    if sys.platform == "darwin":
        return user_data_directory()
    chosen = Path(os.environ.get("XDG_STATE_HOME") or "")
    return (chosen if chosen.is_absolute() else Path.home() / ".local" / "state") / "laststep"


def homes(directory: str | None) -> list[Path]:
    """The directories that may hold runs of this working directory, the preferred one first."""
    chosen = directory or os.environ.get("LASTSTEP_DIR")
    if chosen:
        return [Path(chosen).expanduser().absolute()]
    try:
        return [Path.cwd() / HOME_NAME, user_data_directory()]
    except OSError:  # the working directory is gone
        return [user_data_directory()]


def create_run(directory: str | None = None) -> Path:
    """A new empty run folder in the first directory that is writable."""
    trouble: OSError | None = None
    for home in homes(directory):
        try:
            return _create_in(home)
        except OSError as error:
            trouble = error
    raise trouble or OSError("no directory for a run folder")


def _create_in(home: Path) -> Path:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:  # never through a symbolic link: it may point anywhere
        fd = os.open(home / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        os.write(fd, b"*\n")
        os.close(fd)
    except FileExistsError:
        pass
    stamp = time.strftime("%Y%m%d-%H%M%S")
    while True:
        folder = home / f"{stamp}-{os.urandom(2).hex()}"
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder


def is_run(folder: Path) -> bool:
    return folder.is_dir() and ((folder / SUPERVISOR_JOURNAL).exists() or any(folder.glob("recorder.*.jsonl")))


class Listing(NamedTuple):
    """The runs of one directory, newest first, and what in it can't be read."""

    home: Path
    runs: list[Path]
    unreadable: list[str]


def list_home(home: Path) -> Listing:
    """What belongs to another user and can't be read is listed separately."""
    found = Listing(home, [], [])
    try:
        entries = list(home.iterdir()) if home.is_dir() else []
    except OSError as error:
        return Listing(home, [], [f"{home} ({error.strerror})"])
    for folder in entries:
        try:
            if is_run(folder):
                _check_readable(folder)
                found.runs.append(folder)
        except OSError as error:
            found.unreadable.append(f"{folder} ({error.strerror})")
    found.runs.sort(key=lambda folder: (_stamp(folder), folder.name), reverse=True)
    return found


def _check_readable(folder: Path) -> None:
    """PermissionError if the record can't be read."""
    if not any(os.access(folder / name, os.R_OK) for name in os.listdir(folder) if name.endswith(".jsonl")):
        raise PermissionError(errno.EACCES, "Permission denied")


def list_runs(directory: str | None = None, say: Callable[[str], None] | None = None) -> list[Path]:
    """The runs of this working directory, newest first; if it has none, those of the user's data directory."""
    listings = [list_home(home) for home in homes(directory)]
    chosen = next((listing for listing in listings if listing.runs), listings[0])
    if say is not None:
        for listing in listings[: listings.index(chosen) + 1]:
            if listing.unreadable:
                more = f" and {len(listing.unreadable) - 1} more" if len(listing.unreadable) > 1 else ""
                say(f"skipped unreadable: {listing.unreadable[0]}{more}")
        if chosen is not listings[0]:
            say(f"no runs in {listings[0].home}; showing those in {chosen.home}, of all working directories")
    return chosen.runs


def to_stderr(note: str) -> None:
    print(f"laststep: {note}", file=sys.stderr)


def _stamp(folder: Path) -> float:
    """When the run began; the folder's name has it only to the second."""
    try:
        lines = read_plain(folder / SUPERVISOR_JOURNAL, 4096).split(b"\n")
        marker = b'"t":'
        return float(lines[1].split(marker, 1)[1].split(b",", 1)[0])
    except (IndexError, ValueError):
        try:
            return folder.stat().st_mtime
        except OSError:
            return 0.0


def find_run(name: str | None, directory: str | None = None) -> Path:
    """The run with this id, unique prefix or path; without a name, the newest."""
    if name and (os.sep in name or name.startswith(".")):
        folder = Path(name).expanduser()
        if is_run(folder):
            return folder
        raise NoSuchRun(f"{name} is not a run folder")
    if name is None:
        runs = list_runs(directory, to_stderr)
        if not runs:
            raise NoSuchRun("no runs recorded here yet; record one with: laststep run python train.py")
        return runs[0]
    listings = [list_home(home) for home in homes(directory)]
    by_home = [[folder for folder in listing.runs if folder.name.startswith(name)] for listing in listings]
    matching = next(filter(None, by_home), [])
    if not matching and is_run(Path(name)):
        return Path(name)
    if not matching:
        raise NoSuchRun(f"no run {name} here; `laststep runs` lists all")
    exact = [folder for folder in matching if folder.name == name]
    if len(matching) > 1 and not exact:
        raise NoSuchRun(f"{name} matches {len(matching)} runs: {', '.join(folder.name for folder in matching[:4])} …")
    return (exact or matching)[0]


def size_of(folder: Path) -> int:
    """Bytes that the folder takes on disk."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_blocks * 512
        except OSError:
            continue
    return total


def prune(home: Path, keep_runs: int, keep_bytes: int, busy: Path | None = None) -> list[Path]:
    """Delete the oldest runs until both limits hold; a run that is still going on is kept."""
    import shutil

    deleted = []
    total = 0
    for position, folder in enumerate(list_home(home).runs):
        total += size_of(folder)
        if folder == busy or (position < keep_runs and total <= keep_bytes) or is_busy(folder):
            continue
        shutil.rmtree(folder, ignore_errors=True)
        deleted.append(folder)
    return deleted


def hold(folder: Path) -> int:
    """Lock the folder for this process: until it ends, others see that the run is going on."""
    import fcntl

    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return fd


def is_held(folder: Path) -> bool:
    import fcntl

    try:
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:  # a filesystem without locks: no process can hold it
        return False
    finally:
        os.close(fd)


def is_busy(folder: Path) -> bool:
    """Whether a supervisor holds the folder, or the recorded process runs on without one."""
    return is_held(folder) or claimant(str(folder)) != 0
