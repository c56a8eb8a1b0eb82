"""An allocation on the CPU failed."""

from __future__ import annotations

import math
import re

from laststep import text as words
from laststep.analysis.device_memory import TYPE_SIZES, bytes_of
from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import ECHOES, Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

FAILED = compiled(
    r"Unable to allocate (?P<asked>[\d.]+ [KMGTPE]iB) for an array with shape \((?P<shape>[\d, ]+)\) and data "
    r"type (?P<dtype>\w+)",
    r"OOM when allocating tensor with shape ?\[(?P<shape>[\d,]*)\] and type (?P<dtype>\w+) on \S*(?:device:CPU|"
    r"/cpu)\S*",
    r"OOM when allocating tensor with shape ?\[(?P<shape>[\d,]*)\]\s*\[\[(?:N|n)ode: "
    r"(?:(?!_device)[\s\S]){0,600}_device=\"[^\"]*(?:cpu|"
    r"CPU):\d",
    r"OOM when allocating[^\n]*(?:device:CPU|by allocator \w*cpu)",
    r"Allocator \(\w*cpu\w*\) ran out of memory trying to allocate (?P<asked>[\d.]+ ?[KMGT]?i?B?)",
    r"std::bad_alloc|std::length_error",
    r"(?:^|\.)(?:_?Array)?MemoryError\b",
    r"\[Errno 12\]|Cannot allocate memory|not enough memory: you tried to allocate (?P<asked>\d+) bytes",
    r"(?i)failed to allocate host memory|out of memory allocating (?P<asked>\d+) bytes|malloc\(\) failed",
    r"\[WinError (?:8|14|1455)\]|paging file is too small|Die Auslagerungsdatei ist zu klein|页面文件太小",
    r"RESOURCE_EXHAUSTED: [^\n]*(?:device:CPU|\bhost memory)[^\n]*|Failed to allocate \d+ bytes.*[Hh]ost",
)


@rule(outranks=(*ECHOES, "gpu-out-of-memory", "host-out-of-memory"))
def host_allocation_failed(run: Run) -> Answer:
    """The program asked the machine for more memory at once than it could get, and was told so by an error.

    What happened
        A single allocation on the CPU's side failed: an array or a tensor larger than what is left, than a
        limit on the process (ulimit -v), or than the page file on Windows. Unlike a kill this is an error that
        Python can show.

    How laststep knows
        NumPy's MemoryError, TensorFlow's ResourceExhaustedError on the device CPU, or std::bad_alloc, each with
        the shape that was asked for where it is said.

    What to do
        Do not build the large array: read the data in pieces (tf.data, np.load(mmap_mode="r"), a generator).
        NumPy makes float64 by itself: float32 is half, and uint8 images are an eighth.

    Not to be confused with
        host-out-of-memory (a kill, without an error), gpu-out-of-memory (the card's memory).
    """
    message = find_message(run, *FAILED)
    if message is None:
        return answer(run, None, "no allocation on the CPU failed")
    asked = _asked(message)
    size = f" of {words.size(asked)}" if asked else ""
    shape = message.get("shape").replace(" ", "")
    return answer(
        run,
        message,
        "",
        cause=f"An allocation{size} in the machine's memory failed.",
        remedies=_remedies(message, shape),
        more=_room(run),
    )


def _asked(message: Message) -> int:
    if message.get("asked"):
        return bytes_of(message.get("asked"))
    shape = [int(length) for length in re.findall(r"\d+", message.get("shape"))]
    return math.prod(shape) * TYPE_SIZES.get(message.get("dtype"), 4) if shape else 0


def _room(run: Run) -> tuple[Evidence, ...]:
    host: dict[str, float] = next((sample["host"] for sample in reversed(run.samples) if sample.get("host")), {})
    if not host.get("total"):
        return ()
    free = words.size(host.get("available", 0))
    return (Evidence(f"the machine had {free} of {words.size(host['total'])} available in the last sample"),)


def _remedies(message: Message, shape: str) -> tuple[Remedy, ...]:
    pieces = Remedy("Read the data in pieces instead of one array", 'np.load("data.npy", mmap_mode="r")')
    if message.get("dtype") in ("float64", "double"):
        half = Remedy("It was float64, which NumPy takes by itself: float32 needs half", 'dtype="float32"')
        return (half, pieces)
    if shape and "," in shape:
        return (pieces, Remedy(f"If the first number of [{shape}] is the batch, take a smaller one"))
    return (pieces,)
