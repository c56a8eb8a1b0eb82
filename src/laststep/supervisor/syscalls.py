"""What a thread is blocked in, from /proc: a sleep, a lock, a file, a pipe, a socket and its peer, a child."""

from __future__ import annotations

import os
import platform
import socket
import struct
import time
from pathlib import Path

from laststep.analysis.stacks import STDIN
from laststep.record.events.stacks import Task

_X86 = {
    **{0: "read", 1: "write", 7: "poll", 17: "read", 19: "read", 23: "select", 35: "sleep", 42: "connect"},
    **{43: "accept", 44: "send", 45: "recv", 46: "send", 47: "recv", 61: "wait", 73: "lock-file", 74: "sync"},
    **{75: "sync", 202: "futex", 230: "sleep", 232: "epoll", 247: "wait", 257: "open", 270: "select", 271: "poll"},
    **{281: "epoll", 288: "accept", 299: "recv", 2: "open", 72: "lock-file", 34: "pause", 128: "sigwait"},
}
_ARM = {
    **{63: "read", 64: "write", 65: "read", 67: "read", 73: "poll", 72: "select", 101: "sleep", 203: "connect"},
    **{202: "accept", 206: "send", 207: "recv", 211: "send", 212: "recv", 260: "wait", 32: "lock-file", 82: "sync"},
    **{83: "sync", 98: "futex", 115: "sleep", 22: "epoll", 95: "wait", 56: "open", 242: "accept", 25: "lock-file"},
}
_NAMES = {"x86_64": _X86, "aarch64": _ARM}.get(platform.machine(), {})
ON_A_FILE = {"read", "write", "recv", "send", "connect", "accept", "lock-file", "sync"}
PATH_BYTES = 1024
TIMER_ABSTIME = 1


def blocked_in(pid: int, tid: int) -> Task:
    """A thread's state, its system call and what that is on; an empty task where the thread is gone."""
    task = Path(f"/proc/{pid}/task/{tid}")
    try:
        state = task.joinpath("stat").read_bytes().rpartition(b")")[2].split()[0].decode()
        words = task.joinpath("syscall").read_text().split()
    except (OSError, IndexError):
        return Task()
    if words[0] == "running" or not words[0].isdigit() or len(words) < 7:
        return Task(state=state)
    call = _NAMES.get(int(words[0]), "")
    arguments = [int(word, 16) for word in words[1:7]]
    wakes = _wakes(pid, arguments) if call == "sleep" else None
    return Task(state=state, call=call, on=_object(pid, call, arguments), wakes=wakes)


def _object(pid: int, call: str, arguments: list[int]) -> str:
    if call in ON_A_FILE:
        return STDIN if call == "read" and arguments[0] == 0 else describe_descriptor(pid, arguments[0])
    if call == "open":
        at = 0 if _NAMES.get(2) == "open" and arguments[0] > 1 << 32 else 1
        return _memory(pid, arguments[at], PATH_BYTES).partition(b"\0")[0].decode("utf-8", "replace")
    if call == "poll" and arguments[1]:
        first = _memory(pid, arguments[0], 4)
        return describe_descriptor(pid, struct.unpack("<i", first)[0]) if len(first) == 4 else ""
    return ""


def _wakes(pid: int, arguments: list[int]) -> float | None:
    """In how many seconds a sleep until a fixed time will be over (clock_nanosleep, as Python uses it)."""
    clock, flags, request = arguments[:3]
    until = _memory(pid, request, 16) if clock == time.CLOCK_MONOTONIC and flags == TIMER_ABSTIME else b""
    if len(until) < 16:
        return None
    seconds, nanoseconds = struct.unpack("<qq", until)
    return float(round(seconds + nanoseconds / 1e9 - time.monotonic(), 1))


def _memory(pid: int, address: int, size: int) -> bytes:
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            return os.pread(memory.fileno(), size, address)
    except (OSError, OverflowError, ValueError):
        return b""


def describe_descriptor(pid: int, number: int) -> str:
    try:
        target = os.readlink(f"/proc/{pid}/fd/{number & 0xFFFFFFFF}")
    except OSError:
        return ""
    if target.startswith("socket:["):
        peer = _peer(pid, target[8:-1])
        return f"socket {peer}" if peer else "socket"
    return "pipe" if target.startswith("pipe:[") else target


def _peer(pid: int, inode: str) -> str:
    for name in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 9 and fields[9] == inode:
                return _address(fields[2])
    return ""


def _address(text: str) -> str:
    """0100007F:1F90 → 127.0.0.1:8080; the kernel writes each 32 bits in the machine's own order."""
    host, _, port = text.partition(":")
    words = [struct.pack("<I", int(host[at : at + 8], 16)) for at in range(0, len(host), 8)]
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    return f"{socket.inet_ntop(family, b''.join(words))}:{int(port, 16)}"
