"""What the supervisor writes from outside: the launch, the machine before and after, signals, the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from laststep.record.decode import key
from laststep.record.event import Event
from laststep.record.events.shared import SeenLine
from laststep.record.events.stacks import ThreadStack
from laststep.record.place import Place
from laststep.record.sample import DiskSpace, GpuState, HostMemory, MemoryGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Event):
    """The launch of the program: command, folder, host, environment, version of laststep."""

    KIND: ClassVar[str] = "run"

    command: tuple[str, ...] = ()
    cwd: str = ""
    host: str = ""
    system: str = ""  # name and release of the kernel
    laststep: str = ""  # version
    supervisor: int = 0  # its pid
    previous: str | None = None  # the run after which this one was started again
    environment: Mapping[str, str] = field(default_factory=dict)  # the variables that matter for training
    similar: tuple[str, ...] = ()  # scripts with a name like that of the command's, where there is none of that name
    signature: str | None = None  # over the other fields as written, the time and the folder; None: not signed


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """The processor's model, and which of the instruction sets that TensorFlow's builds use it has."""

    model: str = ""
    has: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Event):
    """Memory limits, counters of kills, cores, disks and GPUs at the start; control groups in events of their own."""

    KIND: ClassVar[str] = "limits"

    machine_kills: int | None = None  # processes killed for memory since the machine booted
    memory: HostMemory = field(default_factory=HostMemory)
    cores: float | None = None  # that the program may use
    processor: Processor | None = None
    disks: tuple[DiskSpace, ...] = ()
    gpus: tuple[GpuState, ...] = ()
    no_gpus_because: str | None = None
    no_kernel_log_because: str | None = None  # None: it can be read
    job_ends: float | None = None  # the time at which the batch system will end the job
    groups: tuple[MemoryGroup, ...] = ()  # those that the process was first seen in now, its own first


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The process that sent a signal."""

    pid: int
    name: str = ""  # "" where it was gone already


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReceived(Event):
    """A signal that reached the supervisor and was passed on, or that laststep sent to end a run that was stuck."""

    KIND: ClassVar[str] = "signal"

    signal: str = ""  # as in SIGTERM
    by: str = ""  # terminal, process or laststep
    sender: Sender | None = None  # None unless it came from a process
    to_group: bool = False  # to the whole process group


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd(Event):
    """The process ended: its exit code, or the signal that killed it."""

    KIND: ClassVar[str] = "end"
    SPARSE: ClassVar[tuple[str, ...]] = ("at_line", "text")

    code: int | None = None  # None where a signal killed it, or where it is not known
    signal: str | None = None  # as in SIGKILL
    seconds: float | None = None  # since the launch
    pid: int | None = None
    name: str = ""  # of the program, which may have replaced itself by another
    beside: bool = False  # not started by laststep: only its own parent gets the exit code
    at_line: int = 0  # of a bare log
    text: str = ""  # of that line


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeProcess:
    """A process that uses much of the machine's memory."""

    pid: int = 0
    name: str = ""
    rss: int = 0  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath(Event):
    """The same counters as in `limits`, read again after the end."""

    KIND: ClassVar[str] = "aftermath"

    groups: tuple[MemoryGroup, ...] = ()
    machine_kills: int | None = None  # processes killed for memory since the machine booted
    memory: HostMemory = field(default_factory=HostMemory)
    largest: tuple[LargeProcess, ...] = ()  # on the machine, the largest first
    disks: tuple[DiskSpace, ...] = ()
    tree: tuple[int, ...] = ()  # pids of the process and its descendants, as last seen


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLine(Event):
    """A line of the kernel's log during the run: out of memory, a segmentation fault, an error of a GPU or a disk."""

    KIND: ClassVar[str] = "kernel"

    line: str = ""  # its text
    at_line: int = 0  # of a bare log
    text: str = ""  # of that line of the log


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Event):
    """Python's stacks at the moment of a fatal signal, as faulthandler wrote them."""

    KIND: ClassVar[str] = "fault"

    head: str = ""  # as in "Segmentation fault"
    threads: tuple[ThreadStack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderMissing(Event):
    """laststep could not look inside the process, and why."""

    KIND: ClassVar[str] = "blind"
    SPARSE: ClassVar[tuple[str, ...]] = ("does", "instead")

    because: str = ""
    does: str = ""  # what to do so that it can; "" where that is not known
    instead: str = ""  # the line to type instead, or to add to the program


@dataclass(frozen=True, slots=True, kw_only=True)
class Child(Event):
    """A child process that had TensorFlow loaded, and that the recorder was not in."""

    KIND: ClassVar[str] = "child"

    pid: int = 0
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeding(Event):
    """Where the input pipeline's Python was while steps waited for data, in a few snapshots."""

    KIND: ClassVar[str] = "feeding"

    share: float | None = None  # of the time before, spent waiting
    each: float | None = None  # seconds waited in a step
    steps: int = 0  # over which that was measured
    snapshots: int = field(default=0, metadata=key("looks"))  # that were taken
    lines: tuple[SeenLine, ...] = ()  # the most frequent first


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPace:
    """One rank on this machine, and in how many snapshots it was at work."""

    rank: int | None = None
    pid: int = 0
    at_work: int = 0
    lines: tuple[SeenLine, ...] = ()  # where, the most frequent first


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace(Event):
    """How often each rank on this machine was at work, and not waiting in the step, in a few snapshots."""

    KIND: ClassVar[str] = "pace"

    snapshots: int = field(default=0, metadata=key("looks"))  # that were taken, one per second
    ranks: tuple[RankPace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MovingAgain(Event):
    """A run that was stuck makes progress again."""

    KIND: ClassVar[str] = "moving-again"

    after: float = 0.0  # seconds without progress
    phase: str = ""  # in which it was stuck


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Event):
    """When memory runs out if it keeps growing at this rate: in how many seconds, at which step, and what holds it."""

    KIND: ClassVar[str] = "forecast"

    seconds: float | None = None  # from the event's time
    soonest: float | None = None
    latest: float | None = None
    step: int | None = None  # at which it runs out; None where steps are not counted
    way: float | None = None  # the share of the way from the start to the limit that is done
    per_step: int = 0  # bytes; 0 where steps are not counted
    limit: float | None = None  # bytes
    whose: str = ""  # "the control group" or "the machine"
    keeps: str | None = None  # the name of the container that grows; None: not known
    where: Place | None = None  # where that is filled


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Event):
    """What a batch system, a container engine or the kernel says about the end, in a bare log."""

    KIND: ClassVar[str] = "verdict"

    by: str = ""  # SLURM, Kubernetes, the kernel …
    why: str = ""  # time-limit, memory, asked, preempted, node-lost, kernel-died or library-missing
    at_line: int = 0  # of the log
    text: str = ""  # of that line


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingStopped(Event):
    """Recording ended early, and why; training went on."""

    KIND: ClassVar[str] = "recording-stopped"

    because: str = ""  # the name of an errno, or an error's message
    lost: int = 0  # events that were not written
    what: str = ""  # "steps" where only those are not recorded; "": this journal
