"""What a thread is blocked in: real processes that sleep, wait for a lock, a pipe, a FIFO, a peer."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.stacks import Task
from laststep.supervisor import syscalls
from laststep.supervisor.snapshot import take_snapshot
from laststep.supervisor.syscalls import blocked_in, describe_descriptor

pytestmark = pytest.mark.skipif(not syscalls._NAMES, reason="system calls are known of Linux on x86-64 and ARM only")
Start = Callable[..., int]


@pytest.fixture
def start() -> Iterator[Start]:
    """start(code) → the pid, once it stands where it was sent."""
    running: list[subprocess.Popen[bytes]] = []

    def begin(code: str, *words: str, **more: Any) -> int:
        process = subprocess.Popen(
            [sys.executable, "-c", f"import os, sys, time, socket, threading, fcntl\n{code}", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more,
        )  # fmt: skip
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"READY\n"
        return process.pid

    yield begin
    for process in running:
        process.kill()
        process.communicate()


READY = "print('READY', flush=True)\n"


def settled(pid: int, call: str, tid: int | None = None) -> Task:
    """What it is blocked in, once it is that."""
    deadline = time.monotonic() + 10
    while True:
        data = blocked_in(pid, tid or pid)
        if data.call == call or time.monotonic() > deadline:
            return data
        time.sleep(0.02)


def test_who_sleeps_and_when_it_wakes(start: Start) -> None:
    pid = start(READY + "time.sleep(40)")
    began = time.monotonic()
    data = settled(pid, "sleep")
    assert (data.state, data.call, data.on) == ("S", "sleep", "")
    assert data.wakes is not None
    assert data.wakes == pytest.approx(40 - (time.monotonic() - began), abs=5)
    time.sleep(0.5)
    assert (blocked_in(pid, pid).wakes or 0.0) <= data.wakes - 0.3


def test_a_wait_with_a_timeout_is_no_sleep(start: Start) -> None:
    pid = start(READY + "threading.Event().wait(1000)")
    data = settled(pid, "futex")
    assert data.call == "futex"
    assert data.wakes is None


def test_a_lock(start: Start) -> None:
    pid = start("lock = threading.Lock()\nlock.acquire()\n" + READY + "lock.acquire()")
    assert settled(pid, "futex") == Task(state="S", call="futex")


def test_the_opening_of_a_pipe_without_a_writer(start: Start, tmp_path: Path) -> None:
    fifo = tmp_path / "a däta fifo"
    os.mkfifo(fifo)
    data = settled(start(READY + "open(sys.argv[1])", str(fifo)), "open")
    assert (data.call, data.on) == ("open", str(fifo))


def test_the_reading_of_a_pipe(start: Start) -> None:
    data = settled(start("r, w = os.pipe()\n" + READY + "os.read(r, 1)"), "read")
    assert (data.call, data.on) == ("read", "pipe")


def test_a_pipe_that_nobody_reads(start: Start) -> None:
    data = settled(start("r, w = os.pipe()\n" + READY + "os.write(w, bytes(10**6))"), "write")
    assert (data.call, data.on) == ("write", "pipe")


@pytest.mark.parametrize("host,shown", [("127.0.0.1", "127.0.0.1"), ("::1", "::1")])
def test_a_peer_that_does_not_answer(start: Start, host: str, shown: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError:
            pytest.skip(f"no {host} here")
        server.listen()
        port = server.getsockname()[1]
        pid = start(f"s = socket.create_connection(({host!r}, {port}))\n" + READY + "s.recv(1)")
        data = settled(pid, "recv")
        assert (data.call, data.on) == ("recv", f"socket {shown}:{port}")
        timed = start(f"s = socket.create_connection(({host!r}, {port}), timeout=60)\n" + READY + "s.recv(1)")
        assert settled(timed, "poll").on == f"socket {shown}:{port}", "with a timeout Python polls first"


def test_a_peer_that_does_not_take_what_is_sent(start: Start) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        code = f"s = socket.create_connection(('127.0.0.1', {port}))\n" + READY + "s.sendall(bytes(10**8))"
        data = settled(start(code), "send")
        assert (data.call, data.on) == ("send", f"socket 127.0.0.1:{port}")


def test_a_socket_without_a_peer(start: Start) -> None:
    pid = start("a, b = socket.socketpair()\n" + READY + "a.recv(1)")
    assert settled(pid, "recv").on == "socket"


def test_a_child_that_does_not_end(start: Start) -> None:
    code = (
        "pid = os.fork()\nif not pid:\n    os.close(1)\n    time.sleep(5)\n    os._exit(0)\n"
        + READY
        + "os.waitpid(pid, 0)"
    )
    assert settled(start(code), "wait").call == "wait"


def test_a_file_that_another_has_locked(start: Start, tmp_path: Path) -> None:
    import fcntl

    with open(tmp_path / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        data = settled(start("f = open(sys.argv[1])\n" + READY + "fcntl.flock(f, 2)", str(file.name)), "lock-file")
        assert (data.call, data.on) == ("lock-file", file.name)


def test_who_computes_is_blocked_in_nothing(start: Start) -> None:
    pid = start(READY + "while True: pass")
    data = blocked_in(pid, pid)
    assert (data.call, data.on) == ("", "")
    assert data.wakes is None


def test_each_thread_by_itself(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    code = "threading.Thread(target=open, args=(sys.argv[1],), daemon=True).start()\n" + READY + "time.sleep(60)"
    pid = start(code, str(tmp_path / "fifo"))
    assert settled(pid, "sleep").call == "sleep"
    (other,) = [int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid]
    assert settled(pid, "open", other).on == str(tmp_path / "fifo")


def test_a_process_that_is_gone_is_nothing(start: Start) -> None:
    assert blocked_in(2**22 + 5, 2**22 + 5) == Task()
    assert describe_descriptor(2**22 + 5, 0) == ""
    assert describe_descriptor(os.getpid(), 999_999) == ""


def test_memory_that_cannot_be_read_is_empty() -> None:
    assert syscalls._memory(os.getpid(), 0, 16) == b""
    assert syscalls._memory(os.getpid(), 2**70, 16) == b""
    assert syscalls._memory(2**22 + 5, 4096, 16) == b""


@pytest.mark.parametrize(
    "text,address",
    [
        ("0100007F:1F90", "127.0.0.1:8080"),
        ("00000000000000000000000001000000:0050", "::1:80"),
        ("0000000000000000FFFF00000100007F:01BB", "::ffff:127.0.0.1:443"),
    ],
)
def test_addresses_as_the_kernel_writes_them(text: str, address: str) -> None:
    assert syscalls._address(text) == address


def test_a_snapshot_tells_a_sleep_from_a_loop_of_short_ones(start: Start) -> None:
    long = start("def nap():\n    time.sleep(50)\n" + READY + "nap()")
    short = start(READY + "while True: time.sleep(0.4)")
    settled(long, "sleep")
    threads = take_snapshot(long, [long], None).threads
    if not threads:
        pytest.skip("py-spy cannot read stacks here")
    assert 40 < (threads[0].wakes or 0.0) < 50
    assert threads[0].cpu < 0.2
    for _ in range(3):
        assert take_snapshot(short, [short], None).threads[0].wakes is None


def test_a_server_of_its_own_is_no_network(start: Start) -> None:
    code = "s = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(s.getsockname())\n"
    pid = start(code + READY + "c.recv(1)")
    settled(pid, "recv")
    threads = take_snapshot(pid, [pid], None).threads
    if not threads:
        pytest.skip("py-spy cannot read stacks here")
    assert threads[0].on == "a socket of its own"


def test_a_snapshot_while_the_process_ends_is_no_error(start: Start) -> None:
    pid = start(READY + "sys.stdin.read(1)")
    threading.Timer(0.3, os.kill, (pid, 9)).start()
    assert take_snapshot(pid, [pid], None).pid == pid
