"""Watch a process that laststep did not start, from outside and without pausing it: a Run of what can be seen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from laststep.analysis.stacks import SnapshotView
from laststep.record.decode import decode
from laststep.record.event import Event
from laststep.record.events.shared import Frame
from laststep.record.events.stacks import Attached, Snapshot, Stall
from laststep.record.events.supervisor import Launch, Limits
from laststep.record.run import Run
from laststep.record.sample import GpuState, HostMemory, MemoryGroup, Sample, decode_sample
from laststep.supervisor import cgroup, host, moves, target
from laststep.supervisor.gpu import Gpus
from laststep.supervisor.moves import TimedView
from laststep.supervisor.snapshot import take_snapshot
from laststep.supervisor.stacks import MAX_FRAMES, Threads, by_spy
from laststep.supervisor.target import CannotAttach
from laststep.supervisor.watcher import measure
from laststep.text import format_place

SNAPSHOT_EVERY = 1.0  # seconds
LAST_SNAPSHOT_SECONDS = 1.5  # that the last one takes, which shows more
PY_SPY_OPTIONS = ("--locals",)
MAX_READS = 6  # of the stacks, for one snapshot
OUTERMOST = ("<module>", "_run_module_as_main")
MIN_GPU_PERCENT = 5
ProcessUse = Mapping[int, tuple[float, float]]  # by process: CPU seconds and bytes read and written so far


def attach(pid: int, seconds: float) -> Run:
    """Take a snapshot about once a second; then say what it is, what it does, and whether it makes progress."""
    target.check_is_there(pid)
    return ProcessWatch(pid, seconds).watch()


class ProcessWatch:
    """One process, while it is being watched."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid = pid
        self.seconds = seconds
        self._self = target.identity(pid)
        self._gpus = Gpus()
        self._groups = cgroup.memory_groups(pid)
        self._views: list[TimedView] = []
        self._samples: list[Sample] = []
        self._because = ""

    def watch(self) -> Run:
        began, used = time.monotonic(), self._use()
        self._round()
        counted, turns = time.monotonic(), self._turns()
        while (left := began + self.seconds - LAST_SNAPSHOT_SECONDS - time.monotonic()) > 0:
            time.sleep(min(SNAPSHOT_EVERY, left))
            self._round()
        if not self._views:
            raise CannotAttach(target.why_not(self.pid, self._because))
        snapshot = self._last_snapshot()
        now = time.monotonic()
        took, wakes = now - began, (self._turns() - turns) / (now - counted)
        cpu, io = _rates(used, self._use(), took)
        snapshot = replace(
            snapshot, seconds=round(took, 1), watched=True, wakes=wakes, still=wakes == 0.0, cpu=cpu, io=io
        )
        return self._run(replace(snapshot, phase=moves.phase_of(SnapshotView(snapshot))))

    def _round(self) -> None:
        threads = self._read_stacks()
        if threads:
            self._keep(threads)
        self._samples.append(self._sample())

    def _keep(self, threads: Threads) -> None:
        self._views.append(TimedView(time.monotonic(), SnapshotView(Snapshot(threads=threads))))

    def _read_stacks(self) -> Threads:
        """The process keeps running: where it runs fast, a good half of the reads fail or miss the outer frames."""
        before = None
        for _ in range(MAX_READS):
            threads, self._because = by_spy(self.pid, *PY_SPY_OPTIONS)
            self._still_there()
            outermost = outermost_frame(threads)
            if is_whole(threads) or (outermost is not None and outermost == before):
                return threads
            if not threads and not target.can_be_read(self.pid):
                raise CannotAttach(target.why_not(self.pid, self._because))
            before = outermost
        return ()

    def _still_there(self) -> None:
        at = format_place(self._views[-1].view.main.place) if self._views else ""
        if target.identity(self.pid) != self._self:
            last = f"; it was last seen at {at}" if at else ""
            raise CannotAttach(
                f"process {self.pid} ended while laststep watched it{last}. To learn why it ends: laststep run …"
            )
        if target.state_of(self.pid) == "T":
            raise CannotAttach(target.stopped(self.pid, at))

    def _sample(self) -> Sample:
        fields = measure(self.pid, host.descendants(self.pid))
        fields["group"] = cgroup.tightest([cgroup.read_group(folder) for folder in self._groups])
        fields["gpus"] = self._gpus.read()
        return decode_sample(fields)

    def _last_snapshot(self) -> Snapshot:
        snapshot = take_snapshot(self.pid, host.descendants(self.pid), None, *PY_SPY_OPTIONS)
        self._still_there()
        if is_whole(snapshot.threads):
            self._keep(snapshot.threads)
        else:  # its stacks could not be read this time: those before will do
            snapshot = replace(snapshot, threads=self._views[-1].view.snapshot.threads)
        self._samples.append(self._sample())
        return snapshot

    def _use(self) -> ProcessUse:
        return {one: (host.cpu_seconds(one) or 0.0, host.moved_bytes(one)) for one in host.descendants(self.pid)}

    def _turns(self) -> int:
        """How often the main thread was scheduled on a core so far."""
        return target.switches(self.pid).get(self.pid, 0)

    def _run(self, snapshot: Snapshot) -> Run:
        now = time.time()
        idle = SnapshotView(snapshot).idle and not self._gpu_computes(snapshot)
        state = moves.state_of(self._views, idle, snapshot.wakes or 0.0)
        launch = target.launch_of(self.pid)
        events: list[Event] = [launch, self._limits(now), self._attached(launch, snapshot, state, now)]
        self._still_there()  # what was read while it ended means nothing
        if state in ("stuck", "busy", "waking"):
            snapshot = replace(snapshot, time=now)
            events.append(Stall.of(snapshot) if state == "stuck" else snapshot)
        events = [replace(event, source="attach") for event in events]
        return Run(f"process {self.pid}", tuple(events), samples=self._samples, alive=True)

    def _gpu_computes(self, snapshot: Snapshot) -> bool:
        """Where the processes on a GPU are not visible (in a container), any load counts if it has a GPU open."""
        pids = {self.pid, *(child.pid for child in snapshot.children)}
        busy = [gpu for sample in self._samples for gpu in sample.gpus if (gpu.busy or 0) >= MIN_GPU_PERCENT]
        known = [gpu for gpu in busy if any(holder.pid in pids for holder in gpu.held_by)]
        return bool(known) or (bool(busy) and target.holds(self.pid, "/dev/nvidia"))

    def _limits(self, now: float) -> Limits:
        return Limits(
            time=now,
            memory=decode(HostMemory, host.memory()),
            cores=host.cores(),
            gpus=tuple(decode(GpuState, gpu) for gpu in self._gpus.read()),
            no_gpus_because=self._gpus.because,
            groups=tuple(decode(MemoryGroup, cgroup.describe_group(folder)) for folder in self._groups),
        )

    def _attached(self, launch: Launch, snapshot: Snapshot, state: str, now: float) -> Attached:
        last = self._views[-1].view
        counters = moves.counters_of(last)
        rate, quiet = self._pace()
        recorded = target.run_folder_of(self.pid)
        return Attached(
            time=now,
            command=launch.command,
            cwd=launch.cwd,
            pid=self.pid,
            python=target.python_version(self.pid),
            tensorflow=target.has_tensorflow(self.pid),
            recorded=str(recorded) if recorded else None,
            seconds=snapshot.seconds,
            state=state,
            quiet=round(quiet, 1),
            long_enough=moves.is_long_enough(SnapshotView(snapshot), snapshot.seconds),
            phase=snapshot.phase,
            where=last.main.place,
            counters={name: value for name, value in counters.items() if name != "of_fit"},
            steps_per_second=rate,
            progress=moves.progress(counters, rate),
            snapshots=len(self._views),
            profile=moves.profile(self._views),
            wakes=round(snapshot.wakes or 0.0, 2),
            cpu=snapshot.cpu,
            io=snapshot.io,
            busy_threads=snapshot.busy_threads,
            native_threads=len(target.switches(self.pid)),
            holds_interpreter=self._holds_interpreter(),
            threads=snapshot.threads,
            children=snapshot.children,
            files=target.files_of(self.pid),
        )

    def _pace(self) -> tuple[float | None, float]:
        """(steps per second, 0), or (None, seconds) where steps ran at first and none for so long since."""
        rate, quiet = moves.pace(self._views), moves.quiet_since(self._views)
        return (None, quiet) if rate is not None and rate * quiet > moves.MIN_OVERDUE_STEPS else (rate, 0.0)

    def _holds_interpreter(self) -> bool:
        """Whether one thread had the GIL in every snapshot: C code that does not release it."""
        stacks = [each.view.snapshot.threads for each in self._views]
        holders = [next((thread.tid for thread in threads if thread.holds_gil), None) for threads in stacks]
        return len(holders) >= moves.MIN_SNAPSHOTS and holders[0] is not None and len(set(holders)) == 1


def _rates(before: ProcessUse, after: ProcessUse, seconds: float) -> tuple[float, int]:
    """Cores and bytes per second of the process and its present children, those started meanwhile included."""
    cpu = sum(cpu - before.get(pid, (0.0, 0.0))[0] for pid, (cpu, _) in after.items())
    moved = sum(moved - before.get(pid, (0.0, 0.0))[1] for pid, (_, moved) in after.items())
    return round(cpu / seconds, 3), round(moved / seconds)


def is_whole(threads: Threads) -> bool:
    """Whether the main thread's stack goes down to where a program begins, or was cut by us."""
    outermost = outermost_frame(threads)
    return outermost is not None and (outermost.function in OUTERMOST or len(_frames(threads)) == MAX_FRAMES)


def outermost_frame(threads: Threads) -> Frame | None:
    return next(reversed(_frames(threads)), None)


def _frames(threads: Threads) -> tuple[Frame, ...]:
    return next((thread.frames for thread in threads if thread.current), ())
