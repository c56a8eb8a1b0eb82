"""The Python stacks of a process from outside: by py-spy, or by the signal to which faulthandler answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from laststep.record.reading import open_plain, read_plain
from laststep.record.stacks import MOST_THREADS, STACKS, describe_frame, parse_threads, stack_signal
from laststep.supervisor import host

MOST_SECONDS = 2.0  # py-spy takes 0.05 s; on a process that the kernel holds (state D) it would wait for ever
MOST_FRAMES = 60
# py-spy then reads the memory of a process that runs on. Otherwise it pauses it, and a thread that the kernel holds in
# a dead file system would keep all the others paused.
UNDISTURBED = "--nonblocking"
# With --locals: the only variables that are kept, and only where they are whole numbers. Others may hold secrets.
COUNTERS = frozenset(
    ("epoch", "epochs", "initial_epoch", "step", "begin_step", "end_step", "steps", "steps_per_epoch", "iteration", "i")
)
_WHOLE = re.compile(r"-?\d{1,15}")
MOST_STACK_BYTES = 1 << 20
SETTLED = 0.3  # seconds in which faulthandler has written; it takes about 20 ms


def read_stacks(pid: int, folder: Path | None, *more: str) -> tuple[list[dict[str, Any]], str]:
    """(threads, ""), each with its name and system id where known, or ([], why not).

    A folder is given where the recorder may be asked by signal: of a process that does nothing. faulthandler reads the
    frames of the other threads without the interpreter's lock, and where one of them runs, that has crashed programs.
    """
    threads, because = by_spy(pid, *more)
    if threads or folder is None:
        return threads, because
    asked = by_signal(pid, folder)
    for thread in asked:
        if thread["current"]:
            thread["tid"] = pid
    return asked, "" if asked else because


def by_spy(pid: int, *more: str) -> tuple[list[dict[str, Any]], str]:
    program = spy()
    if program is None:
        return [], "py-spy is not installed"
    try:
        done = subprocess.run(
            [program, "dump", "--json", UNDISTURBED, "--pid", str(pid), *more],
            capture_output=True, timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
        told = json.loads(done.stdout) if done.returncode == 0 else []
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return [], f"py-spy: {type(error).__name__}"
    if not told:
        return [], "py-spy: " + (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no answer"])[0]
    return [_thread(thread, pid) for thread in told[:MOST_THREADS]], ""


def spy() -> str | None:
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def _thread(told: dict[str, Any], pid: int) -> dict[str, Any]:
    return {
        "name": told.get("thread_name") or "",
        "tid": told.get("os_thread_id"),
        "current": told.get("os_thread_id") == pid,
        "holds_gil": bool(told.get("owns_gil")),
        "frames": [_frame(frame) for frame in told.get("frames", [])[:MOST_FRAMES]],
    }


def _frame(told: dict[str, Any]) -> dict[str, Any]:
    described = describe_frame(told["filename"], str(told.get("line", "")), str(told["name"]).rpartition(".")[2])
    said = {str(local.get("name")): str(local.get("repr")) for local in told.get("locals") or []}
    counters = {name: int(text) for name, text in said.items() if name in COUNTERS and _WHOLE.fullmatch(text)}
    return described | {"counters": counters} if counters else described


def by_signal(pid: int, folder: Path) -> list[dict[str, Any]]:
    """Ask faulthandler, which needs neither rights nor the interpreter lock. A stopped process does not answer."""
    number = stack_signal()
    if not number or not catches(pid, number):
        return []
    path = folder / STACKS
    before = _make_room(path)
    try:
        os.kill(pid, number)
    except OSError:
        return []
    deadline = time.monotonic() + SETTLED
    while time.monotonic() < deadline:
        time.sleep(0.03)
        text = read_plain(path)[before:].decode("utf-8", "replace")
        if text.endswith("\n") and "Current thread" in text:
            break
    return parse_threads(text)


def _make_room(path: Path) -> int:
    """How long the file is; emptied when it is long: its writer appends (O_APPEND)."""
    try:
        fd = open_plain(path, os.O_WRONLY)
    except OSError:
        return 0
    try:
        size = os.fstat(fd).st_size
        if size > MOST_STACK_BYTES:
            os.ftruncate(fd, 0)
            return 0
        return size
    finally:
        os.close(fd)


def catches(pid: int, number: int) -> bool:
    """A process that does not catch the signal would die of it."""
    return bool(int(host.status(pid, "SigCgt") or "0", 16) >> (number - 1) & 1)
