"""Enough GPU memory was free, in blocks that were too small."""

from __future__ import annotations

from laststep.analysis.device_memory import shortage
from laststep.analysis.finding import Confidence, Remedy, measured, no
from laststep.analysis.messages import answer
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(follows=("gpu-memory-growing", "tensors-accumulating"))
def gpu_memory_fragmented(run: Run) -> Answer:
    """Enough GPU memory was free, but no single block was large enough.

    What happened
        The allocator manages GPU memory in blocks. After many allocations of varying sizes (batches of
        different lengths, models built one after the other) the free memory is split into many small blocks,
        and none is large enough for a large tensor.

    How laststep knows
        From the allocator's own figures: less was requested than the limit minus what was in use. The hint
        about fragmentation that TensorFlow adds to every such error is not used as evidence.

    What to do
        Let the driver manage the memory (TF_GPU_ALLOCATOR=cuda_malloc_async; for PyTorch
        PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True), and give all batches the same shape: pad or bucket.

    Not to be confused with
        gpu-out-of-memory (not enough was free), gpu-memory-held (other processes hold it).
    """
    lack = shortage(run)
    if lack is None:
        return no("no GPU ran out of memory")
    if not lack.is_fragmented:
        less = "less memory was free on the GPU than was requested"
        return measured(less) if lack.limit else no("the allocator did not print its figures")
    torch = "PyTorch" in lack.message.found.string
    change = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" if torch else "TF_GPU_ALLOCATOR=cuda_malloc_async"
    return answer(
        run,
        lack.message,
        "",
        cause="Enough GPU memory was free, but no single block was large enough for this tensor.",
        remedies=(
            Remedy("Use an allocator that avoids fragmentation", f"{change} python train.py", safe=True),
            Remedy("Give all batches the same shape: pad, or bucket by length"),
        ),
        more=lack.figures(),
        confidence=Confidence.CERTAIN if torch or lack.pool or lack.largest_free else Confidence.LIKELY,
    )
