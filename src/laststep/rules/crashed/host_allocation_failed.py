"""An allocation in host memory failed."""

from __future__ import annotations

import math
import re

from laststep.analysis.device_memory import DTYPE_BYTES, parse_bytes
from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.record.sample import HostMemory
from laststep.rules.rule import Answer, rule
from laststep.text import format_size

MESSAGES = compiled(
    r"Unable to allocate (?P<requested>[\d.]+ [KMGTPE]iB) for an array with shape \((?P<shape>[\d, ]+)\) and data "
    r"type (?P<dtype>\w+)",
    r"OOM when allocating tensor with shape ?\[(?P<shape>[\d,]*)\] and type (?P<dtype>\w+) on \S*(?:device:CPU|"
    r"/cpu)\S*",
    r"OOM when allocating tensor with shape ?\[(?P<shape>[\d,]*)\]\s*\[\[(?:N|n)ode: "
    r"(?:(?!_device)[\s\S]){0,600}_device=\"[^\"]*(?:cpu|"
    r"CPU):\d",
    r"OOM when allocating[^\n]*(?:device:CPU|by allocator \w*cpu)",
    r"Allocator \(\w*cpu\w*\) ran out of memory trying to allocate (?P<requested>[\d.]+ ?[KMGT]?i?B?)",
    r"std::bad_alloc|std::length_error",
    r"(?:^|\.)(?:_?Array)?MemoryError\b",
    r"\[Errno 12\]|Cannot allocate memory|not enough memory: you tried to allocate (?P<requested>\d+) bytes",
    r"(?i)failed to allocate host memory|out of memory allocating (?P<requested>\d+) bytes|malloc\(\) failed",
    r"\[WinError (?:8|14|1455)\]|paging file is too small|Die Auslagerungsdatei ist zu klein|页面文件太小",
    r"RESOURCE_EXHAUSTED: [^\n]*(?:device:CPU|\bhost memory)[^\n]*|Failed to allocate \d+ bytes.*[Hh]ost",
)


@rule(follows=("leaked", "host-memory-growing"))
def host_allocation_failed(run: Run) -> Answer:
    """An allocation in the machine's memory failed with an error.

    What happened
        A single allocation on the host failed: an array or tensor larger than the free memory, than a limit on
        the process (ulimit -v), or than the page file on Windows. Unlike a kill, this is an error that Python
        can show.

    How laststep knows
        NumPy's MemoryError, TensorFlow's ResourceExhaustedError on the device CPU, or std::bad_alloc, each with
        the shape that was requested where it is given.

    What to do
        Do not build the large array: read the data in chunks (tf.data, np.load(mmap_mode="r"), a generator).
        NumPy defaults to float64: float32 is half the size, uint8 images an eighth.

    Not to be confused with
        host-out-of-memory (a kill, without an error), gpu-out-of-memory (the GPU's memory).
    """
    message = find_message(run, *MESSAGES)
    if message is None:
        return answer(run, None, "no allocation in the machine's memory failed")
    requested = _requested_bytes(message)
    size = f" of {format_size(requested)}" if requested else ""
    shape = message.get("shape").replace(" ", "")
    return answer(
        run,
        message,
        "",
        cause=f"An allocation{size} in the machine's memory failed.",
        remedies=_remedies(message, shape, _in_numpy(message)),
        more=_available(run),
    )


def _requested_bytes(message: Message) -> int:
    if message.get("requested"):
        return parse_bytes(message.get("requested"))
    shape = [int(length) for length in re.findall(r"\d+", message.get("shape"))]
    return math.prod(shape) * DTYPE_BYTES.get(message.get("dtype"), 4) if shape else 0


def _available(run: Run) -> tuple[Evidence, ...]:
    host: HostMemory | None = next((sample.host for sample in reversed(run.samples) if sample.host.total), None)
    if host is None:
        return ()
    free = format_size(host.available or 0)
    return (Evidence(f"the machine had {free} of {format_size(host.total)} available in the last sample"),)


def _in_numpy(message: Message) -> bool:
    """An array of the program's own, not a tensor inside a model."""
    return "MemoryError" in message.found.string.partition(":")[0]


def _remedies(message: Message, shape: str, in_numpy: bool) -> tuple[Remedy, ...]:
    chunks = Remedy("Make or read the data in parts, not as one array: a generator, or np.load with mmap_mode")
    if not in_numpy:
        chunks = Remedy("Make this tensor smaller: a smaller batch, or an operation that needs less at once")
    if message.get("dtype") in ("float64", "double"):
        half = Remedy("Use float32, half the size of NumPy's default float64", 'dtype="float32"')
        return (half, chunks)
    if shape and "," in shape:
        return (chunks, Remedy(f"If the first number of [{shape}] is the batch size, use a smaller one"))
    return (chunks,)
