"""A traced step uses a Python value that has changed since."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import learning_of
from laststep.record.events.numbers import Gradients, StaleValue
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_value


@rule(tier=Tier.ROOT, sees=("inside",))
def stale_function_state(run: Run) -> Answer:
    """A tf.function captured a Python value when it was traced, and still uses it although the program has changed it.

    What happened
        tf.function runs the Python code once, while tracing, and then replays the graph. A Python number, flag or list
        that the code read is a constant from then on: a learning rate, a loss weight, a step counter, a stage. Changing
        it later has no effect. fit compiles train_step and the loss in the same way.

    How laststep knows
        It records the Python values that a traced training step read, and compares them while training goes on.

    What to do
        Use a tf.Variable and change it with .assign(), or pass the value to the step as a tensor. In fit, call
        model.compile() after the change: the step is traced again.

    Not to be confused with
        weights-not-updating (the weights themselves do not change), learning-rate-too-low (the rate is as intended).
    """
    traced = max((event.time for event in run.all(Gradients)), default=0.0)  # a new trace has the new value
    later = [value for value in run.all(StaleValue) if value.time > traced]
    changed = [value for value in later if value.before != value.now or value.written]
    if not changed:
        recorded = run.has(Gradients)
        return measured("no value that a traced step read has changed") if recorded else no("no step was recorded")
    first = changed[0]
    others = [value.name for value in changed[1:4] if value.name != first.name]
    cause, evidence = _written(first) if first.written else _outdated(first)
    more = (Evidence(f"the same holds for {', '.join(others)}"),) if others else ()
    variable = f"{first.name} = tf.Variable({_initial(first)}, trainable=False)"
    return Finding(
        cause=cause,
        confidence=Confidence.LIKELY,
        evidence=(evidence, *more, *learning_of(run).evidence),
        remedies=(Remedy("Keep it in a tf.Variable where it is first set, and change it with .assign(…)", variable),),
        where=first.place,
    )


def _initial(value: StaleValue) -> str:
    """As a float: a variable of integers takes no fraction later, and does not mix with other tensors."""
    if isinstance(value.before, bool) or value.written or value.before is None:
        return str(value.before)
    return str(float(value.before))


def _outdated(value: StaleValue) -> tuple[str, Evidence]:
    """The program has changed it after the trace."""
    before, now = format_value(value.before), format_value(value.now)
    cause = f"The traced step still uses {value.name} = {before}; the program has set it to {now}."
    then = f"at step {value.step:,}" if value.step is not None else "later"
    return cause, Evidence(f"{value.name} was {before} when it was read{_by(value)}, and {now} {then}", (value,))


def _written(value: StaleValue) -> tuple[str, Evidence]:
    """The traced function itself sets it."""
    cause = f"{value.name} is changed inside the traced step: that line runs only during tracing."
    says = f"{value.name} is set{_by(value)} and has stayed at {format_value(value.now)} for many steps"
    says += f", up to step {value.step:,}" if value.step is not None else ""
    return cause, Evidence(says, (value,))


def _by(value: StaleValue) -> str:
    return f" by {value.function}" if value.function else ""
