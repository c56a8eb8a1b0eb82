"""Labels that do not fit the loss although it raises no error, from the targets of the sampled steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.learning.learning import LEARNS, learning_of
from laststep.analysis.learning.outputs import Output, outputs
from laststep.analysis.learning.site import or_nan
from laststep.analysis.program import name_of_targets
from laststep.analysis.progress import fit_place, target_place
from laststep.record.events.numbers import BadNumber
from laststep.record.events.process import Raised
from laststep.record.run import Run
from laststep.text import format_value

ROUNDING_TOLERANCE = 0.01
NOISE_TOLERANCE = 0.1  # noisy labels, as some GANs use them, go a little beyond 0 and 1
MULTI_HOT = "Use sigmoid in the last layer, with the loss for several classes per sample"
ONE_HOT = "Give the loss one-hot rows, or rows that sum to 1"
TO_ROWS = {"targets": "distribution"}


@dataclass(frozen=True)
class LabelProblem:
    """What is wrong with the labels, what was seen, what to write instead."""

    cause: str
    seen: str
    does: str
    change: str | None = None  # with {0} for the targets
    uncertain: bool = False
    trial: Mapping[str, Any] | None = None


def silent_labels(run: Run) -> Finding | None:
    """Labels for which the loss raises no error and cannot be minimized."""
    for output in outputs(run):
        low, high = or_nan(output.y.low), or_nan(output.y.high)
        if not math.isfinite(high - low):
            continue
        check = {"sparse": _for_sparse, "categorical": _for_categorical, "binary": _for_binary}.get(output.kind)
        found = check(output, low, high) if check is not None else None
        if found is not None and not (found.uncertain and learning_of(run).verdict == LEARNS):
            return _finding(run, output, found)
    return None


def _finding(run: Run, output: Output, problem: LabelProblem) -> Finding:
    learning = learning_of(run)
    confidence = Confidence.CERTAIN
    if problem.uncertain:
        confidence = Confidence.LIKELY if learning.fails else Confidence.POSSIBLE
    if run.uncaught is not None or run.has(Raised):  # something else ended it
        confidence = min(confidence, Confidence.LIKELY)
    name = name_of_targets(run)
    needs_name = "{0}" in (problem.change or "")
    change = problem.change.format(name) if problem.change and (name or not needs_name) else None
    remedy = Remedy(problem.does, change, fit_place(run), trial=problem.trial)
    return Finding(
        cause=problem.cause,
        confidence=confidence,
        evidence=(Evidence(problem.seen, output.events), *learning.evidence),
        remedies=(remedy,),
        where=target_place(run) or output.site.where,
    )


def out_of_range(run: Run) -> tuple[Output, float] | None:
    """A class index without an output unit, where the loss became NaN because of it."""
    if not run.has(BadNumber):
        return None
    for output in outputs(run):
        low, high = or_nan(output.y.low), or_nan(output.y.high)
        if output.kind != "sparse" or not output.units or output.units < 2:
            continue
        if output.y.whole and (high >= output.units or low < 0):
            return output, high if high >= output.units else low
    return None


def _for_sparse(output: Output, low: float, high: float) -> LabelProblem | None:
    """Class indices must be integers: the loss truncates fractions."""
    if output.y.whole or output.units == 1:
        return None
    distinct = output.y.distinct
    by_255 = bool(distinct) and all(abs(value * 255 - round(value * 255)) < ROUNDING_TOLERANCE for value in distinct)
    scaled = "were divided by 255 like the inputs" if by_255 and high <= 1 else "are not integers"
    shown = ", ".join(format_value(round(value, 4)) for value in distinct[:5])
    seen = f"labels between {format_value(low)} and {format_value(high)}" + (f": {shown} …" if shown else "")
    cause = f"The class indices {scaled}: {output.loss} truncates them to at most {format_value(int(high))}."
    trial = {"affine": [255.0, ROUNDING_TOLERANCE]} if by_255 and high <= 1 else None
    return LabelProblem(cause, seen, "Scale the inputs only, and keep the labels as 0, 1, 2 …", trial=trial)


def _for_categorical(output: Output, low: float, high: float) -> LabelProblem | None:
    """Each row must be a distribution over the classes."""
    sums = output.y.row_sums
    if output.units == 1 or sums is None:
        return None
    if sums[0] >= 1 - ROUNDING_TOLERANCE and sums[1] <= 1 + ROUNDING_TOLERANCE and low >= -ROUNDING_TOLERANCE:
        return None
    binary = output.y.distinct == (0.0, 1.0)
    span = f"the sums of the target rows range from {format_value(sums[0])} to {format_value(sums[1])}"
    if binary and sums[1] <= 1:
        cause = "Some rows of the one-hot targets are all 0: their class has no column."
        unused = 0.0 in output.y.column_means  # as where classes are numbered from 1
        seen = f"{span}; a row of zeros adds nothing to the loss"
        return LabelProblem(cause, seen, "Number the classes from 0 before they are made one-hot", uncertain=not unused)
    if binary:
        cause = f"The targets are multi-hot (several classes per sample), but {output.loss} expects exactly one class."
        trial = {"output": {"activation": "sigmoid"}, "loss": "binary_crossentropy"}
        return LabelProblem(cause, span, MULTI_HOT, 'loss="binary_crossentropy"', True, trial)
    cause = f"The rows of the targets do not sum to 1: {output.loss} expects a distribution over the classes."
    seen = f"{span}, values from {format_value(low)} to {format_value(high)}"
    hot = low >= 0 and or_nan(output.y.zeros) >= 1 - 1 / (output.units or 2) - ROUNDING_TOLERANCE
    return LabelProblem(cause, seen, ONE_HOT, "{0} = keras.utils.to_categorical({0}.argmax(axis=1))", hot, TO_ROWS)


def _for_binary(output: Output, low: float, high: float) -> LabelProblem | None:
    """Targets must be probabilities, between 0 and 1."""
    if low >= -NOISE_TOLERANCE and high <= 1 + NOISE_TOLERANCE:
        return None
    distinct = output.y.distinct
    two = distinct if len(distinct) == 2 else None
    given = (
        f"{format_value(two[0])} and {format_value(two[1])}" if two else f"{format_value(low)} to {format_value(high)}"
    )
    changes = {(-1.0, 1.0): "{0} = ({0} + 1) / 2", (1.0, 2.0): "{0} = {0} - 1", (0.0, 255.0): "{0} = {0} / 255"}
    change = changes.get((two[0], two[1])) if two else None
    does = f"Map {given} to 0 and 1" if two else "Give the loss targets between 0 and 1, or use a loss for such values"
    cause = f"The targets are {given}, but {output.loss} expects 0 to 1: the loss has no minimum."
    moves = dict(zip(changes.values(), ([0.5, 0.5], [1.0, -1.0], [1 / 255, 0.0]), strict=True))
    trial = {"affine": moves[change]} if change is not None else None
    return LabelProblem(cause, f"targets from {format_value(low)} to {format_value(high)}", does, change, trial=trial)
