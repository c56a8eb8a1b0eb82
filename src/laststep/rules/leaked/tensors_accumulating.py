"""A container keeps tensors or arrays."""

from __future__ import annotations

from laststep.analysis.device_memory import Shortage, shortage
from laststep.analysis.finding import Confidence, Finding, Remedy
from laststep.analysis.gpu_leak import GpuLeak, gpu_leak
from laststep.analysis.leaks import (
    TENSOR_CLASSES,
    Leak,
    Owner,
    exhaustion_evidence,
    garbage_evidence,
    growth_evidence,
    leak_of,
)
from laststep.analysis.no_leak import no_leak
from laststep.analysis.progress import fit_place, saved
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

NAMES = {"EagerTensor": "tensors", "ndarray": "arrays"}
GPU_RULES = ("gpu-out-of-memory", "gpu-memory-fragmented", "gpu-memory-growing")


@rule(tier=Tier.ROOT, sees=("inside",))
def tensors_accumulating(run: Run) -> Answer:
    """The program keeps tensors or arrays that it no longer needs: there are more of them with every step.

    What happened
        A list of losses, a dict of predictions, an attribute of a callback or a closure gets a tensor or an array in
        each step or epoch and never drops one. A tensor from an eager loop may keep far more memory alive than its
        own size: what its gradient needed.

    How laststep knows
        Memory rose steadily after the first epoch, or for long enough where there are none. Several censuses then
        measured the containers that the program's variables refer to: the one that is named grew by about as much as
        memory did. On a GPU the memory in use comes from TensorFlow's allocator, and one more census is taken when
        the allocator has no memory left.

    What to do
        Store numbers, not tensors: `float(loss)`, a running mean, a Keras metric. Write what is large to disk, or
        keep only the last few (`collections.deque(maxlen=…)`).

    Not to be confused with
        graphs-accumulating (models or functions created in a loop), host-memory-growing (no container of tensors
        accounts for the growth), a cache or a shuffle buffer that fills up and then stays.
    """
    on_gpu, lack = gpu_leak(run), shortage(run)
    if on_gpu is not None and lack is not None:
        return _on_gpu(run, on_gpu, lack)
    leak = leak_of(run)
    if leak is None or not leak.is_reportable:
        return no_leak(run, leak, "no tensors or arrays accumulate")
    if leak.owner is not None and leak.owner.holds in TENSOR_CLASSES:
        return _on_host(run, leak, leak.owner)
    return no_leak(run, leak, "what grows holds no tensors or arrays")


def _on_host(run: Run, leak: Leak, owner: Owner) -> Finding:
    held = NAMES.get(owner.holds, "variables" if "Variable" in owner.holds else "arrays")
    return Finding(
        cause=f"{owner.label} holds {owner.length:,} {held} and keeps growing: it accounts for the leak.",
        confidence=Confidence.LIKELY,
        evidence=(
            growth_evidence(leak),
            owner.growth,
            *garbage_evidence(leak),
            *exhaustion_evidence(run, leak),
            *saved(run),
        ),
        remedies=_remedies(owner, held),
        where=owner.where or fit_place(run),
    )


def _on_gpu(run: Run, leak: GpuLeak, lack: Shortage) -> Finding:
    owner = leak.owner
    return Finding(
        cause=f"{owner.label} keeps tensors on the GPU and grows with every step: {owner.length:,} of them filled it.",
        confidence=Confidence.LIKELY,
        evidence=(leak.growth, leak.holds, lack.message.evidence, *lack.figures(), *saved(run)),
        remedies=_remedies(owner, "tensors"),
        where=owner.where or fit_place(run),
    )


def _remedies(owner: Owner, held: str) -> tuple[Remedy, ...]:
    store = Remedy("Store a summary of each, not its whole content", None, owner.where, safe=True)
    if held == "tensors":
        store = Remedy("Store the number that you need, not the tensor: float(…) of it", None, owner.where, safe=True)
    few = f"Or write them to disk, or keep only the last few in {owner.name}: collections.deque(maxlen=10)"
    return (store, Remedy(few))
