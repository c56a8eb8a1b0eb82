"""A GPU is available, and training runs on the CPU."""

from __future__ import annotations

import re
from collections.abc import Iterable

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, RuledOut, cannot, measured, no
from laststep.analysis.progress import fit_place
from laststep.logs.harmless import SKIPPED_GPU
from laststep.logs.read import parsed_console
from laststep.record.events.process import Build, Versions
from laststep.record.events.supervisor import Launch, Limits
from laststep.record.events.training import Setup
from laststep.record.run import Run
from laststep.record.sample import GpuState, Sample
from laststep.rules.rule import Answer, rule
from laststep.text import format_count, format_duration, format_size

MIN_SECONDS = 20.0
MIN_STEPS = 20
MAX_IDLE_PERCENT = 2
MAX_IDLE_GROWTH_BYTES = 200 << 20  # a process that trains on a GPU allocates more than that
MAX_QUOTED_CHARACTERS = 160
HIDDEN = ("", "-1", "none", "NoDevFiles")
INSTALL = 'pip install "tensorflow[and-cuda]"'
# What TensorFlow prints when it ignores a GPU, the most specific first: (the line, why, what to do).
REASONS = (
    (
        SKIPPED_GPU,
        "TensorFlow found it but could not load the CUDA libraries that it needs",
        Remedy("Install the CUDA libraries for this TensorFlow, and remove others from LD_LIBRARY_PATH", INSTALL),
    ),
    (
        re.compile(r"Ignoring visible gpu device.*minimum required Cuda capability"),
        "its compute capability is below TensorFlow's minimum",
        Remedy("Use an older release of TensorFlow, which still supports this GPU"),
    ),
    (
        re.compile(r"does not match DSO version|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        "the driver library and the loaded kernel module have different versions",
        Remedy("Reboot the machine: the driver was updated since it started"),
    ),
    (
        re.compile(r"Could not find cuda drivers|failed call to cuInit"),
        "TensorFlow cannot reach the driver",
        Remedy("Give the program access to the driver; in a container, with --gpus all", "docker run --gpus all …"),
    ),
)
_LIBRARY = re.compile(r"Could not load dynamic library '([^']+)'")


@rule(sees=("inside", "log"), ends=False)
def gpu_unused(run: Run) -> Answer:
    """A GPU is available, and training runs on the CPU.

    What happened
        The machine has a GPU that is idle while this program trains: TensorFlow was installed without GPU support,
        does not find the CUDA libraries, or the GPU is hidden from it.

    How laststep knows
        The driver (NVML) reports the GPU, its memory and its utilization: during the whole training it was idle, and
        no process allocated memory on it. The framework says which devices it sees, and often why it ignores one:
        "Cannot dlopen some GPU libraries" is such a line, and is harmless only on a machine without a GPU.

    What to do
        Install the GPU build (pip install "tensorflow[and-cuda]"), read what TensorFlow prints about missing libraries
        at its start, and check CUDA_VISIBLE_DEVICES.

    Not to be confused with
        gpu-libraries-unusable (the program stops because of it), input-starved (the GPU waits for data).
    """
    if run.is_log:
        return _of_log(run)
    limits, launch, setup = run.first(Limits), run.first(Launch), run.last(Setup)
    gpus = [gpu for gpu in limits.gpus if not gpu.error] if limits else []
    if limits is None or not gpus:
        return no("the driver reports no GPU")
    hidden = launch.environment.get("CUDA_VISIBLE_DEVICES") if launch else None
    if hidden in HIDDEN:
        return no(f"CUDA_VISIBLE_DEVICES is {hidden!r}: the GPU is hidden on purpose")
    samples = _while_training(run)
    seconds = samples[-1].time - samples[0].time if samples else 0.0
    if len(run.steps) < MIN_STEPS or len(samples) < 2 or seconds < MIN_SECONDS:
        return cannot("too few steps to tell whether the GPU is used")
    busy = max(gpu.busy or 0 for sample in samples for gpu in sample.gpus)
    growth = max(_memory_used(sample.gpus) for sample in samples) - _memory_used(gpus)
    if busy > MAX_IDLE_PERCENT or growth > MAX_IDLE_GROWTH_BYTES or (setup is not None and (setup.gpus or 0) > 0):
        return measured(f"a GPU was in use (at most {busy}% busy)")
    reported = f"the driver reports {format_count(len(gpus), 'GPU')}"
    evidence = [
        Evidence(f"{reported}, at most {busy}% busy in {format_duration(seconds)} of training", (limits,)),
        Evidence(f"the GPU memory in use grew by {format_size(max(0, growth))}"),
    ]
    if setup is not None and setup.gpus == 0:
        evidence.append(Evidence("TensorFlow finds no GPU", (setup,)))
    line, why, remedy = _reason(run)
    if line:
        evidence.append(Evidence(f"it printed: “{line[-MAX_QUOTED_CHARACTERS:]}”"))
    return Finding(
        cause=f"A GPU is available but idle: {why + ', so ' if why else ''}training runs on the CPU.",
        confidence=Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(remedy,),
        where=fit_place(run),
    )


def _while_training(run: Run) -> list[Sample]:
    """The samples since the first step that have GPUs."""
    first = run.steps[0].time if run.steps else 0.0
    return [sample for sample in run.samples if sample.gpus and first and sample.time >= first]


def _memory_used(gpus: Iterable[GpuState]) -> int:
    return sum(gpu.used or 0 for gpu in gpus)


def _reason(run: Run) -> tuple[str, str, Remedy]:
    """The line that says why the GPU is ignored, what it means, what to do."""
    for pattern, why, remedy in REASONS:
        line = next((line for line in parsed_console(run).lines if pattern.search(line.text)), None)
        if line is not None:
            return line.text.strip(), why + (_missing(run) if pattern is SKIPPED_GPU else ""), remedy
    build = run.last(Build)
    if build is not None and build.with_cuda is False:
        return "", "this TensorFlow was built without CUDA", Remedy("Install the GPU build", INSTALL)
    return "", "", _remedy(run)


def _missing(run: Run) -> str:
    names = sorted({found[1] for line in parsed_console(run).lines if (found := _LIBRARY.search(line.text))})
    return f" ({', '.join(names)})" if names else ""


def _of_log(run: Run) -> Answer:
    """A log does not show how busy a GPU was, but it may show that TensorFlow ignored one."""
    if not any(SKIPPED_GPU.search(line.text) for line in parsed_console(run).lines):
        return cannot("a log does not show how busy a GPU was; record the run with `laststep run`")
    because = (
        f"TensorFlow found a GPU but could not load its libraries{_missing(run)}: it ran on the CPU, which is slow"
    )
    return RuledOut(because, measured=True, note=True)


def _remedy(run: Run) -> Remedy:
    if any(versions.tensorflow for versions in run.all(Versions)):
        return Remedy("Install the GPU build, and read what is printed at the start", INSTALL)
    return Remedy("Make the GPU visible to the framework: its GPU build, JAX_PLATFORMS, CUDA_VISIBLE_DEVICES")
