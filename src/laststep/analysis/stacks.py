"""What a run that does not move is doing, read from a snapshot: its stacks and its system calls."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from laststep.record.events.shared import Frame, users_line
from laststep.record.events.stacks import Snapshot, ThreadStack
from laststep.record.events.supervisor import SeenLine
from laststep.record.place import Place

IDLE = 0.05  # cores: less than this is nothing
WANTS = 0.2  # of the time in which a thread is ready to run and has no core: it is not asleep
STARVED = 0.5
OUR_WORK = 0.02  # cores
# The function of the standard library through which a thread waits for another one.
WAITS = {
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
FROM_OUTSIDE = {"recv", "connect", "wait", "read", "poll", "select", "epoll"}
# Seconds without a move after which an idle process of which nothing is known is taken to be stuck, by what it is in.
LONG_ENOUGH = {"sleep": 30.0, "network": 20.0, "": 8.0}
NETWORK = ("recv", "read", "poll", "select", "epoll", "send", "write")
OFTEN = 2  # wake-ups in a second
STDIN = "standard input"
ASKS = re.compile(r"\binput\(|\bset_trace\(|\bbreakpoint\(")
EXECUTE = "quick_execute"
TRACING = ("func_graph_from_py_func", "_create_concrete_function", "from_func_graph")
SAVING = ("save_model", "save_weights_only", "save_weights", "write_checkpoint")
PIPELINE = (
    *("script_ops.py", "from_generator_op.py"),
    *("py_dataset_adapter.py", "generator_data_adapter.py", "data_adapter_utils.py", "data_adapter.py"),
    *("epoch_iterator.py", "array_data_adapter.py", "tf_dataset_adapter.py", "torch_data_loader_adapter.py"),
)
ITERATOR = "iterator_ops.py"


class ThreadView:
    """One Python thread at that moment, its innermost frame first."""

    def __init__(self, stack: ThreadStack) -> None:
        self.stack = stack
        self.name = stack.name
        self.current = stack.current
        self.frames = stack.frames
        self.call = stack.call
        self.on = stack.on
        self.cpu = stack.cpu
        self.woke = stack.woke
        self.wakes = stack.wakes

    @property
    def ours(self) -> bool:
        """The heartbeat: it began in our code. A thread of the user's may pass through it."""
        return bool(self.frames) and "laststep/recorder" in self.frames[-1].file

    @property
    def at_our_work(self) -> bool:
        """In code of ours, and not only passing through it: that alone runs under the guard, the host's calls never."""
        inside = any(frame.file.endswith("laststep/recorder/guard.py") for frame in self.frames)
        return inside and (self.current or self.stack.holds_gil or (self.ours and self.cpu > OUR_WORK))

    @property
    def place(self) -> Place | None:
        """The innermost line of the user's own."""
        return users_line(self.frames)

    @property
    def in_tensorflow(self) -> bool:
        """Inside a call of TensorFlow's, as one who waits for other ranks is."""
        return bool(self.frames) and "tensorflow/python/" in self.frames[0].file

    def has(self, *functions: str) -> bool:
        return any(frame.function in functions for frame in self.frames)

    def runs(self, *files: str) -> bool:
        return any(_base(frame) in files for frame in self.frames)

    @property
    def waits_for(self) -> str:
        """What of another's it waits for: lock, queue, queue.join, future, event, thread, pool …; "" for nothing."""
        for frame in self.frames:
            name = _base(frame)
            kind = WAITS.get(name, {}).get(frame.function)
            if kind is not None:
                return kind
            if name != "threading.py" and name not in WAITS:
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
    def callback(self) -> ThreadView | None:
        """The part of the stack that is inside a callback which Keras calls."""
        for at, frame in enumerate(self.frames):
            if _base(frame) in ("callback_list.py", "callbacks.py") and frame.function.startswith("on_"):
                return self.part(self.frames[:at]) if at else None
        return None

    def part(self, frames: Sequence[Frame]) -> ThreadView:
        """The same thread with these frames alone."""
        return ThreadView(replace(self.stack, frames=tuple(frames)))


class SnapshotView:
    """A snapshot, with questions to ask of it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.threads = [ThreadView(thread) for thread in snapshot.threads]
        self.phase = snapshot.phase
        self.seconds = snapshot.seconds
        self.cpu = snapshot.cpu
        self.waiting = snapshot.waiting
        self.lost = min(snapshot.lost, snapshot.seconds)  # seconds without a core for who wanted one

    @property
    def received(self) -> float:
        """The seconds that count: those in which it had what cores it wanted, or wanted none."""
        return self.seconds - self.lost

    @property
    def is_starved(self) -> bool:
        """It got too little of the cores to have come far."""
        return self.lost > STARVED * self.seconds and self.received < LONG_ENOUGH[""]

    @property
    def is_ours(self) -> bool:
        """A thread works for laststep, and the program has to wait for it."""
        return any(thread.at_our_work for thread in self.threads)

    @functools.cached_property
    def main(self) -> ThreadView:
        return next((thread for thread in self.threads if thread.current), ThreadView(ThreadStack()))

    @property
    def others(self) -> list[ThreadView]:
        """The program's own other threads: neither ours nor without a line of the user's."""
        return [thread for thread in self.threads if not thread.current and not thread.ours]

    @property
    def idle(self) -> bool:
        """No processor time, nor wanting any, no bytes through files or from the network, no card at work."""
        arrives = any(thread.call in NETWORK and thread.woke > OFTEN for thread in self.threads if not thread.ours)
        quiet = self.cpu < IDLE and self.snapshot.io < 10_000
        wants = self.lost > WANTS * self.seconds
        return quiet and not wants and not arrives and self.snapshot.gpu_busy <= 5

    @property
    def awaits_a_person(self) -> bool:
        """input(), a debugger's prompt: the main thread reads what somebody will type."""
        main, place = self.main, self.main.place
        typed = main.on == STDIN or main.on.startswith(("/dev/pts/", "/dev/tty"))
        return typed or (place is not None and bool(ASKS.search(place.text)))

    @property
    def doing(self) -> str:
        """trace, save, callback, input, execute, user or "": what the main thread is at."""
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
        """By the mark in the graph, by Python's own wait for a batch, or because the pipeline's Python stands still."""
        if self.main.runs(ITERATOR) or self.main.runs(*PIPELINE):
            return True
        inside = self.main.has(EXECUTE)
        if inside and self.snapshot.watched and self.idle and any(task.on for task in self.snapshot.native):
            return True  # from outside there is no mark; a pipeline's thread that stands in a file says it as well
        return inside and (self.waiting > 0.5 * self.seconds or (self.waiting == 0.0 and bool(self.feeders)))

    @property
    def feeders(self) -> list[ThreadView]:
        """Threads that run the user's Python for the input pipeline."""
        own = [thread for thread in self.others if thread.runs(*PIPELINE) and thread.place]
        return own or [thread for thread in self.others if thread.place and self.main.runs(*PIPELINE)]

    @property
    def blocked(self) -> ThreadView:
        """The thread on whose account nothing moves: the pipeline's Python where the step waits for that."""
        return self.feeders[0] if self.waits_for_data and self.feeders else self.main


def kind_of_wait(calls: set[str]) -> str:
    """sleep, network (or whatever else comes from outside), or "" for what only this process can end."""
    if "sleep" in calls:
        return "sleep"
    return "network" if calls & FROM_OUTSIDE else ""


def count_places(places: Iterable[Place | None]) -> tuple[SeenLine, ...]:
    """The lines at which several snapshots found somebody, the most frequent first."""
    seen = Counter(place for place in places if place is not None)
    return tuple(
        SeenLine(file=place.file, line=place.line, text=place.text, is_users=place.is_users, looks=times)
        for place, times in seen.most_common(3)
    )


def most_seen(lines: Sequence[SeenLine]) -> Place | None:
    """The first of what count_places gave, as a place."""
    return lines[0].place if lines else None


def _base(frame: Frame) -> str:
    return frame.file.rpartition("/")[2]
