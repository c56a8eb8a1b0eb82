"""A compiled step kept a Python value that has changed since."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Place, Remedy, measured, no
from laststep.analysis.learning.learning import learning_of
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(
    needs=("recorder",),
    outranks=("loss-not-improving", "weights-not-updating", "no-signal", "learning-rate-too-low"),
)
def stale_function_state(run: Run) -> Answer:
    """A tf.function took a Python value when it was traced, and goes on with it though the program has changed it.

    What happened
        tf.function runs the Python code once and keeps what it did. A Python number, flag or list that the code read is
        a constant from then on: a learning rate, a weight of a loss, a step counter, a stage. Changing it later changes
        nothing. fit compiles train_step and the loss in the same way.

    How laststep knows
        It remembers the Python values that a traced training step read, and compares them while training goes on.

    What to do
        Make it a tf.Variable and change it with .assign(), or hand it to the step as a tensor. In fit, model.compile()
        after the change traces anew.

    Not to be confused with
        weights-not-updating (the weights themselves stay), learning-rate-too-low (the rate is what was asked for).
    """
    traced = max((event.time for event in run.all("gradients")), default=0.0)  # anew: it has the new value
    told = [each for each in run.all("stale") if each.time > traced]
    changed = [each for each in told if each.get("before") != each.get("now") or each.get("written")]
    if not changed:
        seen = run.has("gradients")
        return measured("no value that a compiled step read was changed") if seen else no("no step was seen")
    first = changed[0]
    name, function = str(first.get("name")), first.get("function")
    inside = f" by {function}" if function else ""
    at = f" at step {first.get('step'):,}" if isinstance(first.get("step"), int) else ""
    before, now = words.value(first.get("before")), words.value(first.get("now"))
    others = [str(event.get("name")) for event in changed[1:4] if event.get("name") != name]
    more = (Evidence(f"the same holds for {', '.join(others)}"),) if others else ()
    does = "Keep it in a variable of TensorFlow, and change that with .assign(…)"
    cause = f"The compiled step still uses {name} = {before}; the program has set it to {now}."
    says = f"{name} was {before} when it was read{inside}, and {now} later{at}"
    if first.get("written"):
        cause = f"{name} is changed inside the compiled step: that line runs only while it is traced."
        says = f"{name} is set{inside} and stands at {now} since many steps{at}"
    return Finding(
        cause=cause,
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(says, (first,)),
            *more,
            *learning_of(run).evidence,
        ),
        remedies=(Remedy(does, f"{name} = tf.Variable({before}, trainable=False)", _place(first)),),
        where=_place(first),
    )


def _place(event: Event) -> Place | None:
    if not event.get("file") or not event.get("line"):
        return None
    return {"file": event.get("file"), "line": event.get("line")}
