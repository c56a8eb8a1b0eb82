"""Sample the process and the machine from outside, about once a second, more often when memory gets short."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laststep.record.decode import decode, encode
from laststep.record.folder import SAMPLES
from laststep.record.follow import Follower
from laststep.record.sample import GpuState, Sample, decode_sample
from laststep.record.samples import SampleWriter
from laststep.recorder.guard import attempt
from laststep.supervisor import cgroup, host
from laststep.supervisor.cores import OtherLoadMeter
from laststep.supervisor.gpu import Gpus

SAMPLE_EVERY = 1.0  # seconds, as all below
SAMPLE_EVERY_WHEN_SHORT = 0.2
TREE_EVERY = 5.0
SLOW_EVERY = 5.0  # disks, GPUs and what else takes longer to read
PSS_EVERY = 20.0
PSS_EVERY_WHEN_SLOW = 3600.0
FIRST_PSS_AFTER = 3.0
MAX_PSS_SECONDS = 0.05  # that reading it may take
MIN_SHORT_SHARE = 0.75  # of the memory in use: it gets short
MAX_DISKS = 8


class Watcher:
    """A daemon thread: a file system that hangs may hang it, but neither the signals nor the program."""

    def __init__(
        self, pid: int, run: Path, folders: list[Path], gpus: Gpus, note_groups: Callable[[list[Path]], None]
    ) -> None:
        self.pid = pid
        self._inside = Follower(run)
        self._note_groups = note_groups  # called with the memory groups that the process is in, when these change
        self._samples = SampleWriter(run / SAMPLES)
        self._folders = {str(folder) for folder in folders}
        self._gpus = gpus
        self._others = OtherLoadMeter()
        self._stop = threading.Event()
        self.tree = [pid]
        self.cards: tuple[GpuState, ...] = ()  # GPUs, as last read
        self._groups: list[Path] = []
        self._next_tree = self._next_slow = 0.0
        self._next_pss = time.monotonic() + FIRST_PSS_AFTER
        self._last_cpu: tuple[float, float] | None = None
        self.disks: list[str] = []  # the folders whose disks were last measured
        self.at_sample: list[Callable[[dict[str, Any]], None]] = []  # called with each sample
        self.name = ""  # of the program, which may have replaced itself by another (exec)
        self._thread = threading.Thread(target=self._watch, name="laststep-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(0.3)

    def _watch(self) -> None:
        while not self._stop.is_set():
            sample = self.sample()
            self._samples.write(sample)
            for see in self.at_sample:
                attempt(see, sample)
            self._stop.wait(SAMPLE_EVERY_WHEN_SHORT if is_short(decode_sample(sample)) else SAMPLE_EVERY)

    def sample(self) -> dict[str, Any]:
        now = time.monotonic()
        if now >= self._next_tree:
            self._next_tree = now + TREE_EVERY
            self.tree = host.descendants(self.pid)
            self.name = host.who(self.pid) or self.name
            groups = cgroup.memory_groups(self.pid)
            if groups and groups != self._groups:
                self._groups = groups
                self._note_groups(groups)
        sample = measure(self.pid, self.tree) | {"cpu": self._cpu(now)}
        inside = self._inside.read()
        if inside.beat is not None:
            sample["inside"] = {"phase": inside.now.phase if inside.now else "", **inside.beat._asdict()}
            if inside.calls:
                sample["inside"]["calls"] = inside.calls
        limit = host.cpu_limit(self.pid)
        if limit is not None:
            sample["cpu_limit"], sample["cpu_seconds"] = limit, host.cpu_seconds(self.pid)
        group = cgroup.tightest([cgroup.read_group(folder) for folder in self._groups])
        if group:
            sample["group"] = group
        self._add_slow(sample, now)
        return sample

    def _cpu(self, now: float) -> float | None:
        """Cores in use by the process since the last sample."""
        used = host.cpu_seconds(self.pid)
        if used is None:
            return None
        before, self._last_cpu = self._last_cpu, (now, used)
        if before is None or now <= before[0]:
            return None
        return round((used - before[1]) / (now - before[0]), 3)

    def _add_slow(self, sample: dict[str, Any], now: float) -> None:
        if now >= self._next_pss:
            began = time.monotonic()
            sample["pss"] = host.proportional(self.pid)
            slow = time.monotonic() - began > MAX_PSS_SECONDS
            self._next_pss = now + (PSS_EVERY_WHEN_SLOW if slow else PSS_EVERY)
        if now >= self._next_slow:
            self._next_slow = now + SLOW_EVERY
            sample["pressure"] = host.pressure()
            sample["files"], sample["threads"] = host.open_files(self.pid), host.threads(self.pid)
            sample["faults"] = host.major_faults(self.pid)
            sample["queue"] = host.queueing(self.pid)
            sample["others"] = encode(self._others.measure(now, self.pid, self.tree))
            self._folders |= set(list(host.folders_written_to(self.pid))[:MAX_DISKS])
            disks = {folder: host.disk(folder) for folder in sorted(self._folders)[:MAX_DISKS]}
            self.disks = [folder for folder, disk in disks.items() if disk]
            sample["disks"] = [disk for disk in disks.values() if disk]
            gpus = self._gpus.read()
            if gpus:
                sample["gpus"] = gpus
                self.cards = tuple(decode(GpuState, gpu) for gpu in gpus)


def measure(pid: int, tree: list[int]) -> dict[str, Any]:
    """What every sample has."""
    sizes = {one: host.resident(one) or 0 for one in tree}
    return {
        "t": time.time(),
        "rss": sum(sizes.values()),
        "main_rss": sizes.get(pid, 0),
        "processes": sum(1 for size in sizes.values() if size),
        "host": host.memory(),
        "shm": host.disk(f"/proc/{pid}/root/dev/shm"),  # as the process sees it: it may be in a container
    }


def is_short(sample: Sample) -> bool:
    """Whether memory gets short, in the control group or on the machine."""
    group, machine = sample.group, sample.host
    if group is not None and group.limit and group.used > MIN_SHORT_SHARE * group.limit:
        return True
    return machine.total > 0 and (machine.available or 0) < (1 - MIN_SHORT_SHARE) * machine.total
