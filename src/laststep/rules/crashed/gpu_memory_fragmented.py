"""Enough of the card was free, in pieces too small."""

from __future__ import annotations

from laststep.analysis.device_memory import shortage
from laststep.analysis.finding import Confidence, Remedy, measured, no
from laststep.analysis.messages import ECHOES, answer
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(outranks=(*ECHOES, "gpu-out-of-memory"))
def gpu_memory_fragmented(run: Run) -> Answer:
    """Enough of the GPU's memory was free, but no single piece was large enough.

    What happened
        The allocator holds the card's memory in pieces. After many allocations of changing sizes (batches of
        different lengths, models built one after the other) the free part lies in many small pieces, and a
        large tensor finds none that is big enough.

    How laststep knows
        By the allocator's own figures: what was asked for is less than limit minus in use. The hint about
        fragmentation that TensorFlow adds to every such error is not taken for evidence.

    What to do
        Let the driver manage the memory (TF_GPU_ALLOCATOR=cuda_malloc_async, for PyTorch
        PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True), and give all batches the same shape: pad or bucket.

    Not to be confused with
        gpu-out-of-memory (not enough was free), gpu-memory-held (others have it).
    """
    lack = shortage(run)
    if lack is None:
        return no("no device said that its memory ran out")
    if not lack.is_fragmented:
        told = "less was free on the card than was asked for"
        return measured(told) if lack.limit else no("the allocator's figures are not there")
    torch = "PyTorch" in lack.message.found.string
    change = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" if torch else "TF_GPU_ALLOCATOR=cuda_malloc_async"
    return answer(
        run,
        lack.message,
        "",
        cause="Enough of the card's memory was free, but in pieces too small for this tensor.",
        remedies=(
            Remedy("Let the driver join the pieces", f"{change} python train.py", safe=True),
            Remedy("Give all batches the same shape: pad, or sort into buckets of a few lengths"),
        ),
        more=lack.figures(),
        confidence=Confidence.CERTAIN if torch or lack.pool or lack.largest_free else Confidence.LIKELY,
    )
