"""The device's memory did not hold the batch."""

from __future__ import annotations

from laststep.analysis.device_memory import Shortage, shortage
from laststep.analysis.finding import Evidence, Remedy, no
from laststep.analysis.messages import ECHOES, answer, data_of
from laststep.analysis.progress import fit_place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(outranks=(*ECHOES, "cuda-kernel-failed", "gpu-libraries-unusable"))
def gpu_out_of_memory(run: Run) -> Answer:
    """The GPU's allocator could not serve a tensor: the model and this batch do not fit on the card.

    What happened
        A step needs the weights, the optimizer's slots and the activations of the whole batch on the card at
        the same time. The allocator had no room left for one more tensor and raised an error.

    How laststep knows
        The allocator's own message and the dump that it writes: what was asked for, what was in use, what the
        limit was. The op names the layer whose tensor it was; that layer is not at fault, it only came last.

    What to do
        A smaller batch is the first thing: activations grow with it, weights do not. Then mixed precision, a
        smaller input, or gradients gathered over several small batches. Memory growth and clear_session do
        not make a batch fit that does not fit.

    Not to be confused with
        tensors-accumulating (what is kept of each step filled the card), gpu-memory-held (another process has it),
        gpu-memory-fragmented (enough was free, in pieces), host-out-of-memory (the machine's memory, not the card's).
    """
    lack = shortage(run)
    if lack is None:
        return no("no device said that its memory ran out")
    if lack.is_fragmented:
        return no("enough was free on the card, so it was not the amount")
    remedies, estimate = _smaller_batch(run, lack)
    at = f", in {lack.message.op}" if lack.message.op else ""
    return answer(
        run,
        lack.message,
        "",
        cause=f"The GPU's memory did not hold what this step needs{at}.",
        remedies=remedies,
        more=(*lack.figures(), *estimate),
    )


def _smaller_batch(run: Run, lack: Shortage) -> tuple[tuple[Remedy, ...], tuple[Evidence, ...]]:
    """The batch that was asked for, and the largest that the figures leave possible."""
    batch = data_of(run).get("batch_size") or (run.fit.began.get("batch_size") if run.fit else None)
    mixed = Remedy("Or compute in half precision", 'keras.mixed_precision.set_global_policy("mixed_float16")')
    if not isinstance(batch, int) or batch < 2:
        return (Remedy("Train with a smaller batch: halve it until it fits"), mixed), ()
    needs = lack.in_use + lack.asked
    known = bool(lack.limit) and needs > lack.limit
    share = lack.limit / needs if known else 0.5
    fits = 1 << max(0, int(batch * min(share, 0.99)).bit_length() - 1)
    told = f"the batch was {batch}; by these figures at most {int(batch * share)} fit" if known else ""
    first = Remedy(
        f"Train with a smaller batch: {fits} instead of {batch}", f"model.fit(…, batch_size={fits})", fit_place(run)
    )
    return (first, mixed), ((Evidence(told),) if told else ())
