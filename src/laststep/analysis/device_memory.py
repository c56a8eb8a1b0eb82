"""What a GPU's allocator reports when it runs out of memory: TensorFlow's and JAX's dump, PyTorch's message."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from laststep.analysis.finding import Evidence
from laststep.analysis.messages import Message, compiled, find_message, find_messages
from laststep.analysis.shapes import parse_shape
from laststep.logs.read import parsed_console
from laststep.record.run import Run
from laststep.text import format_size

# With this much free, of what was requested and of the limit, only the blocks can have been too small.
MIN_FREE_OF_REQUESTED = 1.5
MIN_FREE_OF_LIMIT = 0.15
_UNITS = {unit: 1 << 10 * power for power, unit in enumerate("BKMGTPE")}
_SIZE = r"(?P<requested>[\d.]+ ?(?:[KMGT]i?B|B|bytes)?)"
OUT_OF_MEMORY = compiled(
    r"OOM when allocating tensor with shape ?\[(?P<shape>[\d,]*)\](?: and type (?P<dtype>\w+))?"
    r"(?: on (?P<device>\S*GPU\S*|/gpu\S*))?(?: by allocator (?P<allocator>GPU\S*|"
    r"gpu\S*))?(?![^\n]*(?:device:CPU|by allocator \w*cpu))",
    rf"(?i)Out of memory (?:while )?trying to allocate {_SIZE}(?![^\n]*(?:not a failure|performance gains))",
    rf"Failed to allocate request for {_SIZE}[^\n]*on device ordinal",
    rf"CUDA out of memory\. Tried to allocate {_SIZE}",
    r"CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory",
    r"RESOURCE_EXHAUSTED: (?!.*(?:CPU|cpu|[Dd]isk|space left)).*(?:GPU|gpu|CUDA|cuda)",
    r"Dst tensor is not initialized|bfc_allocator\.cc:\d+\] (?:Stats:|Sum Total of in-use chunks)",
    r"Ran out of memory in memory space (?P<space>hbm|vmem)",
)
# Old TensorFlow versions name no device in the message, but the node that failed, the first one, does.
_ON_CPU = re.compile(
    r"^(?![^\n]*(?:GPU|gpu):\d)[\s\S]*?OOM when "
    r"allocating(?![\s\S]{0,400}?GPU)[\s\S]{0,600}?_device=\"[^\"]*(?:cpu|CPU):\d"
)
_HOST = re.compile(r"by allocator \w*(?:cpu|CPU)\w*|device:CPU|Allocator \(\w*(?:cpu|CPU)\w*\)")
_GPU = re.compile(r"(?:GPU|gpu)[_: ]?\d|CUDA|cuda(?!_malloc)|hbm|device ordinal")
_STATS = re.compile(
    r"\b(?P<name>Limit|InUse|MaxInUse|NumAllocs|MaxAllocSize|Reserved|"
    r"LargestFreeBlock):\s+(?P<value>[\d.]+(?:[KMGT]i?B|B)?)"
)
_POOL = re.compile(r"total_region_allocated_bytes_: (?P<size>\d{1,18})")
_REQUESTED = re.compile(r"trying to allocate (?P<requested>[\d.]+ ?[KMGT]i?B|[\d.]+ ?B|\d+)")
_FREE_CHUNK = re.compile(r"Free  ?at \w+ (?:of size )?(?P<size>\d{1,18})")
_TORCH = re.compile(
    r"total capacity of (?P<total>[\d.]+ [KMG]iB).*?of which (?P<free>[\d.]+ [KMG]iB) is free"
    r"(?:.*?this process has (?P<mine>[\d.]+ [KMG]iB))?(?:.*?(?P<unused>[\d.]+ [KMG]iB) is reserved by PyTorch "
    r"but unallocated)?",
    re.DOTALL | re.IGNORECASE,
)
DTYPE_BYTES = {
    **{"float": 4, "half": 2, "bfloat16": 2, "double": 8, "float16": 2, "float32": 4, "float64": 8, "complex128": 16},
    **{"int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1},
}


@dataclass(frozen=True)
class Shortage:
    """What was requested and what there was, in bytes; 0 where it is not known."""

    message: Message
    requested: int = 0
    limit: int = 0
    in_use: int = 0
    largest_free: int = 0  # the largest free block
    pool: int = 0  # what the allocator had reserved by then; with memory growth less than the limit

    @property
    def free(self) -> int:
        return max(0, (self.pool or self.limit) - self.in_use) if self.limit else 0

    @property
    def is_fragmented(self) -> bool:
        """Far more was free than was requested; a full GPU always has some small blocks left."""
        enough = max(MIN_FREE_OF_REQUESTED * self.requested, MIN_FREE_OF_LIMIT * self.limit)
        return bool(self.requested and self.limit) and self.free >= enough

    @property
    def shape(self) -> list[int]:
        return _known_sizes(self.message)

    def figures(self) -> tuple[Evidence, ...]:
        figures = []
        if self.requested:
            tensor = f" (a tensor of shape {self.shape})" if self.shape else ""
            figures.append(f"{format_size(self.requested)} were requested{tensor}")
        if self.limit:
            figures.append(f"{format_size(self.in_use)} of {format_size(self.limit)} were in use")
        if self.largest_free:
            figures.append(f"the largest free block was {format_size(self.largest_free)}")
        return (Evidence(", ".join(figures)),) if figures else ()


def shortage(run: Run) -> Shortage | None:
    """The first message of a device that ran out of memory, with the figures of its allocator's dump."""
    messages = [each for each in find_messages(run, *OUT_OF_MEMORY) if not _ON_CPU.search(each.found.string)]
    on_gpu = any(_GPU.search(each.found.string) for each in messages)
    if not messages or (not on_gpu and find_message(run, _HOST)):
        return None
    message = next((each for each in messages if each.get("shape")), None)
    message = message or next((each for each in messages if each.get("requested")), messages[0])
    text = "\n".join(line.text for line in parsed_console(run).lines) + "\n" + message.found.string
    stats = {found["name"]: parse_bytes(found["value"]) for found in _STATS.finditer(text)}
    free = [int(found["size"]) for found in _FREE_CHUNK.finditer(text)]
    requested = parse_bytes(message.get("requested")) or _tensor_bytes(message) or _requested_in(text)
    torch = _TORCH.search(message.found.string)
    limit, in_use = stats.get("Limit", 0), stats.get("InUse", 0)
    if torch:
        limit, unused = parse_bytes(torch["total"]), parse_bytes(torch["unused"] or "")
        in_use = limit - parse_bytes(torch["free"]) - unused
    pools = [int(found["size"]) for found in _POOL.finditer(text)]
    largest = stats.get("LargestFreeBlock", 0) or max(free, default=0)
    return Shortage(message, requested, limit, in_use, largest, pools[-1] if pools else 0)


def parse_bytes(text: str) -> int:
    """`2.50GiB`, `123 bytes` as a number."""
    found = re.match(r"(\d{1,18}(?:\.\d+)?)\.?\s*([KMGTPE]?)", text.strip())
    return int(float(found[1]) * _UNITS[found[2] or "B"]) if found else 0


def _known_sizes(message: Message) -> list[int]:
    return [size for size in parse_shape(message.get("shape")) if size is not None]


def _tensor_bytes(message: Message) -> int:
    sizes = _known_sizes(message)
    return math.prod(sizes) * DTYPE_BYTES.get(message.get("dtype"), 4) if sizes else 0


def _requested_in(text: str) -> int:
    found = [parse_bytes(each["requested"]) for each in _REQUESTED.finditer(text)]
    return found[-1] if found else 0
