"""An .xplane.pb file → its ops, waits for input, calls into TensorFlow and allocations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from laststep.profile import hlo
from laststep.profile.wire import Malformed, fields, number, signed, text, varint
from laststep.record.reading import read_plain
from laststep.record.run import DamagedRun

MAX_BYTES = 256 << 20
MAX_KEPT_EVENTS = 2_000_000
MAX_READ_EVENTS = 20_000_000
MAX_NAMES = 1_000_000
MAX_PARTS = 100_000  # planes, and lines of a plane
ABSOLUTE_NS = 10**17  # a line's time stamp above this counts from 1970, below from the profile's start

OP_NAME = re.compile(r"[^: ]+:[A-Za-z_]\w*")
WAIT_NAMES = ("IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional")
EAGER = "EagerLocalExecute: "
RUNS = frozenset({"KernelAndDeviceFunc::Run", "KernelAndDeviceOp::Run"})
MEMORY = "MemoryAllocation"
DEVICE = "/device:"
OP, XLA, WAIT, CALL, RUN, ALLOCATION = range(1, 7)

Span = tuple[int, int]  # picoseconds since the trace's origin


class Op(NamedTuple):
    """One execution of one op. `name` is TensorFlow's, with the names of the layers where it knows them."""

    begin: int
    end: int
    name: str
    kind: str
    in_pipeline: bool = False
    on_device: bool = False


class Allocation(NamedTuple):
    """Memory that an op allocated."""

    at: int
    bytes: int
    in_use: int
    op: str
    allocator: str


@dataclass
class ProfileTrace:
    """What one process did during the profile."""

    origin_ns: int = 0
    ops: list[Op] = field(default_factory=list)
    waits: list[Span] = field(default_factory=list)
    runs: list[Span] = field(default_factory=list)  # of the training thread inside TensorFlow
    memory: list[Allocation] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    compiled: bool = False  # by XLA, whose names the ops have
    eager: int = 0  # picoseconds of ops that Python called eagerly
    seen: int = 0
    cut: bool = False  # there are more events than laststep reads


@dataclass
class _Plane:
    name: str = ""
    lines: list[memoryview] = field(default_factory=list)
    events: dict[int, tuple[str, memoryview]] = field(default_factory=dict)
    stats: dict[int, str] = field(default_factory=dict)
    own: list[memoryview] = field(default_factory=list)


def read_trace(path: Path) -> ProfileTrace:
    """Read a trace of TensorFlow's profiler. It may be damaged or hostile: DamagedRun is the only error."""
    content = read_plain(path, MAX_BYTES)
    if not content:
        raise DamagedRun(f"{path} can't be read")
    if len(content) == MAX_BYTES:
        raise DamagedRun(f"{path} is too large for laststep; TensorBoard can open it")
    try:
        return _read(memoryview(content))
    except Malformed as error:
        raise DamagedRun(f"{path} is not a complete profile ({error})") from error


def _read(content: memoryview) -> ProfileTrace:
    parts = [value for key, value in fields(content) if key == 1 and isinstance(value, memoryview)]
    planes = [_plane(value) for value in parts[:MAX_PARTS]]
    if not any(plane.lines for plane in planes):
        raise Malformed("it contains no event")
    trace = ProfileTrace(origin_ns=next((origin for plane in planes if (origin := _origin(plane))), 0))
    compiled = hlo.names(metadata for plane in planes for _, metadata in plane.events.values())
    kernels = {re.sub(r"\W", "_", name): op for name, op in compiled.items()} | compiled
    trace.devices = [plane.name for plane in planes if plane.name.startswith(DEVICE) and plane.lines]
    for plane in planes:
        if plane.name.startswith(DEVICE):
            _read_device(plane, trace, kernels)
        elif plane.name == "/host:CPU":
            _read_host(plane, trace, compiled)
    return trace


def _plane(data: memoryview) -> _Plane:
    plane = _Plane()
    for key, value in fields(data):
        if not isinstance(value, memoryview):
            continue
        if max(len(plane.events), len(plane.stats)) > MAX_NAMES or max(len(plane.lines), len(plane.own)) > MAX_PARTS:
            raise Malformed("it has too many names")
        if key == 2:
            plane.name = text(value)
        elif key == 3:
            plane.lines.append(value)
        elif key == 4:
            identity, metadata = _entry(value)
            plane.events[identity] = _text_field(metadata, 2), metadata
        elif key == 5:
            identity, metadata = _entry(value)
            plane.stats[identity] = _text_field(metadata, 2)
        elif key == 6:
            plane.own.append(value)
    return plane


def _entry(data: memoryview) -> tuple[int, memoryview]:
    """One entry of a map: key and value."""
    found = dict(fields(data))
    value = found.get(2)
    return signed(number(found.get(1, 0))), value if isinstance(value, memoryview) else memoryview(b"")


def _text_field(data: memoryview, wanted: int) -> str:
    return next((text(value) for key, value in fields(data) if key == wanted), "")


def _origin(plane: _Plane) -> int:
    for stat in plane.own:
        name, value = _stat(plane, stat)
        if name == "profile_start_time" and isinstance(value, int):
            return value
    return 0


def _stat(plane: _Plane, data: memoryview) -> tuple[str, int | str]:
    """(name, value): numbers as int (no double is needed), texts and references as str."""
    name, result = "", 0  # type: tuple[str, int | str]
    for key, value in fields(data):
        if key == 1:
            name = plane.stats.get(signed(number(value)), "")
        elif key in (3, 4):
            result = number(value)
        elif key == 5:
            result = text(value)
        elif key == 7:
            result = plane.stats.get(signed(number(value)), "")
    return name, result


def _stats(plane: _Plane, event: memoryview, wanted: int = 4) -> dict[str, int | str]:
    """The stats of an event (field 4) or of its metadata (field 5)."""
    found = (value for key, value in fields(event) if key == wanted)
    return dict(_stat(plane, value) for value in found if isinstance(value, memoryview))


class _Line(NamedTuple):
    name: str
    start: int
    data: memoryview


def _line(data: memoryview, trace: ProfileTrace) -> _Line:
    """One thread, or one stream of a device; `start` is in picoseconds since the origin."""
    name, stamp = "", 0
    for key, value in fields(data):
        if key == 4:  # the events come last
            break
        if key == 2:
            name = text(value)
        elif key == 3:
            stamp = signed(number(value))
    if stamp > ABSOLUTE_NS:
        trace.origin_ns = trace.origin_ns or stamp
        stamp -= trace.origin_ns
    return _Line(name, stamp * 1000, data)


def _spans(line: _Line, wanted: dict[int, int], trace: ProfileTrace) -> Iterator[tuple[int, int, int, memoryview]]:
    """(metadata id, begin, end, event) of the events with a wanted id; others are skipped."""
    for key, event in fields(line.data):
        # The id is the first field with every writer of this format.
        if key != 4 or not isinstance(event, memoryview) or not len(event) or event[0] != 8:
            continue
        trace.seen += 1
        if trace.seen > MAX_READ_EVENTS or len(trace.ops) + len(trace.memory) >= MAX_KEPT_EVENTS:
            trace.cut = True
            return
        identity, at = varint(event, 1)
        if identity not in wanted:
            continue
        offset = duration = 0
        end = len(event)
        while at < end and event[at] in (16, 24):
            if event[at] == 16:
                offset, at = varint(event, at + 1)
            else:
                duration, at = varint(event, at + 1)
        begin = line.start + signed(offset)
        yield identity, begin, begin + duration, event


def _kind(name: str, compiled: dict[str, str]) -> int:
    if name == MEMORY:
        return ALLOCATION
    if name in RUNS:
        return RUN
    if name.startswith(EAGER):
        return CALL
    if name.startswith(WAIT_NAMES) and (name.endswith("::DoCompute") or ":" not in name.replace("::", "")):
        return WAIT
    if OP_NAME.fullmatch(name):
        return WAIT if name.rpartition(":")[2] in WAIT_NAMES else OP
    return XLA if name in compiled else 0


def _read_host(plane: _Plane, trace: ProfileTrace, compiled: dict[str, str]) -> None:
    kinds = {identity: _kind(name, compiled) for identity, (name, _) in plane.events.items()}
    wanted = {identity: kind for identity, kind in kinds.items() if kind}
    most = 0
    for data in plane.lines:
        line = _line(data, trace)
        calls, runs = _read_thread(line, plane, wanted, trace, compiled)
        inside = sum(end - begin for begin, end in runs)
        if inside > most and not line.name.startswith("tf_"):  # the training thread spends most time in TensorFlow
            most, trace.runs = inside, runs
        _add_eager(calls, runs, trace)


def _read_thread(
    line: _Line, plane: _Plane, wanted: dict[int, int], trace: ProfileTrace, compiled: dict[str, str]
) -> tuple[list[tuple[int, int, str]], list[Span]]:
    calls: list[tuple[int, int, str]] = []
    runs: list[Span] = []
    in_pipeline = line.name.startswith("tf_data")
    for identity, begin, end, event in _spans(line, wanted, trace):
        kind = wanted[identity]
        name = plane.events[identity][0]
        if kind == OP:
            full, _, op = name.rpartition(":")
            trace.ops.append(Op(begin, end, full, op, in_pipeline))
        elif kind == XLA:
            trace.compiled = True
            trace.ops.append(Op(begin, end, compiled[name], hlo.plain(name)))
        elif kind == WAIT:
            trace.waits.append((begin, end))
        elif kind == RUN:
            runs.append((begin, end))
        elif kind == CALL:
            calls.append((begin, end, name[len(EAGER) :]))
        else:
            _add_allocation(_stats(plane, event), begin, trace)
    return calls, runs


def _add_allocation(stats: dict[str, int | str], at: int, trace: ProfileTrace) -> None:
    size, in_use = stats.get("allocation_bytes"), stats.get("bytes_allocated")
    if isinstance(size, int) and isinstance(in_use, int) and size > 0:
        allocation = Allocation(at, size, in_use, str(stats.get("tf_op") or ""), str(stats.get("allocator_name") or ""))
        trace.memory.append(allocation)


def _add_eager(calls: list[tuple[int, int, str]], runs: list[Span], trace: ProfileTrace) -> None:
    """An op that Python calls eagerly has no span of its own: its run is the one inside its call."""
    ordered = iter(sorted(runs))
    run = next(ordered, None)
    for begin, end, name in sorted(calls):
        while run is not None and run[0] < begin:
            run = next(ordered, None)
        if run is None:
            return
        if run[1] > end or name.startswith(("__", *WAIT_NAMES)):  # __inference_…: a function, whose ops have spans
            continue
        makes_input = "Iterator" in name or "Dataset" in name
        if makes_input:
            trace.waits.append(run)
        trace.eager += run[1] - run[0]
        trace.ops.append(Op(*run, name, name, in_pipeline=makes_input))


def _read_device(plane: _Plane, trace: ProfileTrace, compiled: dict[str, str]) -> None:
    """The streams of a device: every event on them is work of the device."""
    wanted = dict.fromkeys(plane.events, OP)
    for data in plane.lines:
        line = _line(data, trace)
        if not line.name.startswith("Stream"):
            continue  # lines derived from the streams would count twice
        for identity, begin, end, event in _spans(line, wanted, trace):
            name, metadata = plane.events[identity]
            stats = _stats(plane, metadata, 5) | _stats(plane, event)
            full, op = _on_device(name, stats, compiled)
            trace.compiled = trace.compiled or "hlo_op" in stats
            trace.ops.append(Op(begin, end, full, op, on_device=True))


def _on_device(kernel: str, stats: dict[str, int | str], compiled: dict[str, str]) -> tuple[str, str]:
    """(name, type) of the op: from TensorFlow, from the XLA instruction, or else from the kernel."""
    full, _, op = str(stats.get("tf_op") or "").rpartition(":")
    if op:
        return full, op
    for name in (str(stats.get("hlo_op") or ""), kernel):  # in a CUDA graph there is only the name of the kernel
        if compiled.get(name):
            return compiled[name], hlo.plain(name)
    return kernel, kernel.partition("(")[0]
