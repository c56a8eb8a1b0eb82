"""Steps wait for data for a large share of the time."""

from __future__ import annotations

from typing import Any

from laststep import text as words
from laststep.analysis.data_wait import Waits, waits_of
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stacks import Place, most_seen
from laststep.record.event import Event
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
        unseen = long_enough and not any(sample.get("inside") for sample in run.samples)
        return cannot("the wait for data was not measured in this run") if unseen else no("too few steps to tell")
    if waits.share < SHARE or waits.each < EACH or waits.seconds < SECONDS:
        return measured(f"steps waited for data {waits.share:.0%} of the time ({words.brief(waits.each)} each)")
    stages, described = _stages(run)
    looked = run.last("feeding")
    place = (most_seen(looked.get("lines")) if looked is not None else None) or next(
        (stage[at] for stage in stages for at in ("called_at", "where") if stage.get(at)), None
    )
    return Finding(
        cause=f"Training waits for data {waits.share:.0%} of the time: {_culprit(stages, looked, run)}.",
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence(waits, looked, stages, described)),
        remedies=tuple(_remedies(stages, place, run)),
        where=place or fit_place(run),
    )


def _stages(run: Run) -> tuple[list[dict[str, Any]], Event | None]:
    event = run.fit.began if run.fit else run.last("dataset")
    data = (event.get("data") or event.raw) if event is not None else {}
    return [stage for stage in data.get("stages") or [] if isinstance(stage, dict)], event


def _culprit(stages: list[dict[str, Any]], looked: Event | None, run: Run) -> str:
    line = most_seen(looked.get("lines")) if looked is not None else None
    if line is not None:
        return f"its input stands in {words.place(line)}"
    slow = next((stage for stage in stages if stage.get("python") or stage.get("decodes") or stage.get("random")), None)
    if slow is not None and slow.get("function"):
        return f"its input pipeline runs {slow['function']} for each sample"
    return "its input pipeline is slower than the model"


def _evidence(
    waits: Waits, looked: Event | None, stages: list[dict[str, Any]], described: Event | None
) -> list[Evidence]:
    told = f"in {waits.steps:,} steps {words.span(waits.waited)} of {words.span(waits.seconds)} were spent waiting"
    found = [Evidence(f"{told}: {words.brief(waits.each)} in each step", curve=tuple(waits.curve))]
    if looked is not None:
        for line in looked.get("lines", [])[:2]:
            says = (
                f"in {line['looks']} of {looked.get('looks')} looks the pipeline's Python stood at {words.place(line)}"
            )
            found.append(Evidence(says, (looked,)))
    if stages and described is not None:
        names = " ← ".join(str(stage.get("stage")) for stage in stages[:8])
        found.append(Evidence(f"the pipeline, from its end: {names}", (described,)))
    return found


def _remedies(stages: list[dict[str, Any]], place: Place | None, run: Run) -> list[Remedy]:
    found = []
    cached = any(stage.get("stage") == "Cache" for stage in stages)
    for stage in stages:
        at = stage.get("called_at") or stage.get("where")
        parallel = stage.get("num_parallel_calls") is not None
        if stage.get("generator"):
            does = (
                "The generator runs in one Python thread: do its work in tf.data stages, or in a PyDataset with workers"
            )
            found.append(Remedy(does, None, at))
        elif stage.get("stage") == "Map" and (stage.get("python") or stage.get("random")) and not parallel:
            change = f".map({stage.get('function', 'f')}, num_parallel_calls=tf.data.AUTOTUNE)"
            what = "Python" if stage.get("python") else "random"
            found.append(Remedy(f"Let this {what} map run several samples at once", change, at))
        if stage.get("decodes") and not cached:
            found.append(
                Remedy("Keep what was decoded, if it fits into memory: .cache() right after this map", None, at)
            )
        if stage.get("reads"):
            found.append(Remedy("Many small files: put the samples into a few TFRecord files", None, at))
    if not stages and place is not None:
        does = "This Python runs in one thread: do its work in tf.data, or in a keras.utils.PyDataset with workers"
        found.append(Remedy(does, None, place))
    return [*found[:3], Remedy("What a change gives is measured by: laststep tune")]
