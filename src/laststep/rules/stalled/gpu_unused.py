"""A GPU is there and the work is on the CPU."""

from __future__ import annotations

from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.reports import words
from laststep.rule import Answer, rule
from laststep.rules._shared import cannot, fit_place, measured, no
from laststep.run import Run

SECONDS, STEPS = 20.0, 20
BUSY = 2  # per cent
HELD = 200 << 20  # bytes more than before: a process that trains on a card holds more
HIDDEN = ("", "-1", "none", "NoDevFiles")


@rule(needs=("recorder",))
def gpu_unused(run: Run) -> Answer:
    """A GPU is there, and training runs on the CPU.

    What happened
        The machine has a GPU that nobody uses while this program trains: TensorFlow was installed without GPU
        support, does not find the CUDA libraries, or the card is hidden from it.

    How laststep knows
        The driver (NVML) reports the card, its memory and how busy it is: over the whole training it stayed idle, and
        nobody took memory on it. The framework says which devices it sees.

    What to do
        Install the GPU build (pip install "tensorflow[and-cuda]"), see what TensorFlow prints about missing libraries
        at its start, and check CUDA_VISIBLE_DEVICES.

    Not to be confused with
        gpu-libraries-unusable (the program stops because of it), input-starved (the GPU waits for data).
    """
    limits = run.first("limits")
    cards = [card for card in (limits.get("gpus") or []) if not card.get("error")] if limits else []
    if limits is None or not cards:
        return no("there is no GPU that the driver reports")
    began = run.first("run")
    hidden = (began.get("environment") or {}).get("CUDA_VISIBLE_DEVICES") if began else None
    if hidden in HIDDEN:
        return no(f"CUDA_VISIBLE_DEVICES is {hidden!r}: the GPU is hidden on purpose")
    first = run.steps[0].time if run.steps else 0.0
    seen = [sample for sample in run.samples if sample.get("gpus") and first and sample["t"] >= first]
    if len(run.steps) < STEPS or len(seen) < 2 or seen[-1]["t"] - seen[0]["t"] < SECONDS:
        return cannot("too few steps to tell whether the GPU is used")
    busy = max(int(card.get("busy") or 0) for sample in seen for card in sample["gpus"])
    before = sum(int(card.get("used") or 0) for card in cards)
    grew = max(sum(int(card.get("used") or 0) for card in sample["gpus"]) for sample in seen) - before
    setup = run.last("setup")
    if busy > BUSY or grew > HELD or (setup is not None and (setup.get("gpus") or 0) > 0):
        return measured(f"a GPU was in use ({busy} % busy at most)")
    span = words.span(seen[-1]["t"] - seen[0]["t"])
    evidence = [
        Evidence(
            f"the driver reports {words.count(len(cards), 'GPU')}, {busy} % busy at most over {span} of training",
            (limits,),
        ),
        Evidence(f"memory in use on it grew by {words.size(max(0, grew))}"),
    ]
    if setup is not None and setup.get("gpus") == 0:
        evidence.append(Evidence("TensorFlow sees no GPU", (setup,)))
    told = next((line for line in run.console.splitlines() if "GPU" in line and "not" in line.lower()), None)
    if told is not None:
        evidence.append(Evidence(f"it printed: “{told.strip()[:160]}”"))
    return Finding(
        cause="A GPU is there and stays idle: training runs on the CPU.",
        confidence=Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(_remedy(run),),
        where=fit_place(run),
    )


def _remedy(run: Run) -> Remedy:
    libraries = {name for event in run.all("versions") for name in event.data}
    if "tensorflow" in libraries:
        does = "Install the build for the GPU and see what is printed at the start"
        return Remedy(does, 'pip install "tensorflow[and-cuda]"')
    return Remedy("Let the framework see the card: its build for the GPU, JAX_PLATFORMS, CUDA_VISIBLE_DEVICES")
