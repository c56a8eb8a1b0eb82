"""The Python stacks of a process from outside: by py-spy, or by the signal to which faulthandler answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from laststep.record.events.shared import Frame
from laststep.record.events.stacks import ThreadStack
from laststep.record.paths import is_users_path, package_folder
from laststep.record.reading import open_plain, read_plain
from laststep.record.stack_requests import STACKS, stack_signal
from laststep.recorder.frames import source_line
from laststep.supervisor import host

MAX_PY_SPY_SECONDS = 2.0  # it takes 0.05 s; on a process in uninterruptible sleep (state D) it would wait for ever
MAX_THREADS = 64
MAX_FRAMES = 60
# py-spy reads the memory of the running process. Otherwise it pauses the process, and a thread that hangs in a dead
# file system would keep all the others paused.
UNDISTURBED = "--nonblocking"
# With --locals: the only variables that are kept, and only where they are integers. Others may hold secrets.
COUNTERS = frozenset(
    ("epoch", "epochs", "initial_epoch", "step", "begin_step", "end_step", "steps", "steps_per_epoch", "iteration", "i")
)
_INTEGER = re.compile(r"-?\d{1,15}")
_FRAME = re.compile(r'  File "(.+)", line (\d+|\?\?\?) in (.+)')
MAX_STACK_BYTES = 1 << 20
MAX_ANSWER_SECONDS = 0.3  # of faulthandler, which takes about 20 ms

Threads = tuple[ThreadStack, ...]


def read_stacks(pid: int, folder: Path | None, *more: str) -> tuple[Threads, str]:
    """(threads, ""), each with its name and system id where known, or ((), why not).

    The folder is given only for an idle process: then faulthandler may be used. It reads the frames of other threads
    without the GIL, and where one of them was running, that has crashed programs.
    """
    threads, because = by_spy(pid, *more)
    if threads or folder is None:
        return threads, because
    asked = tuple(replace(thread, tid=pid) if thread.current else thread for thread in by_signal(pid, folder))
    return asked, "" if asked else because


def by_spy(pid: int, *more: str, package: str = "") -> tuple[Threads, str]:
    """As read_stacks. `package` is that of the parent's program, for a child whose own stack does not show it."""
    program = spy()
    if program is None:
        return (), "py-spy is not installed"
    try:
        done = subprocess.run(
            [program, "dump", "--json", UNDISTURBED, "--pid", str(pid), *more],
            capture_output=True, timeout=MAX_PY_SPY_SECONDS, check=False,
        )  # fmt: skip
        dump = json.loads(done.stdout) if done.returncode == 0 else []
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return (), f"py-spy: {type(error).__name__}"
    if not dump:
        return (), "py-spy: " + (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no answer"])[0]
    return parse_dump(dump, pid, package), ""


def spy() -> str | None:
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


@dataclass(frozen=True)
class _Call:
    """One frame as it was read; whose it is depends on the whole stack."""

    file: str
    line: int  # 0 where it is not known
    function: str
    counters: Mapping[str, int] = field(default_factory=dict)


def parse_dump(dump: Sequence[Mapping[str, Any]], pid: int, package: str = "") -> Threads:
    """py-spy's JSON."""
    stacks = [[_call(frame) for frame in thread.get("frames", [])] for thread in dump]
    package = _main_package(stacks) or package
    return tuple(
        ThreadStack(
            name=thread.get("thread_name") or "",
            tid=thread.get("os_thread_id"),
            current=thread.get("os_thread_id") == pid,
            holds_gil=bool(thread.get("owns_gil")),
            frames=_frames(calls[:MAX_FRAMES], package),
        )
        for thread, calls in list(zip(dump, stacks, strict=True))[:MAX_THREADS]
    )


def _call(frame: Mapping[str, Any]) -> _Call:
    variables = {str(local.get("name")): str(local.get("repr")) for local in frame.get("locals") or []}
    counters = {name: int(text) for name, text in variables.items() if name in COUNTERS and _INTEGER.fullmatch(text)}
    return _Call(frame["filename"], frame.get("line") or 0, str(frame["name"]).rpartition(".")[2], counters)


def parse_threads(text: str) -> Threads:
    """faulthandler's text: the stack of each thread, innermost frame first."""
    stacks: list[tuple[bool, list[_Call]]] = []
    for line in text.splitlines():
        if line.startswith(("Thread 0x", "Current thread 0x")):
            stacks.append((line.startswith("Current"), []))
        found = _FRAME.match(line)
        if found and stacks:
            stacks[-1][1].append(_Call(found[1], int(found[2]) if found[2].isdigit() else 0, found[3]))
    package = _main_package(calls for _, calls in stacks)
    return tuple(
        ThreadStack(current=current, frames=_frames(calls, package)) for current, calls in stacks[:MAX_THREADS]
    )


def _main_package(stacks: Iterable[Sequence[_Call]]) -> str:
    """The folder of the installed package that is the program itself (`python -m package.module`); "" for any other.

    The stack of the main thread begins in the module that is run; all others begin in a function.
    """
    for calls in stacks:
        outermost = next((call for call in reversed(calls) if "runpy" not in os.path.basename(call.file)), None)
        if outermost is not None and outermost.function == "<module>":
            return package_folder(outermost.file)
    return ""


def package_of(threads: Threads) -> str:
    """The same, from stacks that were read before."""
    own = (package_folder(frame.file) for thread in threads for frame in thread.frames if frame.is_users)
    return next((folder for folder in own if folder), "")


def _frames(calls: Iterable[_Call], package: str) -> tuple[Frame, ...]:
    return tuple(_frame(call, package) for call in calls)


def _frame(call: _Call, package: str) -> Frame:
    own = is_users_path(call.file, package)
    has_text = own and call.line > 0
    return Frame(
        file=os.path.abspath(call.file) if has_text and not call.file.startswith("<") else call.file,
        line=call.line,
        function=call.function,
        text=source_line(call.file, call.line) if has_text else "",
        is_users=own,
        counters=call.counters,
    )


def by_signal(pid: int, folder: Path) -> Threads:
    """Request them from faulthandler, which needs neither permissions nor the GIL. A stopped process gives none."""
    number = stack_signal()
    if not number or not catches(pid, number):
        return ()
    path = folder / STACKS
    before = _make_room(path)
    try:
        os.kill(pid, number)
    except OSError:
        return ()
    deadline = time.monotonic() + MAX_ANSWER_SECONDS
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
        if size > MAX_STACK_BYTES:
            os.ftruncate(fd, 0)
            return 0
        return size
    finally:
        os.close(fd)


def catches(pid: int, number: int) -> bool:
    """A process that does not catch the signal would die of it."""
    return bool(int(host.status(pid, "SigCgt") or "0", 16) >> (number - 1) & 1)
