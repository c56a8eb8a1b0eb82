"""A census: what the program's own names hold and how much of it. Walked from the names, so each find has one."""

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

MOST_WORK, LONGEST = 0.25, 5.0  # seconds of work, and in all
MOST_BLOCKS = 2_000_000  # TensorFlow alone has one million; collecting takes about 0.06 s for each
MOST_OBJECTS = 100_000
MOST_FOUND = 40
DEEPEST = 7
MANY = 32  # entries
NEWEST = 20  # entries of a container that are looked at
CO_OPTIMIZED = 0x1  # a function's frame; of inspect, which costs too much to load
CALLS = ("fit", "evaluate", "train_on_batch")
HOLDERS = (
    *(list, tuple, set, frozenset, deque, dict, type),
    *(FunctionType, MethodType, BuiltinMethodType, GeneratorType),
)
PAGE = os.sysconf("SC_PAGE_SIZE")


def take_census(frames: Iterable[FrameType] = ()) -> dict[str, Any]:
    """The largest containers by name. No reference to anything of the host is left behind.

    `frames` are those of this thread, where it is the program's own: it looks at all others by itself.
    Objects are not counted by type: gc.get_objects() is one call that holds the interpreter lock while it goes over
    all of them, 50 ms for three million, and what it gives may not be held while other threads run.
    """
    began = time.time()
    walk = Walk(Slices(MOST_WORK, LONGEST))
    walk.run(frames)
    return {
        "rss": resident(),
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
    """Bytes given back by collecting garbage; None where the call, which cannot be cut, would last too long."""
    if sys.getallocatedblocks() > MOST_BLOCKS:
        return None
    before = resident()
    gc.collect()
    return max(0, before - resident())


def resident() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * PAGE


def count_threads() -> Counter[str]:
    """By name, in groups: ThreadPoolExecutor-3_0 is one of ThreadPoolExecutor-#_#."""
    return Counter(re.sub(r"\d+", "#", thread.name)[:60] for thread in threading.enumerate())


def traced_lines(most: int = 5) -> list[dict[str, Any]]:
    """Where what lives was allocated, by the user's own lines: only where the user has switched tracemalloc on."""
    import tracemalloc

    if not tracemalloc.is_tracing():
        return []
    sizes: Counter[tuple[str, int]] = Counter()
    for entry in tracemalloc.take_snapshot().statistics("traceback"):
        mine = [(frame.filename, frame.lineno) for frame in entry.traceback if is_users(frame.filename)]
        if mine:
            sizes[mine[-1]] += entry.size  # the innermost one
    return [{**place(file, line), "bytes": size} for (file, line), size in sizes.most_common(most)]


class Walk:
    """From the globals of the user's modules, the locals of running frames and the callbacks of a fit."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._seen: set[int] = set()
        self._queue: deque[tuple[Any, str, str, int]] = deque()
        self._found: dict[tuple[str, str], dict[str, Any]] = {}
        self._users: dict[str, bool] = {}
        self.is_cut_short = False

    def run(self, frames: Iterable[FrameType] = ()) -> None:
        self._from_modules()
        for frame in frames:
            self._from_frame(frame)
        self._from_frames()
        looked = 0
        while self._queue:
            looked += 1
            if looked > MOST_OBJECTS or not self._slices.go_on():
                self.is_cut_short = True
                self._queue.clear()
                return
            attempt(self._look, *self._queue.popleft())  # changed by its own thread while we look: the next time

    def largest(self) -> list[dict[str, Any]]:
        by_size = sorted(self._found.values(), key=lambda entry: -entry["bytes"])
        handles = [entry for entry in by_size[MOST_FOUND:] if entry["holds"] in HANDLE_CLASSES]
        return by_size[:MOST_FOUND] + handles[:MOST_FOUND]

    def _from_modules(self) -> None:
        for name, module in list(sys.modules.items()):
            held = vars(module) if isinstance(module, ModuleType) else {}
            file = held.get("__file__")
            if name == "__main__" or (isinstance(file, str) and is_users(file)):
                for label, value in list(held.items()):
                    self._slices.go_on()
                    if not label.startswith("__"):
                        self._add(value, label, str(file), 0)

    def _from_frames(self) -> None:
        mine = threading.get_ident()
        for thread, frame in sys._current_frames().items():
            at: FrameType | None = frame if thread != mine else None
            while at is not None:
                self._from_frame(at)
                at = at.f_back

    def _from_frame(self, frame: FrameType) -> None:
        code = frame.f_code
        users = is_users(code.co_filename)
        if not code.co_flags & CO_OPTIMIZED or not (users or code.co_name in CALLS) or frame.f_trace is not None:
            return
        held = frame.f_locals
        if users:
            for label, value in list(held.items()):
                self._add(value, label, code.co_filename, 0)
        else:
            callbacks = getattr(held.get("callbacks"), "callbacks", None)
            for callback in callbacks if isinstance(callbacks, (list, tuple)) else ():
                self._add(callback, type(callback).__name__, "", 0)
            self._add(held.get("self"), type(held.get("self")).__name__, "", 0)
        # Up to Python 3.12 the frame keeps this dict, and with it what it holds, unless the program has it too.
        if type(held) is dict and sys.getrefcount(held) <= 3:
            held.clear()

    def _add(self, value: Any, label: str, file: str, depth: int) -> None:
        if depth <= DEEPEST and id(value) not in self._seen and self._may_hold(value):
            self._seen.add(id(value))
            self._queue.append((value, label, file, depth))

    def _may_hold(self, value: Any) -> bool:
        """Nothing else is kept, not even for a moment: NumPy resizes no array that somebody else holds."""
        kind = type(value)
        if isinstance(value, HOLDERS) or kind.__name__ == "_lru_cache_wrapper":
            return True
        return kind.__module__.partition(".")[0] in ("keras", "tf_keras") or self._is_users_class(kind)

    def _look(self, value: Any, label: str, file: str, depth: int) -> None:
        if isinstance(value, (list, tuple, set, frozenset, deque, dict)):
            self._look_into(value, label, file, depth)
        elif isinstance(value, FunctionType):
            if is_users(value.__code__.co_filename):
                self._from_function(value, depth)
        elif isinstance(value, MethodType):
            self._add(value.__self__, label.rpartition(".")[0] or type(value.__self__).__name__, file, depth)
        elif isinstance(value, BuiltinMethodType):
            if isinstance(value.__self__, (list, dict, set, deque)):  # keep = results.append
                self._add(value.__self__, label, file, depth)
        elif isinstance(value, GeneratorType):
            if value.gi_frame is not None:
                self._from_frame(value.gi_frame)
        elif type(value).__name__ == "_lru_cache_wrapper":
            self._from_cache(value, depth)
        elif isinstance(value, type):
            if self._is_users_class(value):
                for name, held in list(vars(value).items()):
                    if isinstance(held, (list, dict, set, deque)):
                        self._add(held, f"{value.__name__}.{name}", _file_of(value), depth + 1)
        else:
            self._look_at_instance(value, label, file, depth)

    def _look_into(self, value: Any, label: str, file: str, depth: int) -> None:
        count = len(value)
        if isinstance(value, dict):
            newest = list(itertools.islice(reversed(value.items()), NEWEST))
            entries = [(f"{label}[{key!r}]" if type(key) is str else f"{label}[…]", held) for key, held in newest]
        else:
            order = reversed(value) if hasattr(value, "__reversed__") or isinstance(value, (list, tuple)) else value
            entries = [(f"{label}[…]", held) for held in itertools.islice(order, NEWEST)]
        for name, held in entries:
            self._add(held, name[:120], file, depth + 1)
        if count == 0 or isinstance(value, (tuple, frozenset)):
            return
        sizes = [size_of(held) for _, held in entries]
        size = int(sum(each for each, _ in sizes) / len(sizes) * count)
        holds = max(sizes)[1]
        if (count >= MANY or size > 1e6 or holds in HANDLE_CLASSES) and (label, file) not in self._found:
            told = {"name": label, "file": file, "length": count, "bytes": size, "holds": holds}
            told["kind"] = "dict" if isinstance(value, dict) else type(value).__name__
            told["most"] = value.maxlen if isinstance(value, deque) else None
            self._found[label, file] = told

    def _from_function(self, function: FunctionType, depth: int) -> None:
        code = function.__code__
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            held, _ = attempt(getattr, cell, "cell_contents")  # an empty one raises
            self._add(held, name, code.co_filename, depth + 1)
        names = code.co_varnames[: code.co_argcount]
        for name, held in zip(reversed(names), reversed(function.__defaults__ or ()), strict=False):
            self._add(held, name, code.co_filename, depth + 1)

    def _from_cache(self, wrapper: Any, depth: int) -> None:
        """functools.lru_cache without a bound: the dict inside it has no name of its own."""
        if wrapper.cache_info().maxsize is None and is_users(wrapper.__wrapped__.__code__.co_filename):
            largest = max((part for part in gc.get_referents(wrapper) if type(part) is dict), key=len, default={})
            file = wrapper.__wrapped__.__code__.co_filename
            self._add(largest, f"the cache of {wrapper.__name__}()", file, depth + 1)

    def _look_at_instance(self, value: Any, label: str, file: str, depth: int) -> None:
        kind = type(value)
        users = self._is_users_class(kind)
        if not users and kind.__module__.partition(".")[0] not in ("keras", "tf_keras"):
            return
        for name, held in list(getattr(value, "__dict__", {}).items()):
            if users or (not name.startswith("_") and isinstance(held, (list, dict, set, deque))):
                self._add(held, f"{kind.__name__}.{name}", _file_of(kind) or file, depth + 1)

    def _is_users_class(self, kind: type) -> bool:
        known = self._users.get(kind.__module__)
        if known is None:
            file = getattr(sys.modules.get(kind.__module__), "__file__", None)
            known = kind.__module__ == "__main__" or (isinstance(file, str) and is_users(file))
            self._users[kind.__module__] = known
        return known


def _file_of(kind: type) -> str:
    return str(getattr(sys.modules.get(kind.__module__), "__file__", "") or "")
