"""Targets and predictions of different shapes are broadcast in the loss."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import learning_of
from laststep.analysis.learning.outputs import Output, outputs
from laststep.analysis.learning.site import Site, sites
from laststep.analysis.rewrite import subtracted
from laststep.record.decode import Shape
from laststep.record.events.numbers import Broadcast
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

# While the loss measures something other than intended, no other rule can judge by it.
OTHERS = ("nan-loss", "loss-not-improving", "no-signal", "output-loss-mismatch", "learning-rate-too-high")


@rule(tier=Tier.ROOT, sees=("inside",))
def targets_broadcast(run: Run) -> Answer:
    """Targets and predictions have different shapes, and were broadcast against each other without an error.

    What happened
        (32,) minus (32, 1) does not give 32 differences but a 32 × 32 matrix: each prediction against each target. Its
        mean is smallest where all predictions equal the mean of the targets, and that is what the model learns.

    How laststep knows
        From the shapes that are combined on the way to the loss, one computed by the model and the other not, and from
        the shape of the result, which is larger than both.

    What to do
        Give both the same shape before the loss: y[:, None], tf.squeeze(pred, -1), or one output unit per column.

    Not to be confused with
        shape-mismatch (shapes that cannot be broadcast raise an error), a loss that compares all pairs on purpose.
    """
    found = sites(run)
    if not found:
        return no("no gradients were recorded")
    for site in reversed(found):
        broadcast = site.gradients.broadcast
        if broadcast is not None and len(broadcast.shapes) == 2:
            return _in_graph(run, site, broadcast)
    for output in outputs(run):
        if _is_broadcast(output):
            return _in_loss(run, output)
    return measured("no operation on the way to the loss broadcasts the targets")


def _is_broadcast(output: Output) -> bool:
    """A loss of Keras with one column on one side. A custom loss may do that on purpose."""
    y, y_pred = output.y_shape, output.y_pred_shape
    if output.kind != "regression" or len(y) != len(y_pred) or len(y) < 2 or None in (y[-1], y_pred[-1]):
        return False
    return y[-1] != y_pred[-1] and 1 in (y[-1], y_pred[-1])


def _in_graph(run: Run, site: Site, broadcast: Broadcast) -> Finding:
    one, two = (_shape(shape) for shape in broadcast.shapes)
    result = f" to {_shape(broadcast.out)}" if broadcast.out else ""
    where = broadcast.where or site.where
    return Finding(
        cause=f"Targets and predictions of shapes {one} and {two} were broadcast against each other.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"{one} and {two} were broadcast{result} in the loss", (site.gradients,)),
            *learning_of(run).evidence,
        ),
        remedies=(
            Remedy("Give both the same shape", _reshaped(where), where,
                   trial={"targets": "as predicted"}),
        ),
        where=where,
    )  # fmt: skip


def _in_loss(run: Run, output: Output) -> Finding:
    y, y_pred = _shape(output.y_shape), _shape(output.y_pred_shape)
    where = output.layer.where or output.site.where
    change = f"units={output.y_shape[-1]}"
    return Finding(
        cause=f"Targets and predictions of shapes {y} and {y_pred} were broadcast against each other.",
        confidence=Confidence.CERTAIN,
        evidence=(
            Evidence(f"{output.loss} compares targets {y} with predictions {y_pred}", (output.site.gradients,)),
            *learning_of(run).evidence,
        ),
        remedies=(Remedy("Give the last layer one unit for each column of the targets", change, where),),
        where=where,
    )


def _shape(sizes: Shape) -> str:
    inner = ", ".join("any" if size is None else str(size) for size in sizes)
    return f"({inner},)" if len(sizes) == 1 else f"({inner})"


def _reshaped(where: Place | None) -> str | None:
    """With the names of the two, where the line subtracts one from the other."""
    names = subtracted(where.text) if where is not None else None
    return "{0} = tf.reshape({0}, tf.shape({1}))".format(*names) if names else None
