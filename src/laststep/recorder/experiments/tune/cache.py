"""The cache: where it could stand, whether what it keeps fits into memory, and filling it before it is measured."""

from __future__ import annotations

import inspect
import re
import time
from typing import Any

from laststep.recorder.experiments.tune import elements
from laststep.recorder.experiments.tune.call_text import written
from laststep.recorder.experiments.tune.calls import Call, rebuild, walk
from laststep.recorder.experiments.tune.changes import PipelineChange, SkippedChange, ops_of

SAYS = "keep the result in memory"
WORK = {"map", "filter", "interleave", "flat_map", "from_generator", "padded_batch"}
ENDS = {"shuffle", "repeat", "sample_from_datasets", "rejection_resample", "random", "prefetch"}
# Not all that TensorFlow calls stateful: a table is, too, and always gives the same.
RANDOM = re.compile(r"Random|Rng|Multinomial|TruncatedNormal|Parameterized|SampleDistorted|Stateful(?!Partitioned)")
LOOKED_AT = 8  # elements that have to come out the same twice
SHARE_OF_MEMORY = 0.5
OVER_AND_OVER = 10**6  # not for ever: Keras refuses data without an end where it is not told how many steps to take


def cache_of(dataset: Any, seconds: float, epochs: int, steps: int | None) -> PipelineChange | SkippedChange | None:
    """A cache behind the last work that gives the same each time; filled here, for up to so many seconds.

    `epochs` and `steps` (per epoch, where given) are what the program asked of fit.
    """
    call, because = _place(dataset)
    if call is None:
        return SkippedChange(SAYS, None, because) if because else None
    if _once_at_most(dataset, call, epochs, steps):
        return SkippedChange(SAYS, call, "this fit goes through the data once at most")
    if not elements.same(call.dataset, call.dataset, LOOKED_AT):
        return SkippedChange(SAYS, call, "its result was not the same twice")
    count, held = int(call.dataset.cardinality().numpy()), _mean_size(call.dataset)
    if count == -1:
        return SkippedChange(SAYS, call, "this data never ends")
    room = _available_memory() * SHARE_OF_MEMORY
    if count * held > room:
        return SkippedChange(SAYS, call, f"it would need about {_gb(count * held)} of memory, {_gb(2 * room)} are free")
    return _filled(dataset, call, seconds, room)


def _once_at_most(dataset: Any, call: Call, epochs: int, steps: int | None) -> bool:
    """A cache helps from the second pass on, and an epoch need not be a pass."""
    if steps is None:
        return epochs < 2
    taken = epochs * steps
    for later in walk(dataset):
        if later is call:
            break
        taken *= int(later.argument("batch_size", 1)) if later.method in ("batch", "padded_batch") else 1
    return 0 < taken <= int(call.dataset.cardinality().numpy())


def _place(dataset: Any) -> tuple[Call | None, str]:
    """The last work before anything random; and, where there is none, why."""
    chain = list(walk(dataset))
    best: Call | None = None
    for call in reversed(chain):
        if call.method == "cache":
            best = None
            continue
        because = _changes_each_time(call)
        if because:
            return best, because if best is None and any(later.method in WORK for later in chain) else ""
        if call.method in ENDS:
            break
        if call.method in WORK or (best is not None and len(call.inputs) > 1):
            best = call
    return best, ""


def _changes_each_time(call: Call) -> str:
    if call.method == "list_files" and call.argument("shuffle", 1) is not False:
        return "list_files shuffles the files before the work: a cache would freeze their order"
    if call.method == "shuffle":
        return "the examples are shuffled before the work: a cache would freeze their order"
    if call.method in WORK and any(RANDOM.match(op) for op in ops_of(call)):
        return f"something random is in the {call.method}"
    if call.method == "from_generator" and not inspect.isgeneratorfunction(call.argument("generator", 0)):
        return "nobody knows whether this generator can be asked twice"
    return ""


def _filled(dataset: Any, call: Call, seconds: float, room: float) -> PipelineChange | SkippedChange:
    """Filled with everything where there is time, otherwise with the first part, over and over."""
    cached = call.dataset.cache()
    total: float
    count, total, complete = _fill(cached, seconds, room)
    if total > room:
        return SkippedChange(SAYS, call, f"it holds more than {_gb(room)}")
    mean = total / max(count, 1)
    if not complete:
        cached = call.dataset.take(count).cache().repeat(OVER_AND_OVER)
        _fill(cached.take(count), seconds * 2, room)
        known = int(call.dataset.cardinality().numpy())
        total = known * mean if known > 0 else 0
    size = f"needs about {_gb(total)} of memory" if total else "its whole size is not known: look at the memory"
    data = rebuild(dataset, call, lambda _: cached)
    return PipelineChange(
        SAYS, call, f"{written(call)}.cache()", data, f"{size}; from the second pass over the data on"
    )


def _fill(cached: Any, seconds: float, room: float) -> tuple[int, int, bool]:
    """(elements, bytes, whether that was all)"""
    began, count, total = time.perf_counter(), 0, 0
    for element in cached:
        count, total = count + 1, total + elements.size(element)
        if time.perf_counter() - began > seconds or total > room:
            return count, total, False
    return count, total, True


def _mean_size(dataset: Any) -> float:
    sizes = [elements.size(element) for element in dataset.take(LOOKED_AT)]
    return sum(sizes) / max(len(sizes), 1)


def _available_memory() -> float:
    """What the system could still give, or the control group where that is less."""
    with open("/proc/meminfo") as lines:
        free = next(float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    for most, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            with open(most) as limit, open(used) as now:
                free = min(free, float(limit.read()) - float(now.read()))
        except (OSError, ValueError):  # none of that kind, or "max"
            continue
    return free


def _gb(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(count / 1e6, 1):.0f} MB"
