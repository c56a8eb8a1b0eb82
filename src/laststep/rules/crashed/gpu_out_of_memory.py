"""The batch does not fit in GPU memory."""

from __future__ import annotations

from laststep.analysis.device_memory import Shortage, shortage
from laststep.analysis.finding import Evidence, Remedy, no
from laststep.analysis.messages import answer
from laststep.analysis.progress import fit_place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(follows=("gpu-memory-growing", "tensors-accumulating", "gpu-memory-held"))
def gpu_out_of_memory(run: Run) -> Answer:
    """The GPU ran out of memory: the model and this batch do not fit.

    What happened
        A step needs the weights, the optimizer's state and the activations of the whole batch in GPU memory at
        the same time. The allocator had no room for one more tensor and raised an error.

    How laststep knows
        The allocator's own message and its dump: what was requested, what was in use, and the limit. The op
        belongs to the layer whose tensor did not fit; that layer only allocated last and is not at fault.

    What to do
        Reduce the batch size first: activations grow with it, weights do not. Then try mixed precision, a
        smaller input, or gradient accumulation over several small batches. Memory growth and clear_session do
        not make a batch fit.

    Not to be confused with
        tensors-accumulating (tensors kept from each step filled the GPU), gpu-memory-held (another process has
        the memory), gpu-memory-fragmented (enough was free, in small blocks), host-out-of-memory (the machine's
        memory, not the GPU's).
    """
    lack = shortage(run)
    if lack is None:
        return no("no GPU ran out of memory")
    if lack.is_fragmented:
        return no("enough GPU memory was free, so the amount was not the problem")
    remedies, estimate = _smaller_batch(run, lack)
    at = f", in {lack.message.op}" if lack.message.op else ""
    return answer(
        run,
        lack.message,
        "",
        cause=f"The GPU ran out of memory{at}.",
        remedies=remedies,
        more=(*lack.figures(), *estimate),
    )


def _smaller_batch(run: Run, lack: Shortage) -> tuple[tuple[Remedy, ...], tuple[Evidence, ...]]:
    """A batch size that fits by the allocator's figures; half of it where they are not known."""
    began = run.fit.began if run.fit is not None else None
    batch = (began.data.batch_size or began.batch_size) if began is not None else None
    mixed = Remedy("Or use mixed precision", 'keras.mixed_precision.set_global_policy("mixed_float16")')
    if batch is None or batch < 2:
        return (Remedy("Use a smaller batch: halve it until it fits"), mixed), ()
    needs = lack.in_use + lack.requested
    known = bool(lack.limit) and needs > lack.limit
    share = lack.limit / needs if known else 0.5
    fits = 1 << max(0, int(batch * min(share, 0.99)).bit_length() - 1)
    estimate = (
        f"the batch size was {batch}; by these figures, a batch of at most {int(batch * share)} fits" if known else ""
    )
    first = Remedy(f"Use a smaller batch: {fits} instead of {batch}", f"batch_size={fits}", fit_place(run))
    return (first, mixed), ((Evidence(estimate),) if estimate else ())
