"""Seconds from the program's death to the last byte of the answer on stderr.

The death is what the kernel says about the program's own process (a pidfd turns readable), not what laststep says.
"""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
import time
from typing import Any

import figures
from children import LASTSTEP, environment, program
from figures import Row

TARGET = 1.0


def measure(quick: bool) -> dict[str, Any]:
    times = {"light": 5 if quick else 20, "keras": 1 if quick else 6}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        for number in range(max(times.values())):
            for kind in ("light", "keras"):
                for how in ("kill", "raise"):
                    if number < times[kind]:
                        found.setdefault(f"{kind}, {how}", []).append(_once(kind, how, home))
    return {name: {"seconds": values, **figures.summary(values)} for name, values in found.items()}


def _once(kind: str, how: str, home: str) -> float:
    command = [*LASTSTEP, "run", "--dir", home, "--", *program("die.py", kind, how)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as supervisor:
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        program_pid = _child_of(supervisor.pid)
        watched = os.pidfd_open(program_pid)
        supervisor.stdin.write(b"x")
        supervisor.stdin.close()
        died, answered, text = _watch(watched, supervisor.stderr.fileno())
        os.close(watched)
        said = int(supervisor.stdout.readline())
    if said != program_pid or b"laststep" not in text:
        raise RuntimeError(f"no answer about process {said}: {text[-500:]!r}")
    return answered - died


def _child_of(supervisor: int) -> int:
    """The program among the supervisor's children: the one that is not a fork of itself."""
    while True:
        with open(f"/proc/{supervisor}/task/{supervisor}/children", encoding="ascii") as children:
            for child in children.read().split():
                try:
                    with open(f"/proc/{child}/cmdline", "rb") as command:
                        words = command.read().split(b"\0")
                except OSError:
                    continue
                if words[1:2] and words[1].endswith(b"die.py"):
                    return int(child)
        time.sleep(0.005)


def _watch(death: int, stderr: int) -> tuple[float, float, bytes]:
    """(when it died, when the last byte of the answer came, what came)."""
    died = answered = 0.0
    text = b""
    waiting = [death, stderr]
    while stderr in waiting:
        ready, _, _ = select.select(waiting, [], [])
        now = time.perf_counter()
        if death in ready:
            died = now
            waiting.remove(death)
        if stderr in ready:
            chunk = os.read(stderr, 65536)
            if not chunk:
                waiting.remove(stderr)
            else:
                text, answered = text + chunk, now
    return died, answered, text


def rows(found: dict[str, Any]) -> list[Row]:
    return [
        Row(
            f"death to answer: {name}",
            f"{values['median']:.3f} s, slowest {max(values['seconds']):.3f} s",
            f"IQR {values['low']:.3f} … {values['high']:.3f} s, n={values['rounds']}",
            f"≤ {TARGET:g} s",
            max(values["seconds"]) <= TARGET,
        )
        for name, values in found.items()
    ]
