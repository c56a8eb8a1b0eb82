"""Steps wait for data for a large share of the time."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.data_wait import Waits, waits_of
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

SHARE, EACH, SECONDS = 0.35, 0.005, 5.0


@rule(needs=("recorder",))
def input_starved(run: Run) -> Answer:
    """Steps wait for data for a large share of the time: the input pipeline is the bottleneck.

    What happened
        The model could train faster than its data comes. In each step a good part of the time passes before the batch
        is there: Python code in the pipeline that runs one sample at a time, decoding in every epoch, many small files.

    How laststep knows
        The time in which a step waits for its batch is measured: around the taking of the batch, inside Keras's
        compiled step too. A few looks at the stacks during the wait show the line of the program's own in which the
        pipeline's Python stands. The stages of the pipeline tell what could run in parallel and does not.

    What to do
        Change the stage shown; laststep tune measures in a short side run what a change would give. TensorFlow adds
        a prefetch at the end and runs maps without random numbers or Python in parallel by itself: adding these again
        gives nothing.

    Not to be confused with
        input-blocked (no data comes at all), shuffle-buffer-filling (only the first step of an epoch waits).
    """
    waits = waits_of(run)
    if waits is None:
        long_enough = run.training_seen and run.seconds >= SECONDS
        unseen = long_enough and not any(sample.inside for sample in run.samples)
        return cannot("the wait for data was not measured in this run") if unseen else no("too few steps to tell")
    if waits.share < SHARE or waits.each < EACH or waits.seconds < SECONDS:
        return measured(f"steps waited for data {waits.share:.0%} of the time ({words.brief(waits.each)} each)")
    stages, described = _stages(run)
    feeding = run.last(Feeding)
    line = most_seen(feeding.lines) if feeding is not None else None
    place = line or next((at for stage in stages for at in (stage.called_at, stage.where) if at), None)
    return Finding(
        cause=f"Training waits for data {waits.share:.0%} of the time: {_culprit(stages, line)}.",
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence(waits, feeding, stages, described)),
        remedies=tuple(_remedies(stages, place)),
        where=place or fit_place(run),
    )


def _stages(run: Run) -> tuple[tuple[Stage, ...], Event | None]:
    """The stages of the pipeline, and the event that tells them."""
    if run.fit is not None:
        return run.fit.began.data.stages, run.fit.began
    dataset = run.last(DatasetSeen)
    return (dataset.stages if dataset is not None else ()), dataset


def _culprit(stages: tuple[Stage, ...], line: Place | None) -> str:
    if line is not None:
        return f"its input stands in {words.place(line)}"
    slow = next((stage for stage in stages if stage.python or stage.decodes or stage.random), None)
    if slow is not None and slow.function:
        return f"its input pipeline runs {slow.function} for each sample"
    return "its input pipeline is slower than the model"


def _evidence(
    waits: Waits, feeding: Feeding | None, stages: tuple[Stage, ...], described: Event | None
) -> list[Evidence]:
    spent = f"in {waits.steps:,} steps {words.span(waits.waited)} of {words.span(waits.seconds)} were spent waiting"
    found = [Evidence(f"{spent}: {words.brief(waits.each)} in each step", curve=tuple(waits.curve))]
    if feeding is not None:
        for line in feeding.lines[:2]:
            at = words.place(line.place)
            says = f"in {line.looks} of {feeding.looks} looks the pipeline's Python stood at {at}"
            found.append(Evidence(says, (feeding,)))
    if stages and described is not None:
        names = " ← ".join(stage.stage for stage in stages[:8])
        found.append(Evidence(f"the pipeline, from its end: {names}", (described,)))
    return found


def _remedies(stages: tuple[Stage, ...], place: Place | None) -> list[Remedy]:
    found = []
    cached = any(stage.stage == "Cache" for stage in stages)
    for stage in stages:
        at = stage.called_at or stage.where
        if stage.generator:
            does = (
                "The generator runs in one Python thread: do its work in tf.data stages, or in a PyDataset with workers"
            )
            found.append(Remedy(does, None, at))
        elif stage.stage == "Map" and (stage.python or stage.random) and stage.num_parallel_calls is None:
            change = f".map({stage.function or 'f'}, num_parallel_calls=tf.data.AUTOTUNE)"
            what = "Python" if stage.python else "random"
            found.append(Remedy(f"Let this {what} map run several samples at once", change, at))
        if stage.decodes and not cached:
            found.append(
                Remedy("Keep what was decoded, if it fits into memory: .cache() right after this map", None, at)
            )
        if stage.reads:
            found.append(Remedy("Many small files: put the samples into a few TFRecord files", None, at))
    if not stages and place is not None:
        does = "This Python runs in one thread: do its work in tf.data, or in a keras.utils.PyDataset with workers"
        found.append(Remedy(does, None, place))
    return [*found[:3], Remedy("What a change gives is measured by: laststep tune")]
