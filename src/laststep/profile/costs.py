"""A trace and the times of its steps → shares of the time, costs of ops and layers."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from laststep.profile.layers import PIPELINE, SUFFIX, Layers, op_type, tree
from laststep.profile.trace import Allocation, ProfileTrace, Span
from laststep.record.events.training import ProfileState
from laststep.text import format_size

MIN_EAGER_SHARE = 0.2  # of the ops' time, for a note about ops without a layer
SHARES = ("input", "compute", "host", "idle")


@dataclass(frozen=True)
class Cost:
    """One layer, or all ops of one type in one layer; per step."""

    layer: str
    op: str = ""
    backward: bool = False
    amount: float = 0.0  # seconds or bytes
    share: float = 0.0  # of the total


@dataclass(frozen=True)
class Profile:
    """Everything that the page shows."""

    first: int
    last: int
    seconds: tuple[float, ...]  # of each step; of steps that ended together, the mean
    whole: float  # seconds of all steps
    shares: dict[str, float]
    layers: tuple[Cost, ...]
    ops: tuple[Cost, ...]
    layers_memory: tuple[Cost, ...] = ()
    ops_memory: tuple[Cost, ...] = ()
    peak: int = 0
    allocator: str = ""
    pace_before: float = 0.0  # seconds per step, without the profiler; 0: not known
    notes: tuple[str, ...] = field(default=())

    @property
    def steps(self) -> int:
        return self.last - self.first + 1

    @property
    def pace(self) -> float:
        return statistics.median(self.seconds)


def make_profile(trace: ProfileTrace, done: ProfileState, before: Sequence[float] = ()) -> Profile | None:
    """None if no step is complete. `before`: seconds of the steps just before the profile."""
    rows = _rows(done)
    steps = [_span(begin, end, trace.origin_ns) for _, begin, end in rows]
    windows = union(steps)
    if not windows:
        return None
    first, last = _numbers(done, rows)
    count = last - first + 1
    names = Layers(tree(done.layers), _names(trace), done.optimizers)
    time = _costs(_times(trace, windows, names), count)
    kinds = {op.name: op.kind for op in trace.ops}
    memory = [allocation for allocation in trace.memory if _inside(windows, allocation.at)]
    main = _main_allocator(memory)
    mine = [allocation for allocation in memory if allocation.allocator == main]
    bytes_ = _costs(
        ((*_named(names, allocation.op, kinds.get(allocation.op, "")), allocation.bytes) for allocation in mine), count
    )
    peak = max((allocation.in_use for allocation in mine), default=0)
    return Profile(
        first=first,
        last=last,
        seconds=tuple(_each(rows, first)),
        whole=length(windows) / 1e12,
        shares=shares(trace, windows),
        layers=by_layer(time),
        ops=time,
        layers_memory=by_layer(bytes_),
        ops_memory=bytes_,
        peak=peak,
        allocator=main,
        pace_before=statistics.median(before) if before else 0.0,
        notes=(*_notes(trace, done, count), _memory_note(mine, peak, bool(trace.devices))),
    )


def _rows(done: ProfileState) -> list[tuple[int, float, float]]:
    """(number, begin, end) of each step, without impossible values."""
    return sorted(row for row in done.steps if 0 <= row[0] < 1e12 and 0 < row[1] < row[2] < 1e11)


def _numbers(done: ProfileState, rows: list[tuple[int, float, float]]) -> tuple[int, int]:
    """First and last step; several may end at once (steps_per_execution)."""
    first = done.after + 1 if done.after is not None and 0 <= done.after < rows[0][0] else rows[0][0]
    return first, max(first, rows[-1][0])


def _each(rows: list[tuple[int, float, float]], first: int) -> Iterator[float]:
    done = first - 1
    for number, begin, end in rows:
        yield (end - begin) / max(1, number - done)
        done = max(done, number)


def _span(begin: float, end: float, origin_ns: int) -> Span:
    return int(begin * 1e9 - origin_ns) * 1000, int(end * 1e9 - origin_ns) * 1000


def union(spans: Iterable[Span]) -> list[Span]:
    """The same time as disjoint spans, in order."""
    merged: list[list[int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > begin:
            merged.append([begin, end])
    return [(begin, end) for begin, end in merged]


def common(one: Sequence[Span], other: Sequence[Span]) -> list[Span]:
    """The intersection; each must be a union."""
    found, a, b = [], 0, 0
    while a < len(one) and b < len(other):
        begin, end = max(one[a][0], other[b][0]), min(one[a][1], other[b][1])
        if begin < end:
            found.append((begin, end))
        if one[a][1] < other[b][1]:
            a += 1
        else:
            b += 1
    return found


def length(spans: Iterable[Span]) -> int:
    return sum(end - begin for begin, end in spans)


def shares(trace: ProfileTrace, windows: list[Span]) -> dict[str, float]:
    """Each moment counts once: as compute, else as waiting, else as idle; the rest is Python."""
    on_device = bool(trace.devices)
    working = (op for op in trace.ops if not op.in_pipeline and (op.on_device or not on_device))
    compute = common(union((op.begin, op.end) for op in working), windows)
    waiting = union([*compute, *common(union(trace.waits), windows)])
    inside = union([*waiting, *common(union(trace.runs), windows)])
    total = length(windows)
    parts = {
        "input": length(waiting) - length(compute),
        "compute": length(compute),
        "host": total - length(inside) if trace.runs else 0,
        "idle": length(inside) - length(waiting) if trace.runs else total - length(inside),
    }
    return {name: parts[name] / total for name in SHARES}


def _inside(windows: list[Span], at: int) -> bool:
    place = bisect_right(windows, (at, 1 << 80)) - 1
    return place >= 0 and at < windows[place][1]


def _names(trace: ProfileTrace) -> set[str]:
    return {op.name for op in trace.ops if not op.in_pipeline} | {allocation.op for allocation in trace.memory}


def _named(names: Layers, name: str, kind: str) -> tuple[str, str, bool]:
    layer, backward = names.of(name)
    return layer, op_type(kind or SUFFIX.sub("", name.rpartition("/")[2])), backward


def _times(trace: ProfileTrace, windows: list[Span], names: Layers) -> Iterable[tuple[str, str, bool, float]]:
    on_device = bool(trace.devices)
    for op in trace.ops:
        if not _inside(windows, op.begin) or (on_device and not op.on_device and not op.in_pipeline):
            continue
        seconds = (op.end - op.begin) / 1e12
        if op.in_pipeline:
            yield PIPELINE, op_type(op.kind), False, seconds
        else:
            yield *_named(names, op.name, op.kind), seconds


def _costs(amounts: Iterable[tuple[str, str, bool, float]], steps: int) -> tuple[Cost, ...]:
    """The most expensive first."""
    sums: dict[tuple[str, str, bool], float] = defaultdict(float)
    for layer, op, backward, amount in amounts:
        sums[layer, op, backward] += amount
    whole = sum(sums.values()) or 1.0
    costs = (Cost(*key, amount / steps, amount / whole) for key, amount in sums.items())
    return tuple(sorted(costs, key=lambda cost: (-cost.amount, cost.layer, cost.op)))


def by_layer(costs: Iterable[Cost]) -> tuple[Cost, ...]:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for cost in costs:
        sums[cost.layer][0] += cost.amount
        sums[cost.layer][1] += cost.share
    found = (Cost(layer, amount=amount, share=share) for layer, (amount, share) in sums.items())
    return tuple(sorted(found, key=lambda cost: (-cost.amount, cost.layer)))


def _main_allocator(memory: list[Allocation]) -> str:
    """The one that allocated most: with a GPU, that of the GPU."""
    sums: dict[str, int] = defaultdict(int)
    for allocation in memory:
        sums[allocation.allocator] += allocation.bytes
    return max(sums, key=lambda name: sums[name], default="")


def _memory_note(memory: list[Allocation], peak: int, on_device: bool) -> str:
    if not memory:
        return "Memory: the trace has no allocation (on a CPU it has only those of oneDNN, from 256 KB on)."
    less = "" if on_device else " (on a CPU, only from 256 KB on)"
    return f"Memory: allocated by ops{less}; peak in use: {format_size(peak)}."


def _notes(trace: ProfileTrace, done: ProfileState, count: int) -> Iterable[str]:
    if done.because and done.wanted is not None and count < done.wanted:
        yield f"Only {count} of {done.wanted} steps: {done.because}."
    if trace.compiled:
        yield "XLA compiled the step: ops are fusions, each counted for the layer of its last op."
    if trace.eager > MIN_EAGER_SHARE * sum(op.end - op.begin for op in trace.ops):
        yield "Ops that Python calls eagerly have no layer name; a tf.function gives them one."
    if not trace.runs:
        yield "The training thread is not in the trace: host work and idle could not be separated."
    if trace.cut:
        yield "The trace has more events than laststep reads: the figures cover its first part."
