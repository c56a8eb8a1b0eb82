"""How long threads wait for a core, and who else uses it; real processes on one core."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from laststep.supervisor import cores, host

SPIN = "import os, time\nend = time.time() + 20\nwhile os.getppid() == %d and time.time() < end: pass"

needs_schedstat = pytest.mark.skipif(
    not os.path.exists("/proc/self/schedstat"), reason="the kernel does not count how long threads wait"
)


@pytest.fixture
def spinners() -> Iterator[list[int]]:
    """Three processes on one core."""
    core = str(max(host.allowed_cores(0)))
    command = ["taskset", "-c", core, sys.executable, "-c", SPIN % os.getpid()]
    running = [subprocess.Popen(command) for _ in range(3)]
    time.sleep(0.5)
    yield [process.pid for process in running]
    for process in running:
        process.kill()
        process.wait()


@needs_schedstat
def test_who_shares_a_core_loses_time_and_who_sleeps_does_not(spinners: list[int]) -> None:
    asleep = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"])
    time.sleep(0.5)
    trees = [[spinners[0]], [asleep.pid]]
    before = [cores.queue_times(tree) for tree in trees]
    time.sleep(2.0)
    lost = [
        cores.seconds_lost(then, cores.queue_times(tree), 2.0, set()) for then, tree in zip(before, trees, strict=True)
    ]
    asleep.kill()
    asleep.wait()
    assert lost[0] > 0.8
    assert lost[1] < 0.1
    assert cores.seconds_lost(before[0], cores.queue_times(trees[0]), 2.0, {spinners[0]}) == 0.0, "a thread of ours"


def test_where_the_kernel_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "cores", lambda: 2.0)
    monkeypatch.setattr(os, "getloadavg", lambda: (10.0, 10.0, 10.0))
    monkeypatch.setattr(host, "pressure", lambda: {"cpu": 98.7})
    assert cores.seconds_lost({}, {}, 10.0, set()) == pytest.approx(8.0)
    monkeypatch.setattr(host, "pressure", lambda: {"cpu": 1.0})
    assert cores.seconds_lost({}, {}, 10.0, set()) == 0.0
    monkeypatch.setattr(host, "pressure", dict)
    assert cores.seconds_lost({}, {}, 10.0, set()) == pytest.approx(8.0), "no pressure is known: the load alone"


def test_the_others_are_named_and_the_runs_own_are_not(spinners: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "MAX_NAMED_PROCESSES", 100)  # other tests may keep the same core busy
    run, *others = spinners
    meter = cores.OtherLoadMeter()
    for pause in (0.0, 1.0, 1.0):
        time.sleep(pause)
        load = meter.measure(time.monotonic(), run, [run])
    assert load is not None
    assert load.of == 1
    assert load.used > 0.4
    named = {process.pid: process for process in load.top}
    assert set(others) <= set(named)
    assert run not in named
    assert named[others[0]].name.startswith("python")


def test_what_its_own_children_use_is_the_runs_own(spinners: list[int]) -> None:
    meter = cores.OtherLoadMeter()
    for pause in (0.0, 1.0, 1.0):
        time.sleep(pause)
        load = meter.measure(time.monotonic(), spinners[0], spinners)
    assert load is not None
    assert not set(spinners) & {process.pid for process in load.top}


def test_nobody_is_looked_at_where_that_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTSTEP_OTHERS", "0")
    meter = cores.OtherLoadMeter()
    assert [meter.measure(float(second), os.getpid(), [os.getpid()]) for second in range(3)] == [None, None, None]


def test_a_name_cannot_move_the_cursor(tmp_path: Path) -> None:
    named = tmp_path / "a\x1b[2Jb"
    named.symlink_to(os.path.realpath("/bin/sleep"))
    process = subprocess.Popen([str(named), "20"])
    time.sleep(0.3)
    name = host.printable_name(process.pid)
    process.kill()
    process.wait()
    assert name == "a?[2Jb"
