"""What a run without progress is doing, read from a snapshot: its stacks and its system calls."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from laststep.record.events.shared import Frame, SeenLine, users_line
from laststep.record.events.stacks import Snapshot, ThreadStack
from laststep.record.place import Place

MAX_IDLE_CORES = 0.05
MAX_IDLE_IO_BYTES = 10_000  # per second
MAX_IDLE_GPU_PERCENT = 5
MAX_IDLE_WAKEUPS = 2  # per second, of a thread in a network call: more, and data arrives
MIN_SHORT_SLEEPS = 20  # per second, of a thread that sleeps again and again
MAX_SLEEPS = 2  # that end in about a second: with more, it sleeps shortly again and again
MIN_RUNNABLE_SHARE = 0.2  # of the time in which a thread was ready to run and had no core: it is not asleep
MIN_STARVED_SHARE = 0.5  # of the time without a core
MIN_LASTSTEP_CORES = 0.02
MIN_DATA_WAIT_SHARE = 0.5  # of the time without progress
MAX_SEEN_LINES = 3
# The functions of the standard library in which a thread waits for another one, by file.
WAIT_FUNCTIONS = {
    "queue.py": {"get": "queue", "put": "queue", "join": "queue.join"},
    "_base.py": {"result": "future", "exception": "future", "result_iterator": "future", "wait": "future"},
    "pool.py": {"get": "pool", "wait": "pool", "map": "pool", "join": "pool", "next": "pool"},
    "queues.py": {"get": "queue", "put": "queue", "join": "queue.join"},
    "synchronize.py": {"__enter__": "lock", "wait": "event"},
    "connection.py": {"recv": "pipe", "_recv": "pipe", "poll": "pipe", "wait": "pipe"},
    "subprocess.py": {"wait": "process", "communicate": "process", "_wait": "process"},
    "popen_fork.py": {"wait": "process", "poll": "process"},
    "__init__.py": {"acquire": "lock", "handle": "lock"},  # of logging
}
# Seconds without progress after which an idle process is taken to be stuck where nothing is known of it, by what it
# is blocked in.
STALL_SECONDS = {"sleep": 30.0, "network": 20.0, "": 8.0}
EXTERNAL_CALLS = {"recv", "connect", "wait", "read", "poll", "select", "epoll"}
NETWORK_CALLS = ("recv", "read", "poll", "select", "epoll", "send", "write")
STDIN = "standard input"
PROMPTS = re.compile(r"\binput\(|\bset_trace\(|\bbreakpoint\(")
STALL_FACTOR = 4.0  # times the slowest so far
MAX_SLEEP_SECONDS = 120.0  # a longer sleep is taken to be a stall
# Functions and files by which a stack shows what TensorFlow or Keras is doing.
EXECUTE = "quick_execute"
TRACING = ("func_graph_from_py_func", "_create_concrete_function", "from_func_graph")
SAVING = ("save_model", "save_weights_only", "save_weights", "write_checkpoint")
ITERATOR = "iterator_ops.py"
PIPELINE = (
    *("script_ops.py", "from_generator_op.py"),
    *("py_dataset_adapter.py", "generator_data_adapter.py", "data_adapter_utils.py", "data_adapter.py"),
    *("epoch_iterator.py", "array_data_adapter.py", "tf_dataset_adapter.py", "torch_data_loader_adapter.py"),
)


class ThreadView:
    """One Python thread of a snapshot, its innermost frame first, and what it is doing."""

    def __init__(self, stack: ThreadStack) -> None:
        self.stack = stack
        self.name = stack.name
        self.current = stack.current
        self.frames = stack.frames
        # After each short sleep it takes Python's own lock, and is sometimes seen there.
        self.call = "sleep" if stack.call == "futex" and stack.woke >= MIN_SHORT_SLEEPS else stack.call
        self.on = stack.on
        self.cpu = stack.cpu
        self.woke = stack.woke
        self.wakes = stack.wakes

    @property
    def is_laststeps(self) -> bool:
        """The heartbeat: it was started by laststep. A thread of the program may pass through laststep's code."""
        return bool(self.frames) and "laststep/recorder" in self.frames[-1].file

    @property
    def works_for_laststep(self) -> bool:
        """In laststep's own code, which alone runs under the guard: the program's calls never do."""
        inside = any(frame.file.endswith("laststep/recorder/guard.py") for frame in self.frames)
        return inside and (
            self.current or self.stack.holds_gil or (self.is_laststeps and self.cpu > MIN_LASTSTEP_CORES)
        )

    @property
    def place(self) -> Place | None:
        """The innermost line of the user's own."""
        return users_line(self.frames)

    @property
    def in_tensorflow(self) -> bool:
        """Inside a call into TensorFlow, as a rank is that waits for the others."""
        return bool(self.frames) and "tensorflow/python/" in self.frames[0].file

    def has(self, *functions: str) -> bool:
        return any(frame.function in functions for frame in self.frames)

    def runs(self, *files: str) -> bool:
        return any(_base(frame) in files for frame in self.frames)

    @property
    def waits_for(self) -> str:
        """What it waits for that another thread must do: lock, queue, queue.join, future, event …; "" for nothing."""
        for frame in self.frames:
            name = _base(frame)
            kind = WAIT_FUNCTIONS.get(name, {}).get(frame.function)
            if kind is not None:
                return kind
            if name != "threading.py" and name not in WAIT_FUNCTIONS:
                break
        if not self.frames:
            return ""
        inner = self.frames[0]
        if _base(inner) != "threading.py":
            return "lock" if self.call == "futex" and inner.text else ""
        if inner.function in ("join", "_wait_for_tstate_lock"):
            return "thread"
        return "lock" if inner.function in ("acquire", "__enter__") else "event" if self.frames[1:] else ""

    @property
    def goes_on(self) -> bool:
        """It computes, or sleeps shortly again and again; it is not blocked."""
        return self.cpu > MAX_IDLE_CORES or self.stack.state == "R" or self.polls

    @property
    def polls(self) -> bool:
        return self.call == "sleep" and self.wakes is None and self.woke > MAX_SLEEPS

    @property
    def callback(self) -> ThreadView | None:
        """The part of the stack inside a callback that Keras called."""
        for at, frame in enumerate(self.frames):
            if _base(frame) in ("callback_list.py", "callbacks.py") and frame.function.startswith("on_"):
                return self.part(self.frames[:at]) if at else None
        return None

    def part(self, frames: Sequence[Frame]) -> ThreadView:
        """The same thread with these frames alone."""
        return ThreadView(replace(self.stack, frames=tuple(frames)))


class SnapshotView:
    """What a snapshot shows."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.threads = [ThreadView(thread) for thread in snapshot.threads]
        self.phase = snapshot.phase
        self.seconds = snapshot.seconds
        self.cpu = snapshot.cpu
        self.waiting = snapshot.waiting
        self.lost = min(snapshot.lost, snapshot.seconds)  # seconds in which it was ready to run and had no core

    @property
    def received(self) -> float:
        """The seconds that count: those in which it had the cores that it wanted, or wanted none."""
        return self.seconds - self.lost

    @property
    def silence(self) -> float:
        """The same, since the input pipeline last called Python: a generator that yields is no stall, however slow."""
        age = self.snapshot.call_age
        return self.received if age is None or not self.waits_for_data else min(self.received, age)

    @property
    def is_starved(self) -> bool:
        """It got too little CPU time to get far."""
        return self.lost > MIN_STARVED_SHARE * self.seconds and self.received < STALL_SECONDS[""]

    @property
    def is_held_by_laststep(self) -> bool:
        """A thread works for laststep, and the program has to wait for it."""
        return any(thread.works_for_laststep for thread in self.threads)

    @functools.cached_property
    def main(self) -> ThreadView:
        return next((thread for thread in self.threads if thread.current), ThreadView(ThreadStack()))

    @property
    def others(self) -> list[ThreadView]:
        """The program's own other threads."""
        return [thread for thread in self.threads if not thread.current and not thread.is_laststeps]

    @property
    def idle(self) -> bool:
        """No CPU time used or asked for, no I/O, nothing arriving over the network, no GPU busy."""
        program = [thread for thread in self.threads if not thread.is_laststeps]
        receives = any(thread.call in NETWORK_CALLS and thread.woke > MAX_IDLE_WAKEUPS for thread in program)
        quiet = self.cpu < MAX_IDLE_CORES and self.snapshot.io < MAX_IDLE_IO_BYTES
        runnable = self.lost > MIN_RUNNABLE_SHARE * self.seconds
        return quiet and not runnable and not receives and self.snapshot.gpu_busy <= MAX_IDLE_GPU_PERCENT

    @property
    def wakes_by_itself(self) -> bool:
        """It sleeps on purpose, and not for long."""
        wakes = self.blocked.wakes
        return wakes is not None and wakes < MAX_SLEEP_SECONDS

    @property
    def kind_of_wait(self) -> str:
        """As the function of that name, of all threads that run the program's own code."""
        if self.blocked.wakes is not None:
            return ""  # a sleep that is too long to be meant
        return kind_of_wait({thread.call for thread in self.threads if thread.place and not thread.is_laststeps})

    @property
    def waits_for_typing(self) -> bool:
        """input() or a debugger's prompt: the main thread reads from the keyboard."""
        main, place = self.main, self.main.place
        typed = main.on == STDIN or main.on.startswith(("/dev/pts/", "/dev/tty"))
        return typed or (place is not None and bool(PROMPTS.search(place.text)))

    @property
    def doing(self) -> str:
        """What the main thread is doing: trace, save, callback, input, execute, user or ""."""
        main = self.main
        if not main.frames:
            return ""
        if main.has(*TRACING):
            return "trace"
        if main.has(*SAVING):
            return "save"
        if main.callback is not None:
            return "callback"
        if self.waits_for_data:
            return "input"
        if main.has(EXECUTE):
            return "execute"
        return "user" if main.place else ""

    @property
    def waits_for_data(self) -> bool:
        """By the time stamp in the graph, by Python's own wait for a batch, or because the pipeline's code is stuck."""
        if self.main.runs(ITERATOR) or self.main.runs(*PIPELINE):
            return True
        inside = self.main.has(EXECUTE)
        if inside and self.snapshot.watched and self.idle and any(task.on for task in self.snapshot.native):
            return True  # from outside there is no time stamp, but a thread of the pipeline is blocked in a file
        marked = self.waiting > MIN_DATA_WAIT_SHARE * self.seconds
        return inside and (marked or (self.waiting == 0.0 and bool(self.feeders)))

    @property
    def feeders(self) -> list[ThreadView]:
        """Threads that run the user's Python for the input pipeline."""
        own = [thread for thread in self.others if thread.runs(*PIPELINE) and thread.place]
        return own or [thread for thread in self.others if thread.place and self.main.runs(*PIPELINE)]

    @property
    def blocked(self) -> ThreadView:
        """The thread that holds up the program: the pipeline's Python where the step waits for that."""
        return self.feeders[0] if self.waits_for_data and self.feeders else self.main


def kind_of_wait(calls: set[str]) -> str:
    """sleep; network, or anything else that comes from outside; "" for a wait that only this process can end."""
    if "sleep" in calls:
        return "sleep"
    return "network" if calls & EXTERNAL_CALLS else ""


def count_places(places: Iterable[Place | None]) -> tuple[SeenLine, ...]:
    """The lines at which a thread was in several snapshots, the most frequent first."""
    seen = Counter(place for place in places if place is not None)
    return tuple(
        SeenLine(file=place.file, line=place.line, text=place.text, is_users=place.is_users, snapshots=times)
        for place, times in seen.most_common(MAX_SEEN_LINES)
    )


def moving_lines(stacks: Sequence[Sequence[Frame]]) -> tuple[SeenLine, ...]:
    """Where a thread that was seen several times goes round: the lines of the outermost of the user's functions that
    went on meanwhile, to another line or out of a call. Where none did, the innermost line.
    """
    own = [[frame for frame in reversed(frames) if frame.is_users_own] for frames in stacks]
    own = [frames for frames in own if frames]
    for depth in range(min((len(frames) for frames in own), default=0)):
        at = {(frames[depth].function, frames[depth].line, _called(frames, depth)) for frames in own}
        if len(at) > 1:
            return count_places(frames[depth].place for frames in own)
    return count_places(frames[-1].place for frames in own)


def _called(frames: Sequence[Frame], depth: int) -> str:
    """The function that the frame at this depth has called; outermost frame first."""
    return frames[depth + 1].function if depth + 1 < len(frames) else ""


def most_seen(lines: Sequence[SeenLine]) -> Place | None:
    """The line that was seen most often."""
    return lines[0].place if lines else None


def _base(frame: Frame) -> str:
    return frame.file.rpartition("/")[2]
