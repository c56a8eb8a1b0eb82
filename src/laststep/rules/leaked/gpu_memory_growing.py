"""The GPU's memory grows."""

from __future__ import annotations

from laststep.analysis.device_memory import shortage
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.forecast import Point, fit_trend, project
from laststep.analysis.gpu_leak import (
    MAX_GPUS,
    MIN_RISE_BYTES,
    MIN_RISE_SHARE,
    allocated_points,
    gpu_in,
    gpu_leak,
    usage_evidence,
)
from laststep.analysis.progress import fit_place, saved
from laststep.record.events.training import Epoch
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_count, format_duration, format_size

MIN_EPOCHS = 2  # that ended while it grew
MIN_SECONDS = 60.0  # where there are no epochs


@rule(sees=("inside",), follows=("tensors-accumulating",))
def gpu_memory_growing(run: Run) -> Answer:
    """The memory that TensorFlow's allocator has in use on the GPU grows steadily during training.

    What happened
        Tensors that are no longer needed stay alive on the GPU: a list of each step's results, or models and
        variables that are created again and again. TensorFlow reserves the whole GPU at its start, so nvidia-smi
        does not show it. Training ends at some point with an out-of-memory error in an unrelated place.

    How laststep knows
        It reads from time to time how much memory TensorFlow's allocator has in use; where that is not possible, how
        much the driver reports. The minima rose steadily after the first epoch.

    What to do
        Move what you keep off the GPU (`float(loss)`, `.numpy()`), or keep less of it.

    Not to be confused with
        gpu-out-of-memory (one step needs more memory than the GPU has), gpu-memory-held (other processes hold it). A
        pool that grows in the first steps and then stays is normal.
    """
    epoch_ends = [event.time for event in run.all(Epoch)]
    since = epoch_ends[0] if epoch_ends else (run.steps[0].time if run.steps else 0.0)
    seen: list[str] = []
    for gpu in range(MAX_GPUS):
        points, total = _points(run, gpu, since)
        if not points:
            break
        if not _is_long_enough(run, points, epoch_ends) and shortage(run) is None:
            return cannot(f"too short to tell whether a GPU's memory grows: {_span(points)}")
        seen.append(f"GPU {gpu} {format_size(points[0].value)} → {format_size(points[-1].value)}, {_span(points)}")
        trend = fit_trend(points, epoch_ends)
        if trend is None or not trend.is_steady or trend.rise <= max(MIN_RISE_BYTES, MIN_RISE_SHARE * points[0].value):
            continue
        if _is_long_enough(run, points, epoch_ends):
            end = project(trend, points[-1], total - points[-1].value) if total else None
            return _finding(run, gpu, points, trend.per_step, end.seconds if end and run.alive else None)
    return measured("; ".join(seen[:2])) if seen else no("no GPU's memory was in use")


def _span(points: list[Point]) -> str:
    return f"{format_count(len(points), 'sample')} in {format_duration(points[-1].time - points[0].time)}"


def _points(run: Run, number: int, since: float) -> tuple[list[Point], float]:
    """Memory in use by the allocator, or by the driver where that is not known; and the GPU's total memory."""
    late = [(sample, gpu_in(sample.gpus, number)) for sample in run.samples if sample.time >= since]
    known = [(sample, gpu) for sample, gpu in late if gpu is not None]
    total = next((float(gpu.total) for _, gpu in known if gpu.total), 0.0)
    used = [Point(sample.time, float(gpu.used), sample.step) for sample, gpu in known if gpu.used is not None]
    return allocated_points(run, number, since) or used, total


def _is_long_enough(run: Run, points: list[Point], epoch_ends: list[float]) -> bool:
    if shortage(run) is not None:
        return True
    if epoch_ends:
        return sum(end > points[0].time for end in epoch_ends) >= MIN_EPOCHS
    return points[-1].time - points[0].time > MIN_SECONDS


def _finding(run: Run, gpu: int, points: list[Point], per_step: float, seconds_left: float | None) -> Finding:
    leak = gpu_leak(run)
    runs_out = (
        [Evidence(f"GPU memory runs out in about {format_duration(seconds_left)}")] if seconds_left is not None else []
    )
    return Finding(
        cause=f"The memory in use on GPU {gpu} grows steadily: every step leaves something allocated.",
        confidence=Confidence.LIKELY,
        evidence=(
            usage_evidence(gpu, points, per_step),
            *((leak.holds,) if leak else ()),
            *runs_out,
            *saved(run),
        ),
        remedies=(
            Remedy("Store numbers instead of tensors: a tensor in a list keeps its GPU memory allocated"),
            Remedy("Move what must be kept to the host's memory, with .numpy()"),
        ),
        where=(leak.owner.where if leak else None) or fit_place(run),
    )
