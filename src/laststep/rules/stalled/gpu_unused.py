"""A GPU is there and the work is on the CPU."""

from __future__ import annotations

import re
from collections.abc import Iterable

from laststep import text as words
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

SECONDS, STEPS = 20.0, 20
BUSY = 2  # per cent
HELD = 200 << 20  # bytes more than before: a process that trains on a card holds more
HIDDEN = ("", "-1", "none", "NoDevFiles")
INSTALL = 'pip install "tensorflow[and-cuda]"'
# What TensorFlow prints when it leaves a card alone, the most telling first: (the line, why, what to do).
REASONS = (
    (
        SKIPPED_GPU,
        "TensorFlow found it and could not load the CUDA libraries that it needs",
        Remedy("Install the libraries that belong to this TensorFlow, and no others on LD_LIBRARY_PATH", INSTALL),
    ),
    (
        re.compile(r"Ignoring visible gpu device.*minimum required Cuda capability"),
        "it is older than all cards that TensorFlow still uses",
        Remedy("Take an older release of TensorFlow, which still uses this card"),
    ),
    (
        re.compile(r"does not match DSO version|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        "the driver's library and the running kernel module are of different versions",
        Remedy("Restart the machine: the driver was updated since it started"),
    ),
    (
        re.compile(r"Could not find cuda drivers|failed call to cuInit"),
        "TensorFlow cannot reach the driver",
        Remedy("Let the program see the driver: in a container, with --gpus all", "docker run --gpus all …"),
    ),
)
_LIBRARY = re.compile(r"Could not load dynamic library '([^']+)'")


@rule(needs=(("recorder", "log"),))
def gpu_unused(run: Run) -> Answer:
    """A GPU is there, and training runs on the CPU.

    What happened
        The machine has a GPU that nobody uses while this program trains: TensorFlow was installed without GPU
        support, does not find the CUDA libraries, or the card is hidden from it.

    How laststep knows
        The driver (NVML) reports the card, its memory and how busy it is: over the whole training it stayed idle, and
        no process took memory on it. The framework says which devices it sees, and often why it leaves one alone:
        "Cannot dlopen some GPU libraries" is such a line, and is harmless only where no GPU is.

    What to do
        Install the GPU build (pip install "tensorflow[and-cuda]"), see what TensorFlow prints about missing libraries
        at its start, and check CUDA_VISIBLE_DEVICES.

    Not to be confused with
        gpu-libraries-unusable (the program stops because of it), input-starved (the GPU waits for data).
    """
    if run.is_log:
        return _of_log(run)
    limits, launch, setup = run.first(Limits), run.first(Launch), run.last(Setup)
    cards = [card for card in limits.gpus if not card.error] if limits else []
    if limits is None or not cards:
        return no("there is no GPU that the driver reports")
    hidden = launch.environment.get("CUDA_VISIBLE_DEVICES") if launch else None
    if hidden in HIDDEN:
        return no(f"CUDA_VISIBLE_DEVICES is {hidden!r}: the GPU is hidden on purpose")
    samples = _while_training(run)
    seconds = samples[-1].time - samples[0].time if samples else 0.0
    if len(run.steps) < STEPS or len(samples) < 2 or seconds < SECONDS:
        return cannot("too few steps to tell whether the GPU is used")
    busy = max(card.busy or 0 for sample in samples for card in sample.gpus)
    grew = max(_memory_used(sample.gpus) for sample in samples) - _memory_used(cards)
    if busy > BUSY or grew > HELD or (setup is not None and (setup.gpus or 0) > 0):
        return measured(f"a GPU was in use ({busy} % busy at most)")
    reported = f"the driver reports {words.count(len(cards), 'GPU')}"
    evidence = [
        Evidence(f"{reported}, {busy} % busy at most over {words.span(seconds)} of training", (limits,)),
        Evidence(f"memory in use on it grew by {words.size(max(0, grew))}"),
    ]
    if setup is not None and setup.gpus == 0:
        evidence.append(Evidence("TensorFlow sees no GPU", (setup,)))
    line, why, remedy = _reason(run)
    if line:
        evidence.append(Evidence(f"it printed: “{line[-160:]}”"))
    return Finding(
        cause=f"A GPU is there and stays idle: {why + ', so ' if why else ''}training runs on the CPU.",
        confidence=Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(remedy,),
        where=fit_place(run),
    )


def _while_training(run: Run) -> list[Sample]:
    """The samples since the first step in which GPUs were read."""
    first = run.steps[0].time if run.steps else 0.0
    return [sample for sample in run.samples if sample.gpus and first and sample.time >= first]


def _memory_used(cards: Iterable[GpuState]) -> int:
    return sum(card.used or 0 for card in cards)


def _reason(run: Run) -> tuple[str, str, Remedy]:
    """The line that says why the card is left alone, what it means, what to do."""
    for pattern, why, remedy in REASONS:
        line = next((line for line in parsed_console(run).lines if pattern.search(line.text)), None)
        if line is not None:
            return line.text.strip(), why + (_missing(run) if pattern is SKIPPED_GPU else ""), remedy
    build = run.last(Build)
    if build is not None and build.with_cuda is False:
        return "", "this TensorFlow was built without CUDA", Remedy("Install the build for the GPU", INSTALL)
    return "", "", _remedy(run)


def _missing(run: Run) -> str:
    names = sorted({found[1] for line in parsed_console(run).lines if (found := _LIBRARY.search(line.text))})
    return f" ({', '.join(names)})" if names else ""


def _of_log(run: Run) -> Answer:
    """How busy a card was, no log says; that TensorFlow left one alone, its own words do."""
    if not any(SKIPPED_GPU.search(line.text) for line in parsed_console(run).lines):
        return cannot("a log alone does not tell; run it with `laststep run`")
    because = (
        f"TensorFlow found a GPU and could not load its libraries{_missing(run)}: it ran on the CPU, which is slow"
    )
    return RuledOut(because, measured=True, note=True)


def _remedy(run: Run) -> Remedy:
    if any(versions.tensorflow for versions in run.all(Versions)):
        return Remedy("Install the build for the GPU and see what is printed at the start", INSTALL)
    return Remedy("Let the framework see the card: its build for the GPU, JAX_PLATFORMS, CUDA_VISIBLE_DEVICES")
