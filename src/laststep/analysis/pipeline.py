"""What a tf.data pipeline needs for a batch, and whether a filter in it can drop elements without end."""

from __future__ import annotations

from collections.abc import Sequence

from laststep.analysis.finding import Evidence
from laststep.analysis.stacks import SnapshotView
from laststep.record.events.shared import Stage
from laststep.record.events.training import DatasetSeen, FitStart
from laststep.record.run import Run
from laststep.text import format_count, format_duration, format_place

MIN_SILENT_SECONDS = 5.0  # without a call, from which on that is told
MIN_CALLS = 10  # of Python since the last step, from which on it is taken to hand over elements
MIN_DROPPED = 1000  # elements handed over, for each that the next batch needs


def stages_of(fit: FitStart | None, loop: DatasetSeen | None, phase: str) -> tuple[Stage, ...]:
    """The stages of the pipeline that training takes its batches from in this phase, from its end to its source."""
    if phase in ("first step", "epoch start", "step"):
        return fit.data.stages if fit is not None else ()
    return loop.stages if phase == "loop" and loop is not None else ()


def elements_for_a_batch(stages: Sequence[Stage]) -> int:
    """How many elements of the source the first batch needs, if each stage lets everything through."""
    needed = 1
    for stage in stages:
        needed *= max(1, stage.batch_size or 1)
        needed += max(0, (stage.buffer_size if stage.stage == "Shuffle" else None) or 0)
        needed += max(0, (stage.count if stage.stage == "Skip" else None) or 0)
    return needed


def filter_of(stages: Sequence[Stage]) -> Stage | None:
    return next((stage for stage in stages if stage.stage == "Filter"), None)


def endless_filter(stages: Sequence[Stage]) -> Stage | None:
    """A filter after a repeat without end: if it drops everything, the data never ends and no element ever comes."""
    for at, stage in enumerate(stages):
        if stage.stage == "Filter" and any(each.stage == "Repeat" and each.count == -1 for each in stages[at:]):
            return stage
    return None


def drops_everything(view: SnapshotView, stages: Sequence[Stage]) -> bool:
    """There is a filter, and the pipeline's Python handed over many times what the next batch needs."""
    handed_over = view.snapshot.calls or 0
    return filter_of(stages) is not None and handed_over > MIN_DROPPED * elements_for_a_batch(stages)


def blamed_filter(view: SnapshotView, run: Run) -> Stage | None:
    """The filter that drops what the pipeline computes; None where its own Python is in a loop, or it does nothing."""
    stages = _stages_in(view, run)
    if drops_everything(view, stages):
        return filter_of(stages)
    return endless_filter(stages) if not view.idle and not view.feeders else None


def dropped(view: SnapshotView, run: Run) -> Evidence:
    """Why a filter can be at fault: how much a batch needs, or that the data never ends."""
    stages = _stages_in(view, run)
    if drops_everything(view, stages):
        needed = format_count(elements_for_a_batch(stages), "element")
        return Evidence(f"the next batch needs {needed} if the filter keeps all", (view.snapshot,))
    return Evidence("the filter is behind repeat(): if it drops everything, the data never ends", (view.snapshot,))


def _stages_in(view: SnapshotView, run: Run) -> tuple[Stage, ...]:
    return stages_of(run.fit.began if run.fit else None, run.last(DatasetSeen), view.phase)


def hands_over(view: SnapshotView) -> bool:
    """The pipeline's Python is called again and again: the program's generator yields."""
    calls, age = view.snapshot.calls, view.snapshot.call_age
    return (calls or 0) > MIN_CALLS and age is not None and age < MIN_SILENT_SECONDS


def handed_over(view: SnapshotView) -> list[Evidence]:
    """How often the pipeline has called Python since the last step."""
    calls, age = view.snapshot.calls, view.snapshot.call_age
    if not calls or age is None:
        return []
    last = f", for the last time {format_duration(age)} ago" if age > MIN_SILENT_SECONDS else ""
    says = f"since the last step the pipeline has called the program's Python {format_count(calls, 'time')}{last}"
    return [Evidence(says, (view.snapshot,))]


def seen_at(view: SnapshotView) -> list[Evidence]:
    """The lines between which the pipeline's Python went round, from quick snapshots."""
    lines = [f"{format_place(line.place)} ({line.snapshots})" for line in view.snapshot.lines if line.place]
    return [Evidence(f"quick snapshots saw it at {', '.join(lines)}", (view.snapshot,))] if len(lines) > 1 else []
