"""Targets and predictions of different shapes met in the loss."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import learning_of
from laststep.analysis.learning.outputs import Output, outputs
from laststep.analysis.learning.site import Site, sites
from laststep.record.run import Run
from laststep.record.torn import table
from laststep.rules.rule import Answer, rule

# Nothing of what else is odd can be judged while the loss is one of another question.
OTHERS = ("nan-loss", "loss-not-improving", "no-signal", "output-loss-mismatch", "learning-rate-too-high")


@rule(needs=("recorder",), outranks=OTHERS)
def targets_broadcast(run: Run) -> Answer:
    """Targets and predictions have different shapes, and were stretched against each other without a word.

    What happened
        (32,) minus (32, 1) is not 32 differences: it is a table of 32 × 32, each prediction against each target. The
        mean of that table is smallest where all predictions are the mean of the targets, and that is what is learned.

    How laststep knows
        From the shapes that met on the way to the loss, one of them made by the model and the other not, and that of
        the result, which is larger than both.

    What to do
        Bring both to one shape before the loss: y[:, None], tf.squeeze(pred, -1), or one output unit for each column.

    Not to be confused with
        shape-mismatch (shapes that cannot be stretched are an error), a loss that compares all pairs on purpose.
    """
    seen = sites(run)
    if not seen:
        return no("no gradients were seen")
    for site in reversed(seen):
        met = _met(site)
        if met is not None:
            return _finding(run, site, *met)
    for output in outputs(run):
        if _is_stretched(output):
            return _finding(run, output.site, list(output.y_shape), list(output.said_shape), None, output)
    return measured("targets and predictions have the same shape")


def _met(site: Site) -> tuple[list[Any], list[Any], list[Any] | None] | None:
    told = site.made.raw["broadcast"]
    shapes = told.get("shapes")
    if not isinstance(shapes, list) or len(shapes) != 2 or not all(isinstance(shape, list) for shape in shapes):
        return None
    return shapes[0], shapes[1], told.get("out") if isinstance(told.get("out"), list) else None


def _is_stretched(output: Output) -> bool:
    """A loss of Keras's own with one column on one side. One that the program wrote may want it so."""
    y, said = output.y_shape, output.said_shape
    if output.kind != "regression" or len(y) != len(said) or len(y) < 2 or None in (y[-1], said[-1]):
        return False
    return y[-1] != said[-1] and 1 in (y[-1], said[-1])


def _finding(
    run: Run, site: Site, one: list[Any], two: list[Any], out: list[Any] | None, output: Output | None = None
) -> Finding:
    learning = learning_of(run)
    made = f" and made {_shape(out)}" if out else ""
    columns = output is not None
    line = table(site.made.raw["broadcast"].get("where")) if output is None else output.layer.get("where")
    where = line or site.where
    does = "Give the last layer as many units as the targets have columns" if columns else "Bring both to one shape"
    change = f"Dense({output.y_shape[-1]})" if output is not None else "y = tf.reshape(y, tf.shape(pred))"
    return Finding(
        cause=f"Targets and predictions of shapes {_shape(one)} and {_shape(two)} were stretched against each other.",
        confidence=Confidence.CERTAIN if columns else Confidence.LIKELY,
        evidence=(Evidence(f"{_shape(one)} met {_shape(two)} in the loss{made}", (site.made,)), *learning.evidence),
        remedies=(Remedy(does, change, where, trial=None if columns else {"targets": "as predicted"}),),
        where=where,
    )


def _shape(sizes: list[Any] | None) -> str:
    inner = ", ".join("any" if size is None else str(size) for size in sizes or [])
    return f"({inner},)" if len(sizes or []) == 1 else f"({inner})"
