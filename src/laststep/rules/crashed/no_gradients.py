"""No gradient reached any weight."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import ECHOES, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"No variables provided\.|No gradients provided for any variable(?:: ?(?P<names>[^\n]*))?",
    r"No (?:valid )?gradients? (?:were |are )?(?:found|provided|available)[^\n]*",
    r"(?:All|all) gradients (?:are|were) None|None values not supported[^\n]*gradient|grads_and_vars.*(?:None|empty)",
    r"(?i)variables? .*have `?None`? for gradient|An operation has `None` for gradient",
    r"Attempting to (?:unscale|get gradients of) None|The optimizer cannot (?:apply|update)[^\n]*no gradients",
)


@rule(outranks=(*ECHOES, "shape-mismatch", "dtype-mismatch"))
def no_gradients(run: Run) -> Answer:
    """The loss does not depend on any weight as far as the tape can see: all gradients are None.

    What happened
        Between the weights and the loss the path of the gradient is cut: .numpy() or NumPy in between, argmax or
        a cast to integers, tf.stop_gradient, a loss computed outside the tape, a frozen model, or no target at
        all: a generator that yields a list [x, y] instead of a tuple (x, y) gives Keras no y.

    How laststep knows
        The optimizer refuses an update of which every gradient is None.

    What to do
        Follow the loss back to the weights: all of it inside the tape, with TensorFlow's operations, without
        rounding. With fit: see that the data comes as a tuple (x, y).

    Not to be confused with
        weights-not-updating (some gradients are there), the harmless warning that gradients do not exist for
        some variables (the other half of a GAN, an unused head).
    """
    message = find_message(run, *SAID)
    return answer(
        run,
        message,
        "the optimizer got gradients",
        cause="No gradient reached any weight: between the weights and the loss the path is cut.",
        remedies=(
            Remedy("With fit: let the data be a tuple of inputs and targets", "yield (x1, x2), y"),
            Remedy("In a loop: compute the loss inside the tape, without .numpy(), argmax or integers"),
        ),
    )
