"""No gradient reached any weight."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.learning.site import last_site
from laststep.analysis.messages import answer, compiled, find_message
from laststep.analysis.program import trains_by_hand
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

MESSAGES = compiled(
    r"No variables provided\.|No gradients provided for any variable(?:: ?(?P<names>[^\n]*))?",
    r"No (?:valid )?gradients? (?:were |are )?(?:found|provided|available)[^\n]*",
    r"(?:All|all) gradients (?:are|were) None|None values not supported[^\n]*gradient|grads_and_vars.*(?:None|empty)",
    r"(?i)variables? .*have `?None`? for gradient|An operation has `None` for gradient",
    r"Attempting to (?:unscale|get gradients of) None|The optimizer cannot (?:apply|update)[^\n]*no gradients",
)
CUTS = (".numpy(", "argmax(", "stop_gradient(", "round(", "floor(")


@rule()
def no_gradients(run: Run) -> Answer:
    """All gradients are None: the tape recorded no path from any weight to the loss.

    What happened
        The gradient cannot flow from the loss to the weights: .numpy() or NumPy in between, argmax or a cast to
        integers, tf.stop_gradient, a loss computed outside the tape, a frozen model, or no targets at all: a
        generator that yields a list [x, y] instead of a tuple (x, y) gives Keras no y.

    How laststep knows
        The optimizer rejects an update in which every gradient is None.

    What to do
        Follow the loss back to the weights: all of it must be inside the tape, in TensorFlow operations,
        without rounding. With fit: make sure that the data comes as a tuple (x, y).

    Not to be confused with
        weights-not-updating (some gradients exist), the harmless warning that gradients do not exist for some
        variables (the other half of a GAN, an unused head).
    """
    message = find_message(run, *MESSAGES)
    return answer(
        run,
        message,
        "the optimizer got gradients",
        cause="No gradient reached any weight: the loss does not depend on the weights in a differentiable way.",
        remedies=_remedies(run),
        where=_cut_at(run),
    )


def _cut_at(run: Run) -> Place | None:
    """The line that cuts the gradient off, such as one with .numpy(); not the optimizer's, which only notices."""
    site = last_site(run)
    cut = site.gradients.cut_at if site is not None else None
    return cut if cut is not None and any(call in cut.text for call in CUTS) else None


def _remedies(run: Run) -> tuple[Remedy, ...]:
    differentiable = Remedy("Compute the loss inside the tape, without .numpy(), argmax, rounding or integers")
    if trains_by_hand(run) or (run.fit is not None and run.fit.began.own_train_step is not None):
        return (differentiable,)
    if run.fit is not None and run.fit.began.data.y_shape:
        return (Remedy("Make loss and layers differentiable: no .numpy(), argmax, rounding or integers"),)
    return (Remedy("Let the data be tuples of inputs and targets: (x, y), or ((x1, x2), y)"), differentiable)
