"""Tensors that accumulate on a GPU: what TensorFlow's allocator had in use, and which container held it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from laststep.analysis.finding import Evidence
from laststep.analysis.forecast import Point
from laststep.analysis.leaks import TENSOR_CLASSES, Owner, owner_of
from laststep.record.events.training import Census, GpuAllocation
from laststep.record.ownership import MIN_OWNER_SHARE
from laststep.record.run import Run
from laststep.record.sample import GpuState
from laststep.text import format_count, format_duration, format_size

GpuReading = TypeVar("GpuReading", GpuState, GpuAllocation)
MAX_GPUS = 16
MIN_RISE_BYTES = 200e6
MIN_RISE_SHARE = 0.25  # of what was in use at the first measurement
MIN_STEPS = 10
MIN_KEPT = 8  # tensors, or lists of them
MAX_KEPT_PER_STEP = 4  # more were there before training, as data is


@dataclass(frozen=True)
class GpuLeak:
    """Memory in use on a GPU that grew with the steps, and the container that holds it."""

    gpu: int
    points: Sequence[Point]
    owner: Owner

    @property
    def growth(self) -> Evidence:
        first, last = self.points[0], self.points[-1]
        per_step = (last.value - first.value) / (last.step - first.step)
        return usage_evidence(self.gpu, self.points, per_step)

    @property
    def holds(self) -> Evidence:
        owner = self.owner
        held = f"{owner.label} ({owner.kind}) holds {format_count(owner.length, 'element')}"
        says = f"{held} of {format_size(owner.entry_bytes)} each: {owner.percent} of the growth"
        return Evidence(says, owner.censuses)


def usage_evidence(gpu: int, points: Sequence[Point], per_step: float) -> Evidence:
    first, last = points[0], points[-1]
    rise = f"from {format_size(first.value)} to {format_size(last.value)} in {format_duration(last.time - first.time)}"
    rate = f", about {format_size(per_step)} per step" if per_step else ""
    return Evidence(f"memory in use on GPU {gpu} rose {rise}{rate}", curve=tuple(point.value for point in points))


def allocated_points(run: Run, gpu: int, since: float) -> list[Point]:
    """What TensorFlow's allocator had in use on a GPU."""
    known = [(event, gpu_in(event.gpus, gpu)) for event in run.all(Census) if event.time >= since]
    return [Point(event.time, float(found.current), event.step) for event, found in known if found]


def gpu_in(gpus: Iterable[GpuReading], number: int) -> GpuReading | None:
    return next((gpu for gpu in gpus if gpu.gpu == number), None)


def gpu_leak(run: Run) -> GpuLeak | None:
    """None where no GPU's memory grew with the steps, or where no container of tensors accounts for it."""
    censuses = _censuses(run)
    for gpu in range(MAX_GPUS):
        points = allocated_points(run, gpu, 0.0)
        if not points or not censuses:
            return None
        first, last = points[0], points[-1]
        rise = last.value - first.value
        if rise < max(MIN_RISE_BYTES, MIN_RISE_SHARE * first.value) or last.step - first.step < MIN_STEPS:
            continue
        slope = rise / max(last.time - first.time, 1.0)
        owner = owner_of(censuses, slope) or _owner_in_one_census(censuses[-1], rise)
        if owner is not None and owner.holds in TENSOR_CLASSES:
            return GpuLeak(gpu, points, owner)
    return None


def _censuses(run: Run) -> list[Census]:
    """Up to the moment when the GPU was full: what the program's frames held is freed after that."""
    found = [event for event in run.all(Census) if event.counts is not None]
    full = max((number for number, event in enumerate(found, 1) if event.exhausted), default=len(found))
    return found[:full]


def _owner_in_one_census(census: Census, rise: float) -> Owner | None:
    """The GPU was full before a second census: the largest container that has some tensors for every step."""
    for entry in sorted(census.containers, key=lambda entry: -entry.bytes):
        kept, share = entry.length, entry.bytes / rise
        grew_with_steps = MIN_KEPT <= kept <= MAX_KEPT_PER_STEP * census.step
        if entry.holds in TENSOR_CLASSES and not entry.most and grew_with_steps and share >= MIN_OWNER_SHARE:
            return Owner(entry.name, entry.kind, entry.holds, entry.where, kept, kept, entry.bytes, share, (census,))
    return None
