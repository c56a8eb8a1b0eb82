"""Steps wait for data for a large share of the time."""

from __future__ import annotations

from laststep.analysis.data_wait import MIN_INTERVALS, DataWait, data_wait_of
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stacks import most_seen
from laststep.record.event import Event
from laststep.record.events.shared import Stage
from laststep.record.events.supervisor import Feeding
from laststep.record.events.training import DatasetSeen
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_duration, format_place, format_short_duration

MIN_WAIT_SHARE = 0.35
MIN_WAIT_SECONDS = 0.005  # per step
MIN_SECONDS = 5.0
TOO_SHORT = f"too short to tell: fewer than {2 * MIN_INTERVALS} seconds of steps without a pause"
MAX_LINES = 2
MAX_STAGES = 8
MAX_REMEDIES = 3


@rule(sees=("inside",), ends=False, follows=("leaked", "machine-overloaded", "memory-thrashing", "straggling-rank"))
def input_starved(run: Run) -> Answer:
    """Steps wait for data for a large share of the time: the input pipeline is the bottleneck.

    What happened
        The model could train faster than its data arrives. A large part of each step passes before its batch is
        there: Python code in the pipeline handles one sample at a time, images are decoded again in every epoch, or
        the data is in many small files.

    How laststep knows
        It measures how long each step waits for its batch, inside Keras's compiled step too. A few snapshots of the
        stacks during the wait show the user's line at which the pipeline's Python is. The stages of the pipeline show
        what could run in parallel and does not.

    What to do
        Change the stage shown. laststep tune measures in a short side run what a change would gain. TensorFlow adds a
        prefetch at the end by itself, and runs maps without random numbers or Python in parallel: adding these again
        gains nothing.

    Not to be confused with
        input-blocked (no data arrives at all), shuffle-buffer-filling (only the first step of an epoch waits).
    """
    wait = data_wait_of(run)
    if wait is None:
        long_enough = run.training_seen and run.seconds >= MIN_SECONDS
        unseen = long_enough and not any(sample.inside for sample in run.samples)
        if unseen:
            return cannot("the wait for data was not measured in this run")
        return cannot(TOO_SHORT) if run.training_seen else no("no training was recorded")
    says = f"steps waited for data {wait.share:.0%} of {format_duration(wait.seconds)}"
    if wait.share < MIN_WAIT_SHARE or wait.per_step < MIN_WAIT_SECONDS:
        return measured(f"{says} ({format_short_duration(wait.per_step)} per step)")
    if wait.seconds < MIN_SECONDS:
        return cannot(f"too short to tell: {says}")
    stages, described = _stages(run)
    feeding = run.last(Feeding)
    line = most_seen(feeding.lines) if feeding is not None else None
    place = line or next((at for stage in stages for at in (stage.called_at, stage.where) if at), None)
    return Finding(
        cause=f"Training waits for data {wait.share:.0%} of the time: {_bottleneck(stages, line)}.",
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence(wait, feeding, stages, described)),
        remedies=tuple(_remedies(stages, place)),
        where=place or fit_place(run),
    )


def _stages(run: Run) -> tuple[tuple[Stage, ...], Event | None]:
    """The stages of the pipeline, and the event that has them."""
    if run.fit is not None:
        return run.fit.began.data.stages, run.fit.began
    dataset = run.last(DatasetSeen)
    return (dataset.stages if dataset is not None else ()), dataset


def _bottleneck(stages: tuple[Stage, ...], line: Place | None) -> str:
    if line is not None:
        return f"its input pipeline is slow at {format_place(line)}"
    slow = next((stage for stage in stages if stage.python or stage.decodes or stage.random), None)
    if slow is not None and slow.function:
        return f"its input pipeline runs {slow.function} for each sample"
    return "its input pipeline is slower than the model"


def _evidence(
    wait: DataWait, feeding: Feeding | None, stages: tuple[Stage, ...], described: Event | None
) -> list[Evidence]:
    waited, total = format_duration(wait.waited), format_duration(wait.seconds)
    each = format_short_duration(wait.per_step)
    found = [Evidence(f"{wait.steps:,} steps waited {waited} of {total} for data: {each} per step", curve=wait.curve)]
    if feeding is not None:
        for line in feeding.lines[:MAX_LINES]:
            seen = f"in {line.snapshots} of {feeding.snapshots} snapshots"
            found.append(Evidence(f"{seen} the pipeline's Python was at {format_place(line.place)}", (feeding,)))
    if stages and described is not None:
        names = " ← ".join(stage.stage for stage in stages[:MAX_STAGES])
        found.append(Evidence(f"the stages of the pipeline, the last one first: {names}", (described,)))
    return found


def _remedies(stages: tuple[Stage, ...], place: Place | None) -> list[Remedy]:
    cached = any(stage.stage == "Cache" for stage in stages)
    found = [remedy for stage in stages for remedy in _remedies_of(stage, cached)]
    if not stages and place is not None:
        does = "This Python runs in one thread: move its work into tf.data, or a keras.utils.PyDataset with workers"
        found.append(Remedy(does, None, place))
    return [*found[:MAX_REMEDIES], Remedy("Measure what a change would gain: laststep tune")]


def _remedies_of(stage: Stage, cached: bool) -> list[Remedy]:
    found = []
    at = stage.called_at or stage.where
    if stage.generator:
        does = "The generator runs in one Python thread: move its work into tf.data stages, or a PyDataset with workers"
        found.append(Remedy(does, None, at))
    elif stage.stage == "Map" and (stage.python or stage.random) and stage.num_parallel_calls is None:
        change = "num_parallel_calls=tf.data.AUTOTUNE"
        what = "Python" if stage.python else "random"
        found.append(Remedy(f"Run this {what} map on several samples in parallel", change, at))
    if stage.decodes and not cached:
        found.append(Remedy("Cache the decoded data if it fits into memory: .cache() right after this map", None, at))
    if stage.reads:
        found.append(Remedy("Many small files: pack the samples into a few TFRecord files", None, at))
    return found
