"""Somebody else had the card's memory."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.device_memory import OUT_OF_MEMORY, bytes_of, shortage
from laststep.analysis.finding import Confidence, Evidence, Remedy, no
from laststep.analysis.memory import pids
from laststep.analysis.messages import ECHOES, Message, answer, compiled, find_message
from laststep.logs.read import parsed_console
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

TINY = 500e6  # bytes for TensorFlow's whole pool: the rest was in other hands
LITTLE = 0.3  # of the card was free when the program began
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
SEE = Remedy("See who holds the card, and end what should not run", "nvidia-smi", safe=True)
_ROOM = "take memory as it needs it, so that others, cuDNN and cuBLAS find room"
GROWTH = {
    "tensorflow": Remedy(
        f"Let TensorFlow {_ROOM}",
        'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)',
    ),
    "jax": Remedy(f"Let JAX {_ROOM}", "XLA_PYTHON_CLIENT_PREALLOCATE=false python train.py", safe=True),
}
_MISMATCH = compiled(r"Loaded runtime CuDNN library|cudnn.*version mismatch|CUDNN_STATUS_(?:ARCH|VERSION)_MISMATCH")
_FREE = compiled(r"totalMemory: (?P<total>[\d.]+[KMG]iB) freeMemory: (?P<free>[\d.]+[KMG]iB)")
_USAGE = compiled(r"Memory usage: (?P<free>\d+) bytes free, (?P<total>\d+) bytes total")
_OTHERS = compiled(r"Process (?P<pid>\d+) has (?P<used>[\d.]+ [KMG]iB) memory in use")


@rule(outranks=(*ECHOES, "gpu-out-of-memory", "gpu-libraries-unusable"))
def gpu_memory_held(run: Run) -> Answer:
    """The card's memory was in other hands: another process, an earlier session, or TensorFlow's own large share.

    What happened
        Something held the card's memory before this program needed it: another training, a notebook whose
        kernel still lives, a program that hangs. It surfaces as an out-of-memory error at the very start, or as
        cuDNN or cuBLAS failing to create its handle, because they take their memory beside TensorFlow's pool.

    How laststep knows
        By the handle that could not be created, by the card's free memory when the program began, or by NVML,
        which names the processes that hold memory. A handle alone does not tell whose memory it was.

    What to do
        See who has it (`nvidia-smi`), end what should not run. If it is your own process: memory growth
        (tf.config.experimental.set_memory_growth) or a smaller share leaves room for cuDNN and cuBLAS.

    Not to be confused with
        gpu-out-of-memory (the step itself is too large), gpu-libraries-unusable (versions that do not fit:
        then the log says which version was loaded).
    """
    if find_message(run, *_MISMATCH):
        return no("the libraries' versions do not fit, which explains the failing handle")
    usage = find_message(run, *_USAGE)
    if usage is not None and int(usage["free"]) > (1 - LITTLE) * int(usage["total"]):
        return no(f"{words.size(int(usage['free']))} of {words.size(int(usage['total']))} were free on the card")
    start, handle = find_message(run, *AT_START), find_message(run, *HANDLE)
    others = _others(run)
    message = start or handle or (find_message(run, *OUT_OF_MEMORY) if others else None)
    who = f": {others.says}" if others else ""
    return answer(
        run,
        message,
        "no library failed to get its first memory on the card",
        cause=f"{_cause(start, handle)}{who}.",
        remedies=(SEE, *(GROWTH[name] for name in _framework(message))),
        more=(others,) if others else (),
        confidence=Confidence.CERTAIN if start or others else Confidence.LIKELY,
    )


def _framework(message: Message | None) -> tuple[str, ...]:
    text = message.found.string if message else ""
    return () if "PyTorch" in text or "torch." in text else ("jax",) if "jax" in text.lower() else ("tensorflow",)


def _cause(start: Message | None, handle: Message | None) -> str:
    if handle and not start:
        return "There was no room left on the card for a library's own memory: its handle could not be created"
    return "The card's memory was taken before this program could use it"


def _others(run: Run) -> Evidence | None:
    """Who else had the card's memory, by NVML, by PyTorch's words, or by TensorFlow's figures at its start."""
    mine = pids(run)
    limits = run.first("limits")
    cards = (limits.get("gpus") or []) if limits else []
    if any(gpu.get("used", 0) <= (1 - LITTLE) * gpu.get("total", 1) for gpu in cards):
        cards = []  # one was free, and which one the program used is not known
    for gpu in cards:
        held = [each for each in gpu.get("held_by", []) if each["pid"] not in mine]
        if gpu.get("used", 0) > (1 - LITTLE) * gpu.get("total", 1) and limits:
            names = ", ".join(f"process {each['pid']} with {words.size(each['used'] or 0)}" for each in held)
            told = f"{words.size(gpu['used'])} of {words.size(gpu['total'])} were in use before the start"
            return Evidence(told + (f" ({names})" if names else ""), (limits,))
    other = find_message(run, *_OTHERS)
    if other:
        return Evidence(f"process {other['pid']} held {other['used']}")
    lack = shortage(run)
    if lack is not None and 0 < lack.limit < TINY:
        return Evidence(f"TensorFlow got {words.size(lack.limit)} of the card for itself, and no more")
    for line in parsed_console(run).lines:
        free = _FREE[0].search(line.text)
        if free and bytes_of(free["free"]) < LITTLE * bytes_of(free["total"]):
            return Evidence(f"line {line.number:,}: only {free['free']} of {free['total']} were free at the start")
    return None
