"""A memory census: what the program's own names hold, and how much. The walk starts at names, so every find has one."""

from __future__ import annotations

import gc
import itertools
import os
import re
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable
from types import BuiltinMethodType, FrameType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from laststep.record.ownership import HANDLE_CLASSES
from laststep.recorder.frames import is_users, place
from laststep.recorder.guard import attempt
from laststep.recorder.sizes import size_of
from laststep.recorder.slices import Slices

MAX_WORK_SECONDS, MAX_SECONDS = 0.25, 5.0  # work without the sleeps, and in total
MAX_ALLOCATED_BLOCKS = 2_000_000  # TensorFlow alone has one million; collecting them takes about 0.06 s
MAX_OBJECTS = 100_000
MAX_CONTAINERS = 40  # in one event
MAX_DEPTH = 7
MIN_ENTRIES = 32  # a container with fewer entries is recorded only if it is large or holds handles
MAX_SAMPLED_ENTRIES = 20  # the newest entries of a container; its size is estimated from them
CO_OPTIMIZED = 0x1  # a function's frame; from `inspect`, which is expensive to load
KERAS_CALLS = ("fit", "evaluate", "train_on_batch")
CONTAINER_TYPES = (
    *(list, tuple, set, frozenset, deque, dict, type),
    *(FunctionType, MethodType, BuiltinMethodType, GeneratorType),
)
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def take_census(frames: Iterable[FrameType] = ()) -> dict[str, Any]:
    """The largest containers, by name. No reference to an object of the host is kept.

    `frames` are those of the calling thread if that is one of the program's own; other threads are always included.
    Objects are not counted by type: gc.get_objects() is a single call that holds the interpreter lock while it visits
    all objects (50 ms for three million), and its result must not be kept while other threads run.
    """
    began = time.time()
    walk = ObjectWalk(Slices(MAX_WORK_SECONDS, MAX_SECONDS))
    walk.run(frames)
    return {
        "rss": resident_bytes(),
        "freed": None,
        "collections": gc.get_stats()[-1]["collections"],
        "blocks": sys.getallocatedblocks(),
        "lines": attempt(traced_lines)[0] or [],
        "containers": walk.largest(),
        "threads": [{"what": what, "count": count} for what, count in count_threads().most_common(5)],
        "cut_short": walk.is_cut_short,
        "seconds": round(time.time() - began, 3),
    }


def collect() -> int | None:
    """Bytes freed by a garbage collection; None if the call, which cannot be interrupted, would take too long."""
    if sys.getallocatedblocks() > MAX_ALLOCATED_BLOCKS:
        return None
    before = resident_bytes()
    gc.collect()
    return max(0, before - resident_bytes())


def resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * PAGE_BYTES


def count_threads() -> Counter[str]:
    """By name, in groups: ThreadPoolExecutor-3_0 belongs to ThreadPoolExecutor-#_#."""
    return Counter(re.sub(r"\d+", "#", thread.name)[:60] for thread in threading.enumerate())


def traced_lines(max_lines: int = 5) -> list[dict[str, Any]]:
    """The user's lines that allocated the memory still in use; only if the user has switched on tracemalloc."""
    import tracemalloc

    if not tracemalloc.is_tracing():
        return []
    sizes: Counter[tuple[str, int]] = Counter()
    for entry in tracemalloc.take_snapshot().statistics("traceback"):
        user_lines = [(frame.filename, frame.lineno) for frame in entry.traceback if is_users(frame.filename)]
        if user_lines:
            sizes[user_lines[-1]] += entry.size  # the innermost
    return [{**place(file, line), "bytes": size} for (file, line), size in sizes.most_common(max_lines)]


class ObjectWalk:
    """Walks the globals of the user's modules, the locals of running frames and the callbacks of a fit."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._seen: set[int] = set()
        self._queue: deque[tuple[Any, str, str, int]] = deque()
        self._found: dict[tuple[str, str], dict[str, Any]] = {}
        self._is_users_module: dict[str, bool] = {}
        self.is_cut_short = False

    def run(self, frames: Iterable[FrameType] = ()) -> None:
        self._from_modules()
        for frame in frames:
            self._from_frame(frame)
        self._from_frames()
        visited = 0
        while self._queue:
            visited += 1
            if visited > MAX_OBJECTS or not self._slices.go_on():
                self.is_cut_short = True
                self._queue.clear()
                return
            # May fail if another thread changes the object meanwhile; the next census visits it again.
            attempt(self._visit, *self._queue.popleft())

    def largest(self) -> list[dict[str, Any]]:
        by_size = sorted(self._found.values(), key=lambda entry: -entry["bytes"])
        handles = [entry for entry in by_size[MAX_CONTAINERS:] if entry["holds"] in HANDLE_CLASSES]
        return by_size[:MAX_CONTAINERS] + handles[:MAX_CONTAINERS]

    def _from_modules(self) -> None:
        for name, module in list(sys.modules.items()):
            variables = vars(module) if isinstance(module, ModuleType) else {}
            file = variables.get("__file__")
            if name == "__main__" or (isinstance(file, str) and is_users(file)):
                for label, value in list(variables.items()):
                    self._slices.go_on()
                    if not label.startswith("__"):
                        self._add(value, label, str(file), 0)

    def _from_frames(self) -> None:
        own_thread = threading.get_ident()
        for thread, frame in sys._current_frames().items():
            current: FrameType | None = frame if thread != own_thread else None
            while current is not None:
                self._from_frame(current)
                current = current.f_back

    def _from_frame(self, frame: FrameType) -> None:
        code = frame.f_code
        is_users_code = is_users(code.co_filename)
        is_relevant = is_users_code or code.co_name in KERAS_CALLS
        if not code.co_flags & CO_OPTIMIZED or not is_relevant or frame.f_trace is not None:
            return
        variables = frame.f_locals
        if is_users_code:
            for label, value in list(variables.items()):
                self._add(value, label, code.co_filename, 0)
        else:
            callbacks = getattr(variables.get("callbacks"), "callbacks", None)
            for callback in callbacks if isinstance(callbacks, (list, tuple)) else ():
                self._add(callback, type(callback).__name__, "", 0)
            self._add(variables.get("self"), type(variables.get("self")).__name__, "", 0)
        # Up to Python 3.12 the frame keeps this dict and so its values alive, unless the program holds the dict, too.
        if type(variables) is dict and sys.getrefcount(variables) <= 3:
            variables.clear()

    def _add(self, value: Any, label: str, file: str, depth: int) -> None:
        if depth <= MAX_DEPTH and id(value) not in self._seen and self._may_contain(value):
            self._seen.add(id(value))
            self._queue.append((value, label, file, depth))

    def _may_contain(self, value: Any) -> bool:
        """Only these are queued. Holding others, even briefly, has effects: NumPy does not resize a shared array."""
        kind = type(value)
        if isinstance(value, CONTAINER_TYPES) or kind.__name__ == "_lru_cache_wrapper":
            return True
        return kind.__module__.partition(".")[0] in ("keras", "tf_keras") or self._is_users_class(kind)

    def _visit(self, value: Any, label: str, file: str, depth: int) -> None:
        if isinstance(value, (list, tuple, set, frozenset, deque, dict)):
            self._visit_container(value, label, file, depth)
        elif isinstance(value, FunctionType):
            if is_users(value.__code__.co_filename):
                self._from_function(value, depth)
        elif isinstance(value, MethodType):
            self._add(value.__self__, label.rpartition(".")[0] or type(value.__self__).__name__, file, depth)
        elif isinstance(value, BuiltinMethodType):
            if isinstance(value.__self__, (list, dict, set, deque)):  # for example keep = results.append
                self._add(value.__self__, label, file, depth)
        elif isinstance(value, GeneratorType):
            if value.gi_frame is not None:
                self._from_frame(value.gi_frame)
        elif type(value).__name__ == "_lru_cache_wrapper":
            self._from_cache(value, depth)
        elif isinstance(value, type):
            if self._is_users_class(value):
                for name, member in list(vars(value).items()):
                    if isinstance(member, (list, dict, set, deque)):
                        self._add(member, f"{value.__name__}.{name}", _file_of(value), depth + 1)
        else:
            self._visit_instance(value, label, file, depth)

    def _visit_container(self, value: Any, label: str, file: str, depth: int) -> None:
        count = len(value)
        if isinstance(value, dict):
            newest = list(itertools.islice(reversed(value.items()), MAX_SAMPLED_ENTRIES))
            entries = [(f"{label}[{key!r}]" if type(key) is str else f"{label}[…]", entry) for key, entry in newest]
        else:
            order = reversed(value) if hasattr(value, "__reversed__") or isinstance(value, (list, tuple)) else value
            entries = [(f"{label}[…]", entry) for entry in itertools.islice(order, MAX_SAMPLED_ENTRIES)]
        for name, entry in entries:
            self._add(entry, name[:120], file, depth + 1)
        if count == 0 or isinstance(value, (tuple, frozenset)):
            return
        sizes = [size_of(entry) for _, entry in entries]
        size = int(sum(each for each, _ in sizes) / len(sizes) * count)
        holds = max(sizes)[1]
        if (count >= MIN_ENTRIES or size > 1e6 or holds in HANDLE_CLASSES) and (label, file) not in self._found:
            container = {"name": label, "file": file, "length": count, "bytes": size, "holds": holds}
            container["kind"] = "dict" if isinstance(value, dict) else type(value).__name__
            container["most"] = value.maxlen if isinstance(value, deque) else None
            self._found[label, file] = container

    def _from_function(self, function: FunctionType, depth: int) -> None:
        code = function.__code__
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            held, _ = attempt(getattr, cell, "cell_contents")  # an empty cell raises
            self._add(held, name, code.co_filename, depth + 1)
        names = code.co_varnames[: code.co_argcount]
        for name, held in zip(reversed(names), reversed(function.__defaults__ or ()), strict=False):
            self._add(held, name, code.co_filename, depth + 1)

    def _from_cache(self, wrapper: Any, depth: int) -> None:
        """An unbounded functools.lru_cache: the dict inside it has no name of its own."""
        if wrapper.cache_info().maxsize is None and is_users(wrapper.__wrapped__.__code__.co_filename):
            largest = max((part for part in gc.get_referents(wrapper) if type(part) is dict), key=len, default={})
            file = wrapper.__wrapped__.__code__.co_filename
            self._add(largest, f"the cache of {wrapper.__name__}()", file, depth + 1)

    def _visit_instance(self, value: Any, label: str, file: str, depth: int) -> None:
        kind = type(value)
        is_users_class = self._is_users_class(kind)
        if not is_users_class and kind.__module__.partition(".")[0] not in ("keras", "tf_keras"):
            return
        for name, member in list(getattr(value, "__dict__", {}).items()):
            if is_users_class or (not name.startswith("_") and isinstance(member, (list, dict, set, deque))):
                self._add(member, f"{kind.__name__}.{name}", _file_of(kind) or file, depth + 1)

    def _is_users_class(self, kind: type) -> bool:
        is_users_class = self._is_users_module.get(kind.__module__)
        if is_users_class is None:
            file = getattr(sys.modules.get(kind.__module__), "__file__", None)
            is_users_class = kind.__module__ == "__main__" or (isinstance(file, str) and is_users(file))
            self._is_users_module[kind.__module__] = is_users_class
        return is_users_class


def _file_of(kind: type) -> str:
    return str(getattr(sys.modules.get(kind.__module__), "__file__", "") or "")
