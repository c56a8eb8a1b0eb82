"""The GPU's memory grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laststep import text as words
from laststep.analysis.card_leak import LEAST, LEAST_SHARE, card_in, card_leak, points_of
from laststep.analysis.device_memory import shortage
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.forecast import Point, foretell, trend
from laststep.analysis.progress import fit_place, saved
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(
    needs=("recorder",),
    outranks=("gpu-out-of-memory", "gpu-memory-fragmented", "unhandled-exception", "input-starved"),
)
def gpu_memory_growing(run: Run) -> Answer:
    """What TensorFlow has given out of the GPU's memory grows steadily while it trains.

    What happened
        Tensors on the device stay alive that are no longer needed: results of each step in a list, a model or
        variables made anew. TensorFlow takes the whole card at its start, so nvidia-smi does not show it; the
        training ends one day with an out-of-memory error in an innocent place.

    How laststep knows
        TensorFlow's own allocator is asked for what it has given out, now and then, and from outside the driver for
        what is in use. The lows rose steadily, past the first epoch.

    What to do
        Move what is to be kept off the device (`float(loss)`, `.numpy()`), or keep less of it.

    Not to be confused with
        gpu-out-of-memory (one step needs more than there is), gpu-memory-held (others hold it).
        A pool that grows in the first steps and then stays is normal.
    """
    ends = [event.time for event in run.all("epoch")]
    since = ends[0] if ends else (run.steps[0].time if run.steps else 0.0)
    for number in range(16):
        points, total = _points(run, number, since)
        if not points:
            break
        found = trend(points, ends)
        enough = found is not None and found.rise > max(LEAST, LEAST_SHARE * points[0].value)
        if found is not None and found.is_steady and enough and _is_long_enough(run, points, ends):
            left = foretell(found, points[-1], total - points[-1].value) if total else None
            return _finding(run, number, points, found.per_step, left.seconds if left and run.alive else None)
    return no("no card's memory grew steadily")


def _points(run: Run, number: int, since: float) -> tuple[list[Point], float]:
    """What the allocator gave out; where nobody could ask it, what the driver says is in use."""
    late = [sample for sample in run.samples if sample["t"] >= since]
    seen = [(sample["t"], card_in(sample.get("gpus"), number), sample) for sample in late]
    total = next((float(card["total"]) for _, card, _ in seen if card and card.get("total")), 0.0)
    used = [Point(time, float(card["used"]), _step(sample)) for time, card, sample in seen if card and "used" in card]
    return points_of(run, number, since) or used, total


def _step(sample: Mapping[str, Any]) -> int:
    return int((sample.get("inside") or {}).get("step") or 0)


def _is_long_enough(run: Run, points: list[Point], ends: list[float]) -> bool:
    ended = sum(end > points[0].time for end in ends)
    return shortage(run) is not None or (ended >= 2 if ends else points[-1].time - points[0].time > 60.0)


def _finding(run: Run, number: int, points: list[Point], per_step: float, left: float | None) -> Finding:
    told = f"from {words.size(points[0].value)} to {words.size(points[-1].value)} in "
    told += words.span(points[-1].time - points[0].time)
    per = f", about {words.size(per_step)} with every step" if per_step else ""
    leak = card_leak(run)
    runs_out = [Evidence(f"it runs out in about {words.span(left)}")] if left is not None else []
    return Finding(
        cause=f"The memory in use on GPU {number} grows steadily: something there is kept with every step.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"GPU {number}: {told}{per}", curve=tuple(point.value for point in points)),
            *((leak.holds,) if leak else ()),
            *runs_out,
            *saved(run),
        ),
        remedies=(
            Remedy("Keep numbers, not tensors: a tensor in a list holds its memory on the card", "float(loss)"),
            Remedy("What must be kept, move to the host", "result.numpy()"),
        ),
        where=(leak.owner.where if leak else None) or fit_place(run),
    )
