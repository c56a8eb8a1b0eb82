"""A process as observed from outside: the stacks of all its threads, what they are blocked in, what it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar

from laststep.record.decode import key
from laststep.record.event import Event
from laststep.record.events.shared import Frame, SeenLine
from laststep.record.place import Place
from laststep.record.sample import HostMemory, Pressure


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A thread or process as the kernel sees it: its state, and the system call that it is blocked in."""

    SPARSE: ClassVar[tuple[str, ...]] = ("state", "call", "on", "wakes")

    name: str = ""
    state: str = ""  # the kernel's letter: R, S, D, T …; "" where it could not be read
    call: str = ""  # futex, read, sleep …; "" where it runs, or for a call without a name here
    on: str = ""  # a path, "pipe", "socket 10.0.0.1:443", "standard input"; "" where that is not known
    wakes: float | None = None  # in how many seconds a sleep is over; None: it does not sleep, or for no known time


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadStack(Task):
    """A Python thread and its stack. What the kernel says is empty where the stack alone was read."""

    tid: int | None = None  # the system's number; None in a stack from faulthandler, which does not report it
    current: bool = False  # the main thread; in a fault, the thread that died
    holds_gil: bool = False
    frames: tuple[Frame, ...] = ()  # innermost first
    cpu: float = 0.0  # cores
    woke: int = 0  # how often it went to sleep and woke up again, in about a second


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildProcess(Task):
    """A descendant of the process, and what its main thread is blocked in."""

    pid: int = 0
    cpu: float = 0.0  # cores
    threads: tuple[ThreadStack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another rank of the same training on this machine."""

    rank: int | None = None
    pid: int = 0
    threads: tuple[ThreadStack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Event):
    """The stacks of all threads of a run without progress, what each process was doing, and what was used."""

    KIND: ClassVar[str] = "look"

    pid: int = 0
    state: str = ""  # the kernel's letter for the main thread; T: stopped
    threads: tuple[ThreadStack, ...] = ()  # that run Python
    no_threads_because: str = ""
    moves: bool | None = None  # whether the main thread was elsewhere a second later; None: not seen
    native: tuple[Task, ...] = ()  # threads without Python that are blocked in a file, a socket or the disk
    children: tuple[ChildProcess, ...] = ()
    busy_threads: int = 0
    pressure: Pressure = field(default_factory=Pressure)
    memory: HostMemory = field(default_factory=HostMemory)
    phase: str = ""  # in which there was no progress; "" where it is not known
    goes_on: bool | None = None  # training is to continue, by the stacks and the loops around; None where not checked
    seconds: float = 0.0  # without progress; watched from outside only: seconds that it was watched
    slowest: float | None = None  # seconds that this phase had taken at most before; None: never complete before
    step: int = 0  # steps that are complete
    waiting: float = 0.0  # seconds that the wait for data has lasted; 0.0: there is none
    calls: int | None = None  # of Python by the input pipeline, since the last progress; None: not counted
    call_age: float | None = None  # seconds since the last of these; None: there was none
    lines: tuple[SeenLine, ...] = ()  # between which the input pipeline's Python went round, in some quick snapshots
    beat_age: float | None = None  # seconds since the recorder's last heartbeat
    peers: tuple[Peer, ...] = ()
    gpu_busy: int = 0  # per cent, of the busiest GPU
    lost: float = 0.0  # of `seconds`: those in which the program was ready to run and had no core
    cpu: float = 0.0  # cores in use by the process and its descendants
    io: int = 0  # bytes per second, read and written through system calls
    ours: bool = False  # laststep's own code held the program up
    watched: bool = False  # from outside only, by `laststep attach`; then these two are known
    wakes: float | None = None  # how often per second the main thread was put on a processor
    still: bool = False  # the main thread did not run once


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall(Snapshot):
    """A snapshot of a run that is stuck: no progress for longer than is normal in this phase."""

    KIND: ClassVar[str] = "stall"

    @classmethod
    def of(cls, snapshot: Snapshot) -> Stall:
        return cls(**{each.name: getattr(snapshot, each.name) for each in fields(snapshot)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What the main thread was at, and in how many of the snapshots."""

    times: int = 0
    doing: str = ""  # trace, save, callback, input, execute, user, keras; "": in a library
    at: str = ""  # the user's line, as file:line
    feeder: str = ""  # the line of the input pipeline's Python meanwhile, as file:line


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    """Open files of one kind or in one folder."""

    what: str = ""  # a folder, "device", "pipe", "socket"; "": the kernel's own
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFiles:
    """How many files a process has open, and where most of them are."""

    count: int
    limit: int | None = None
    groups: tuple[FileGroup, ...] = ()  # the largest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached(Event):
    """A process that laststep did not start was watched from outside: what it is, what it does, what it uses."""

    KIND: ClassVar[str] = "attach"

    command: tuple[str, ...] = ()
    cwd: str = ""
    pid: int = 0
    python: str = ""  # version; "" where it is not known
    tensorflow: bool = False  # loaded
    recorded: str | None = None  # the run folder, where laststep records this process already
    seconds: float = 0.0  # for which it was watched
    state: str = ""  # moving, stuck, busy, waking or unseen
    quiet: float = 0.0  # seconds without a change at the end, where steps went by before; else 0.0
    long_enough: bool = False  # watched for long enough to call a stall likely
    phase: str = ""
    where: Place | None = None  # the user's line in which the main thread is
    counters: Mapping[str, int] = field(default_factory=dict)  # of Keras's loop or the program's own: epoch, step …
    steps_per_second: float | None = None  # None where nothing was counted
    progress: str = ""  # how far training is, in words
    snapshots: int = field(default=0, metadata=key("looks"))  # that were taken
    profile: tuple[Activity, ...] = ()  # the most frequent first
    wakes: float = 0.0  # how often per second the main thread was put on a processor
    cpu: float = 0.0  # cores in use by the process and its descendants
    io: int = 0  # bytes per second, read and written through system calls
    busy_threads: int = 0
    native_threads: int = 0  # all threads of the process
    holds_interpreter: bool = False  # one thread had Python's lock in every snapshot
    threads: tuple[ThreadStack, ...] = ()
    children: tuple[ChildProcess, ...] = ()
    files: OpenFiles | None = None  # None where they could not be read
