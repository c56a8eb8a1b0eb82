"""The GPU's memory was already in use."""

from __future__ import annotations

from laststep.analysis.device_memory import OUT_OF_MEMORY, parse_bytes, shortage
from laststep.analysis.finding import Confidence, Evidence, Remedy, no
from laststep.analysis.memory import pids
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.logs.read import parsed_console
from laststep.record.events.supervisor import Limits
from laststep.record.run import Run
from laststep.record.sample import GpuState
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_size

MIN_POOL_BYTES = 500e6  # with a smaller pool for TensorFlow, others held the rest
MIN_FREE_SHARE = 0.3  # of the GPU's memory, when the program started
HANDLE = compiled(
    r"(?i)could not create cudnn handle: CUDNN_STATUS_\w+",
    r"(?i)failed to create cublas(?:Lt)? handle: (?:CUBLAS_STATUS_\w+|cublas error|the resource allocation failed)",
    r"(?i)failed to create cusolver\w* (?:handle|instance)",
    r"cudnnCreate\w*.*(?:CUDNN_STATUS_ALLOC_FAILED|CUDNN_STATUS_INTERNAL_ERROR)",
    r"CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED",
)
AT_START = compiled(
    r"failed (?:call to )?cuDevicePrimaryCtxRetain[^\n]*CUDA_ERROR_OUT_OF_MEMORY",
    r"failed to create (?:new )?(?:StreamExecutor|context|CUDA context|session)[^\n]*(?:OUT_OF_MEMORY|out of memory)",
    r"(?:CUDA runtime implicit initialization on GPU:\d+ failed|cudaSetDevice\(\) on GPU:\d+ failed)[^\n]*out of "
    r"memory",
    r"CUDA_ERROR_DEVICE_UNAVAILABLE|all CUDA-capable devices are busy or unavailable|cudaErrorDevicesUnavailable",
    r"(?i)device (?:is )?busy or unavailable",
)
HOLDERS = Remedy("Find out which processes use the GPU, and end what should not run", "nvidia-smi", safe=True)
_ON_DEMAND = "allocate memory on demand, which leaves room for cuDNN, cuBLAS and other processes"
GROWTH = {
    "tensorflow": Remedy(
        f"Let TensorFlow {_ON_DEMAND}",
        'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)',
    ),
    "jax": Remedy(f"Let JAX {_ON_DEMAND}", "XLA_PYTHON_CLIENT_PREALLOCATE=false python train.py", safe=True),
}
_MISMATCH = compiled(r"Loaded runtime CuDNN library|cudnn.*version mismatch|CUDNN_STATUS_(?:ARCH|VERSION)_MISMATCH")
_FREE = compiled(r"totalMemory: (?P<total>[\d.]+[KMG]iB) freeMemory: (?P<free>[\d.]+[KMG]iB)")
_USAGE = compiled(r"Memory usage: (?P<free>\d+) bytes free, (?P<total>\d+) bytes total")
_OTHERS = compiled(r"Process (?P<pid>\d+) has (?P<used>[\d.]+ [KMG]iB) memory in use")


@rule(tier=Tier.ROOT)
def gpu_memory_held(run: Run) -> Answer:
    """The GPU's memory was already in use: by another process, an old session, or TensorFlow's own pool.

    What happened
        Something held the GPU's memory before this program needed it: another training, a notebook whose kernel
        is still running, a program that hangs. It surfaces as an out-of-memory error at the very start, or as
        cuDNN or cuBLAS failing to create its handle, because they allocate their memory outside TensorFlow's
        pool.

    How laststep knows
        From the handle that could not be created, from the GPU's free memory when the program started, or from
        NVML, which names the processes that hold memory. A failed handle alone does not show what held it.

    What to do
        Find out which process holds it (`nvidia-smi`), and end what should not run. If it is your own process,
        memory growth (tf.config.experimental.set_memory_growth) or a smaller share leaves room for cuDNN and
        cuBLAS.

    Not to be confused with
        gpu-out-of-memory (the step itself is too large), gpu-libraries-unusable (incompatible versions: then
        the log names the version that was loaded).
    """
    if find_message(run, *_MISMATCH):
        return no("the libraries have incompatible versions, which explains the failed handle")
    usage = find_message(run, *_USAGE)
    if usage is not None and int(usage["free"]) > (1 - MIN_FREE_SHARE) * int(usage["total"]):
        return no(f"{format_size(int(usage['free']))} of {format_size(int(usage['total']))} were free on the GPU")
    start, handle = find_message(run, *AT_START), find_message(run, *HANDLE)
    others = _others(run)
    message = start or handle or (find_message(run, *OUT_OF_MEMORY) if others else None)
    who = f": {others.says}" if others else ""
    return answer(
        run,
        message,
        "no library failed to allocate its first GPU memory",
        cause=f"{_cause(start, handle)}{who}.",
        remedies=(HOLDERS, *(GROWTH[name] for name in _framework(message))),
        more=(others,) if others else (),
        confidence=Confidence.CERTAIN if start or others else Confidence.LIKELY,
    )


def _framework(message: Message | None) -> tuple[str, ...]:
    text = message.found.string if message else ""
    return () if "PyTorch" in text or "torch." in text else ("jax",) if "jax" in text.lower() else ("tensorflow",)


def _cause(start: Message | None, handle: Message | None) -> str:
    if handle and not start:
        return "A GPU library could not create its handle because no GPU memory was left for it"
    return "The GPU's memory was already in use when this program needed it"


def _held_before_the_start(run: Run) -> Evidence | None:
    """By NVML; None where a GPU was free, since it is not known which one the program used."""
    limits, mine = run.first(Limits), pids(run)
    if limits is None or not limits.gpus or not all(map(_is_held, limits.gpus)):
        return None
    gpu = limits.gpus[0]
    others = [holder for holder in gpu.held_by if holder.pid not in mine]
    names = ", ".join(f"process {holder.pid} with {format_size(holder.used or 0)}" for holder in others)
    in_use = f"{format_size(gpu.used or 0)} of {format_size(gpu.total or 0)} were in use before the start"
    return Evidence(in_use + (f" ({names})" if names else ""), (limits,))


def _is_held(gpu: GpuState) -> bool:
    return gpu.used is not None and gpu.total is not None and gpu.used > (1 - MIN_FREE_SHARE) * gpu.total


def _others(run: Run) -> Evidence | None:
    """What else held the GPU's memory, by NVML, PyTorch's message, or TensorFlow's figures at its start."""
    by_driver = _held_before_the_start(run)
    if by_driver is not None:
        return by_driver
    other = find_message(run, *_OTHERS)
    if other:
        return Evidence(f"process {other['pid']} held {other['used']}")
    lack = shortage(run)
    if lack is not None and 0 < lack.limit < MIN_POOL_BYTES:
        return Evidence(f"TensorFlow could reserve only {format_size(lack.limit)} of GPU memory")
    for line in parsed_console(run).lines:
        free = _FREE[0].search(line.text)
        if free and parse_bytes(free["free"]) < MIN_FREE_SHARE * parse_bytes(free["total"]):
            return Evidence(f"line {line.number:,}: only {free['free']} of {free['total']} were free at the start")
    return None
