"""Labels that a loss cannot take and does not complain of: read from the targets of the steps looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.learning.learning import LEARNS, learning_of
from laststep.analysis.learning.outputs import Output, outputs
from laststep.analysis.learning.site import or_nan
from laststep.analysis.progress import fit_place, target_place
from laststep.record.events.numbers import BadNumber
from laststep.record.events.process import Raised
from laststep.record.run import Run

ROUNDING = 0.01
NOISE = 0.1  # some programs shake the labels of a GAN a little, to beyond 0 and 1


@dataclass(frozen=True)
class Bad:
    """What is wrong with the labels, what was seen, what to write."""

    cause: str
    seen: str
    change: str
    doubted: bool = False
    trial: Mapping[str, Any] | None = None


def silent_labels(run: Run) -> Finding | None:
    for output in outputs(run):
        low, high = or_nan(output.y.low), or_nan(output.y.high)
        if not math.isfinite(high - low):
            continue
        bad = {"sparse": _for_sparse, "categorical": _for_rows, "binary": _for_binary}.get(output.kind)
        found = bad(output, low, high) if bad is not None else None
        if found is not None and not (found.doubted and learning_of(run).verdict == LEARNS):
            return _finding(run, output, found)
    return None


def _finding(run: Run, output: Output, bad: Bad) -> Finding:
    learning = learning_of(run)
    doubted = Confidence.LIKELY if learning.fails else Confidence.POSSIBLE
    sure = doubted if bad.doubted else Confidence.CERTAIN
    if run.uncaught is not None or run.has(Raised):  # it ended by something else
        sure = min(sure, Confidence.LIKELY)
    return Finding(
        cause=bad.cause,
        confidence=sure,
        evidence=(Evidence(bad.seen, output.events), *learning.evidence),
        remedies=(Remedy("Give the loss labels that it can take", bad.change, fit_place(run), trial=bad.trial),),
        where=target_place(run) or output.site.where,
    )


def out_of_range(run: Run) -> tuple[Output, float] | None:
    """A class number without a unit, where the loss became NaN for it."""
    if not run.has(BadNumber):
        return None
    for output in outputs(run):
        low, high = or_nan(output.y.low), or_nan(output.y.high)
        if output.kind != "sparse" or not output.units or output.units < 2:
            continue
        if output.y.whole and (high >= output.units or low < 0):
            return output, high if high >= output.units else low
    return None


def _for_sparse(output: Output, low: float, high: float) -> Bad | None:
    """Class numbers must be whole: what is behind the point is cut off."""
    if output.y.whole or output.units == 1:
        return None
    distinct = output.y.distinct
    by_255 = bool(distinct) and all(abs(value * 255 - round(value * 255)) < ROUNDING for value in distinct)
    scaled = "were divided by 255 like the inputs" if by_255 and high <= 1 else "are not whole numbers"
    shown = ", ".join(words.value(round(value, 4)) for value in distinct[:5])
    seen = f"labels between {words.value(low)} and {words.value(high)}" + (f": {shown} …" if shown else "")
    cause = f"The class numbers {scaled}: {output.loss} cuts them off, to {words.value(int(high))} at most."
    trial = {"affine": [255.0, ROUNDING]} if by_255 and high <= 1 else None
    return Bad(cause, seen, "scale x only; y stays 0, 1, 2 …", trial=trial)


def _for_rows(output: Output, low: float, high: float) -> Bad | None:
    """Each row of the classes must be a distribution."""
    sums = output.y.row_sums
    if output.units == 1 or sums is None:
        return None
    if sums[0] >= 1 - ROUNDING and sums[1] <= 1 + ROUNDING and low >= -ROUNDING:
        return None
    binary = output.y.distinct == (0.0, 1.0)
    span = f"rows of the targets sum to {words.value(sums[0])} up to {words.value(sums[1])}"
    if binary and sums[1] <= 1:
        cause = "Some rows of the one-hot targets are all 0: their class has no column."
        unused = 0.0 in output.y.column_means  # as where classes are counted from 1
        return Bad(cause, f"{span}; a row of zeros teaches nothing", "count the classes from 0", not unused)
    if binary:
        cause = f"Targets name several classes at once, and {output.loss} wants exactly one."
        trial = {"output": {"activation": "sigmoid"}, "loss": "binary_crossentropy"}
        return Bad(cause, span, 'Dense(…, activation="sigmoid"), loss="binary_crossentropy"', True, trial)
    cause = f"The rows of the targets do not sum to 1: {output.loss} wants a distribution over the classes."
    seen = f"{span}, values from {words.value(low)} to {words.value(high)}"
    hot = low >= 0 and or_nan(output.y.zeros) >= 1 - 1 / (output.units or 2) - ROUNDING
    return Bad(cause, seen, "one-hot rows: keras.utils.to_categorical(y)", hot, {"targets": "distribution"})


def _for_binary(output: Output, low: float, high: float) -> Bad | None:
    """A probability: between 0 and 1."""
    if low >= -NOISE and high <= 1 + NOISE:
        return None
    distinct = output.y.distinct
    two = distinct if len(distinct) == 2 else None
    given = f"{words.value(two[0])} and {words.value(two[1])}" if two else f"{words.value(low)} to {words.value(high)}"
    changes = {(-1.0, 1.0): "y = (y + 1) / 2", (1.0, 2.0): "y = y - 1", (0.0, 255.0): "y = y / 255"}
    change = changes.get((two[0], two[1]), "y = (y > threshold)") if two else "targets between 0 and 1, or another loss"
    cause = f"The targets are {given}, and {output.loss} wants 0 to 1: its loss has no lowest value."
    moves = {"y = (y + 1) / 2": [0.5, 0.5], "y = y - 1": [1.0, -1.0], "y = y / 255": [1 / 255, 0.0]}
    trial = {"affine": moves[change]} if change in moves else None
    return Bad(cause, f"targets from {words.value(low)} to {words.value(high)}", change, trial=trial)
