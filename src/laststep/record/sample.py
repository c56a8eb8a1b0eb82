"""Sample: what the supervisor measured at one moment, of the process and its machine; one line of samples.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from laststep.record.decode import decode, key


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMemory:
    """The machine's memory, in bytes."""

    SPARSE: ClassVar[tuple[str, ...]] = ("available",)

    total: int = 0  # 0 where it is not known
    available: int | None = None
    swap_total: int = 0
    swap_free: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryGroup:
    """A memory control group, in bytes; None for what this kernel does not have."""

    SPARSE: ClassVar[tuple[str, ...]] = ("group", "limit", "peak", "swap", "cache", "kills", "hits")

    group: str = ""  # its folder; not in samples, which hold the tightest group only
    used: int = 0
    limit: int | None = None  # None: not limited
    peak: int | None = None
    swap: int | None = None
    cache: int | None = None  # inactive file pages, which the kernel drops first
    kills: int | None = None  # processes that the kernel has killed in it so far
    hits: int | None = None  # how often the limit was reached so far


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """Pressure stall information: per cent of the last ten seconds in which some task waited for it."""

    SPARSE: ClassVar[tuple[str, ...]] = ("memory", "io", "cpu")

    memory: float | None = None
    io: float | None = None
    cpu: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSpace:
    """The filesystem that holds a folder, in bytes."""

    path: str = ""  # the folder
    free: int | None = None  # for users other than root
    total: int = 0
    inodes_free: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuHolder:
    """A process that holds memory of a GPU."""

    pid: int
    used: int | None = None  # bytes; None where the driver does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """One GPU by NVML; None for what could not be read."""

    SPARSE: ClassVar[tuple[str, ...]] = ("used", "total", "busy", "celsius", "error", "capability")

    gpu: int = 0  # its index
    used: int | None = None  # bytes
    total: int | None = None  # bytes
    busy: int | None = None  # per cent
    celsius: int | None = None
    held_by: tuple[GpuHolder, ...] = ()  # the first 8 processes
    error: str = ""  # why nothing could be read of it
    capability: str = ""  # compute capability, as in 8.9; only in `limits`


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherProcess:
    """A process that is not of this run, and the cores that it uses."""

    pid: int = 0
    name: str = ""
    cores: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLoad:
    """What processes that are not of this run use of the cores on which it may run."""

    of: int  # cores on which the run may run
    used: float  # cores in use by others, since the last time
    top: tuple[OtherProcess, ...] = ()  # who; only where others use a good part


@dataclass(frozen=True, slots=True, kw_only=True)
class LastBeat:
    """The recorder's last heartbeat, as the supervisor read it from the steps file."""

    phase: str = ""  # "" where the recorder has not set one
    number: int = 0  # of the beat
    time: float | None = None
    step: int = 0  # steps that are complete
    pulse: int = 0  # signs of life that are no training steps
    waited: float | None = None  # seconds spent waiting for data, in all
    waiting: float = 0.0  # seconds that the wait going on now has lasted; 0.0: there is none
    calls: int = 0  # of Python by the input pipeline; 0 where they are not counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One measurement from outside, about one a second; what is measured less often is None or empty in between."""

    SPARSE: ClassVar[tuple[str, ...]] = (
        *("cpu", "inside", "cpu_limit", "cpu_seconds", "group", "pss", "pressure", "files", "threads", "faults"),
        *("queue", "others", "disks", "gpus"),
    )

    time: float = field(metadata=key("t"))
    rss: int = 0  # bytes, of the process and its descendants
    main_rss: int = 0  # bytes, of the process alone
    processes: int | None = None  # that are alive, the process included
    host: HostMemory = field(default_factory=HostMemory)
    shm: DiskSpace | None = None  # /dev/shm as the process sees it
    cpu: float | None = None  # cores in use by the process since the sample before; None in the first one
    inside: LastBeat | None = None  # None until the recorder has written one
    cpu_limit: float | None = None  # seconds of processor time after which the kernel kills the process
    cpu_seconds: float | None = None  # used so far; only where there is such a limit
    group: MemoryGroup | None = None  # the control group with the least headroom; None: nothing is limited
    pss: int | None = None  # bytes, of the process, shared pages counted in parts
    pressure: Pressure = field(default_factory=Pressure)
    files: int | None = None  # open in the process
    threads: int | None = None  # of the process
    faults: int | None = None  # pages that had to be read from a disk so far
    queue: tuple[float, float] | None = None  # seconds that living threads ran, and that they waited for a core
    others: OtherLoad | None = None
    disks: tuple[DiskSpace, ...] = ()  # of the folders that the process writes to
    gpus: tuple[GpuState, ...] = ()

    @property
    def step(self) -> int:
        """Training steps that were complete; 0 also where the recorder has said nothing yet."""
        return self.inside.step if self.inside is not None else 0


def decode_sample(fields: Mapping[str, Any]) -> Sample:
    """A sample of what was measured. ValueError where it has no time."""
    return decode(Sample, fields)
