"""A step waits for the shuffle buffer to fill."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.hang import stall_of
from laststep.analysis.pipeline import blamed_filter, handed_over, hands_over
from laststep.analysis.progress import fit_place
from laststep.analysis.stall import last_snapshot
from laststep.record.events.shared import Stage
from laststep.record.events.training import FitStart
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_duration

NOTICE = re.compile(r"[Ff]illing up shuffle buffer[^:]*: (\d+) of (\d+)")


@rule(tier=Tier.ROOT, sees=("inside", "attached"))
def shuffle_buffer_filling(run: Run) -> Answer:
    """The shuffle buffer is being filled: training begins when it is full.

    What happened
        dataset.shuffle(n) reads n elements before it returns the first one, at the start and again in every epoch.
        With a large n or a slow source this takes long, and only TensorFlow's own notice is printed.

    How laststep knows
        The pipeline has a shuffle stage, the first step of an epoch waits for its batch, and meanwhile data is being
        read or computed, or a generator hands elements over. TensorFlow's own notice on the console says how many
        elements are in the buffer.

    What to do
        Wait, or make the buffer smaller. Shuffle file names or record numbers instead of decoded samples, that is,
        shuffle before the expensive map.

    Not to be confused with
        input-blocked (nothing is read at all), input-starved (every step waits).
    """
    view = last_snapshot(run)
    buffers = shuffles(run)
    if view is None or not buffers:
        return no("no step waits for a shuffle buffer now")
    if view.phase not in ("first step", "epoch start") or not view.waits_for_data:
        return no("the last snapshot shows no shuffle buffer being filled")
    notice = filled(run)
    if view.idle and notice is None and not hands_over(view):
        return no("nothing was being read, so no buffer was being filled")
    if notice is None and stall_of(run) is not None and blamed_filter(view, run) is not None:
        return no("TensorFlow reports no buffer being filled, and a filter can drop every element")
    size = max(stage.buffer_size or 0 for stage in buffers)
    waited = f"the first step has waited for its batch for {format_duration(view.seconds)}"
    evidence = [Evidence(waited + _time_left(view.seconds, notice), (view.snapshot,))]
    if notice is not None:
        evidence.append(Evidence(f"TensorFlow reports {notice[0]:,} of {notice[1]:,} elements in the buffer"))
    fits = tuple(run.all(FitStart)[-1:])
    evidence.append(Evidence(f"the pipeline shuffles with a buffer of {size:,} elements", fits))
    evidence += handed_over(view)
    return Finding(
        cause=f"The shuffle buffer of {size:,} elements is being filled: slow, not stuck.",
        confidence=Confidence.CERTAIN if notice is not None else Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(Remedy("Wait", safe=True), Remedy("Or shuffle before the expensive map, or with a smaller buffer")),
        where=fit_place(run),
    )


def shuffles(run: Run) -> list[Stage]:
    stages = run.fit.began.data.stages if run.fit else ()
    return [stage for stage in stages if "huffle" in stage.stage]


def filled(run: Run) -> tuple[int, int] | None:
    """TensorFlow's own notice: Filling up shuffle buffer (this may take a while): 2049 of 10000."""
    found = NOTICE.findall(run.console)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def _time_left(seconds: float, notice: tuple[int, int] | None) -> str:
    """At the rate so far."""
    if notice is None or not notice[0]:
        return ""
    left = seconds * (notice[1] - notice[0]) / notice[0]
    return f"; about {format_duration(left)} left" if left > 0 else ""
