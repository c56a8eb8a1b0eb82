"""Random SIGKILLs during a stepping run: the folder must always open and hold every step that was announced.

Two ways: processes forked from one that has laststep loaded (fast, a thousand of them; the supervisor's journal is
written beforehand, as `laststep run` does), and some under a whole `laststep run --quiet`. The program says each step's
number on a pipe after laststep.step() has returned.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from children import environment, program, recorded
from figures import Row

from laststep.record.folder import SUPERVISOR_JOURNAL, list_runs
from laststep.record.journal import JournalWriter
from laststep.record.run import DamagedRun, Run

NUMBER = struct.Struct("<Q")
NEWEST = 65535  # of the newest 65,536 one may be in the middle of being written


def measure(quick: bool) -> dict[str, Any]:
    return kill_many(60, 4) if quick else kill_many(960, 40)


def kill_many(forked: int, whole: int) -> dict[str, Any]:
    seed = random.SystemRandom().randrange(1 << 30)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home, ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(kill_forked, home, seed + number) for number in range(forked)]
        jobs += [pool.submit(kill_whole, home, seed + forked + number) for number in range(whole)]
        results = [job.result() for job in jobs]
    return {
        "seed": seed,
        "kills": len(results),
        "seconds": time.perf_counter() - began,
        "unopened": [result for result in results if result["unopened"]],
        "missing": sum(result["missing"] for result in results),
        "unannounced": sum(1 for result in results if not result["announced"]),
        "announced": sum(result["announced"] for result in results),
        "wrapped": sum(1 for result in results if result["announced"] > NEWEST),
    }


def random_delay(rng: random.Random) -> float:
    """Mostly soon after the start, or during it; sometimes so late that the ring has gone round."""
    return rng.uniform(0, 0.04) if rng.random() < 0.85 else rng.uniform(0, 1.2)


def kill_forked(home: str, seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    folder = Path(tempfile.mkdtemp(dir=home))
    journal = JournalWriter(folder / SUPERVISOR_JOURNAL, "supervisor")
    journal.write("run", {"command": ["benchmark"]})
    journal.close()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _step_until_killed(folder, writer)
    os.close(writer)
    announced = _drain_then_kill(reader, child, random_delay(rng))
    os.waitpid(child, 0)
    return _check(folder, announced, seed)


def _step_until_killed(folder: Path, writer: int) -> None:
    """The forked child: it is recorded as any program is, and never returns."""
    try:
        import laststep
        from laststep.recorder.start import start

        start(str(folder))
        number = 0
        while True:
            number += 1
            laststep.step(loss=number)
            os.write(writer, NUMBER.pack(number))
    finally:
        os._exit(1)


def kill_whole(home: str, seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    place = Path(tempfile.mkdtemp(dir=home))
    reader, writer = os.pipe()
    command = recorded(program("stepper.py", writer), place)
    with subprocess.Popen(command, pass_fds=[writer], env=environment(), stdout=subprocess.PIPE) as supervisor:
        os.close(writer)
        assert supervisor.stdout is not None
        announced = _drain_then_kill(reader, int(supervisor.stdout.readline()), random_delay(rng))
    (folder,) = list_runs(str(place))
    return _check(folder, announced, seed)


def _drain_then_kill(reader: int, pid: int, delay: float) -> int:
    """Read announcements until the moment has come, kill, read what is left; the last number announced."""
    deadline = time.perf_counter() + delay
    tail = b""
    while (left := deadline - time.perf_counter()) > 0:
        if select.select([reader], [], [], left)[0]:
            chunk = os.read(reader, 1 << 16)
            if not chunk:
                raise RuntimeError("the stepping program ended by itself")
            tail = (tail + chunk)[-8 - (len(tail) + len(chunk)) % 8 :]
    os.kill(pid, signal.SIGKILL)
    while chunk := os.read(reader, 1 << 16):
        tail = (tail + chunk)[-8 - (len(tail) + len(chunk)) % 8 :]
    os.close(reader)
    whole = len(tail) // 8 * 8
    return int(NUMBER.unpack(tail[whole - 8 : whole])[0]) if whole else 0


def _check(folder: Path, announced: int, seed: int) -> dict[str, Any]:
    result: dict[str, Any] = {"seed": seed, "announced": announced, "missing": 0, "unopened": ""}
    try:
        kept = {step.number for step in Run.load(folder).steps}
        wanted = range(max(1, announced - NEWEST + 1), announced + 1)
        result["missing"] = sum(1 for number in wanted if number not in kept)
    except DamagedRun as error:
        result["unopened"] = str(error)
    shutil.rmtree(folder)
    return result


def rows(found: dict[str, Any]) -> list[Row]:
    detail = f"{found['announced']:,} steps announced, ring wrapped in {found['wrapped']}, {found['seconds']:.0f} s"
    return [
        Row(f"{found['kills']} random SIGKILLs: folders that do not open", str(len(found["unopened"])), detail, "0",
            not found["unopened"]),
        Row(f"{found['kills']} random SIGKILLs: announced steps missing", str(found["missing"]),
            f"seed {found['seed']}", "0", found["missing"] == 0),
    ]  # fmt: skip
