"""A cache: where it could be placed, whether its content fits into memory, and filling it before it is measured."""

from __future__ import annotations

import inspect
import re
import time
from typing import Any

from laststep.recorder.experiments.tune import elements
from laststep.recorder.experiments.tune.call_text import call_text
from laststep.recorder.experiments.tune.calls import Call, rebuild, walk
from laststep.recorder.experiments.tune.changes import PipelineChange, SkippedChange, ops_of

SAYS = "keep the result in memory"
WORK_METHODS = {"map", "filter", "interleave", "flat_map", "from_generator", "padded_batch"}
BARRIER_METHODS = {"shuffle", "repeat", "sample_from_datasets", "rejection_resample", "random", "prefetch"}
# Not every stateful operation: a lookup table is stateful, too, but its result does not change.
RANDOM_OPS = re.compile(r"Random|Rng|Multinomial|TruncatedNormal|Parameterized|SampleDistorted|Stateful(?!Partitioned)")
COMPARED_ELEMENTS = 8  # that must be equal in two passes
MAX_MEMORY_SHARE = 0.5  # of the available memory
REPEAT_COUNT = (
    10**6
)  # passes over the cache, not infinite: Keras refuses infinite data unless the number of steps is given


def cache_of(dataset: Any, seconds: float, epochs: int, steps: int | None) -> PipelineChange | SkippedChange | None:
    """A cache after the last work with a repeatable result; filled here, for at most this many seconds.

    `epochs` and `steps` (per epoch, if given) are the program's arguments of fit.
    """
    call, reason = _cacheable_call(dataset)
    if call is None:
        return SkippedChange(SAYS, None, reason) if reason else None
    if _passes_once(dataset, call, epochs, steps):
        return SkippedChange(SAYS, call, "this fit goes through the data once at most")
    if not elements.are_equal(call.dataset, call.dataset, COMPARED_ELEMENTS):
        return SkippedChange(SAYS, call, "its result was not the same twice")
    count, mean_bytes = int(call.dataset.cardinality().numpy()), _mean_size(call.dataset)
    if count == -1:
        return SkippedChange(SAYS, call, "this data never ends")
    max_bytes = _available_memory() * MAX_MEMORY_SHARE
    if count * mean_bytes > max_bytes:
        return SkippedChange(
            SAYS,
            call,
            f"it would need about {_as_text(count * mean_bytes)} of memory, {_as_text(2 * max_bytes)} are free",
        )
    return _with_filled_cache(dataset, call, seconds, max_bytes)


def _passes_once(dataset: Any, call: Call, epochs: int, steps: int | None) -> bool:
    """A cache helps from the second pass on; an epoch may be less than a pass."""
    if steps is None:
        return epochs < 2
    taken = epochs * steps
    for later in walk(dataset):
        if later is call:
            break
        taken *= int(later.argument("batch_size", 1)) if later.method in ("batch", "padded_batch") else 1
    return 0 < taken <= int(call.dataset.cardinality().numpy())


def _cacheable_call(dataset: Any) -> tuple[Call | None, str]:
    """The last work before anything random; if there is none, the reason."""
    chain = list(walk(dataset))
    best: Call | None = None
    for call in reversed(chain):
        if call.method == "cache":
            best = None
            continue
        reason = _why_not_repeatable(call)
        if reason:
            return best, reason if best is None and any(later.method in WORK_METHODS for later in chain) else ""
        if call.method in BARRIER_METHODS:
            break
        if call.method in WORK_METHODS or (best is not None and len(call.inputs) > 1):
            best = call
    return best, ""


def _why_not_repeatable(call: Call) -> str:
    if call.method == "list_files" and call.argument("shuffle", 1) is not False:
        return "list_files shuffles the files before the work: a cache would freeze their order"
    if call.method == "shuffle":
        return "the examples are shuffled before the work: a cache would freeze their order"
    if call.method in WORK_METHODS and any(RANDOM_OPS.match(op) for op in ops_of(call)):
        return f"the {call.method} contains random operations"
    if call.method == "from_generator" and not inspect.isgeneratorfunction(call.argument("generator", 0)):
        return "it is not known whether this generator can be iterated twice"
    return ""


def _with_filled_cache(dataset: Any, call: Call, seconds: float, max_bytes: float) -> PipelineChange | SkippedChange:
    """Fill it completely if there is time, otherwise with the first part, which is repeated."""
    cached = call.dataset.cache()
    total: float
    count, total, is_complete = _fill(cached, seconds, max_bytes)
    if total > max_bytes:
        return SkippedChange(SAYS, call, f"it holds more than {_as_text(max_bytes)}")
    mean = total / max(count, 1)
    if not is_complete:
        cached = call.dataset.take(count).cache().repeat(REPEAT_COUNT)
        _fill(cached.take(count), seconds * 2, max_bytes)
        known = int(call.dataset.cardinality().numpy())
        total = known * mean if known > 0 else 0
    size = f"needs about {_as_text(total)} of memory" if total else "its total size is not known: watch the memory"
    data = rebuild(dataset, call, lambda _: cached)
    return PipelineChange(
        SAYS, call, f"{call_text(call)}.cache()", data, f"{size}; from the second pass over the data on"
    )


def _fill(cached: Any, seconds: float, max_bytes: float) -> tuple[int, int, bool]:
    """(elements, bytes, whether that was everything)"""
    began, count, size = time.perf_counter(), 0, 0
    for element in cached:
        count, size = count + 1, size + elements.size(element)
        if time.perf_counter() - began > seconds or size > max_bytes:
            return count, size, False
    return count, size, True


def _mean_size(dataset: Any) -> float:
    sizes = [elements.size(element) for element in dataset.take(COMPARED_ELEMENTS)]
    return sum(sizes) / max(len(sizes), 1)


def _available_memory() -> float:
    """Available memory of the system or of the control group, whichever is less."""
    with open("/proc/meminfo") as lines:
        free = next(float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    for limit_file, usage_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            with open(limit_file) as limit, open(usage_file) as usage:
                free = min(free, float(limit.read()) - float(usage.read()))
        except (OSError, ValueError):  # no such control group, or "max"
            continue
    return free


def _as_text(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(count / 1e6, 1):.0f} MB"
