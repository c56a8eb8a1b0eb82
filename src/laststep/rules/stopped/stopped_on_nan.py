"""A callback stopped the training because the loss was NaN or infinite."""

from __future__ import annotations

import math

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.messages import answer, compiled, find_message
from laststep.analysis.progress import fit_place
from laststep.analysis.stops import is_for_nan, stop_that_counted
from laststep.record.events.numbers import BadNumber
from laststep.record.events.process import Raised
from laststep.record.events.shared import Optimizer
from laststep.record.events.training import Epoch, Stop
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_value

BY_A_HOOK = compiled(r"NanLossDuringTrainingError|NaN loss during training|Model diverged with loss = NaN")
MIN_CLIMB = 3.0  # the last finite loss, as a multiple of the lowest
FIND_CAUSE = Remedy(
    "Find what made the loss NaN: the data of the first bad step, the learning rate, a log or division in the loss"
)


@rule(
    tier=Tier.CONSEQUENCE,
    sees=("inside", "log"),
    follows=("nan-loss", "diverged", "bad-labels-for-loss", "label-out-of-range"),
)
def stopped_on_nan(run: Run) -> Answer:
    """TerminateOnNaN, or a callback like it, ended training because the loss was NaN or infinite.

    What happened
        The loss became NaN or infinite, and a callback stopped the training. The callback only reports it: the cause
        is what made the loss NaN.

    How laststep knows
        From the callback that set stop_training (or raised), the loss that it got, and the recorded loss of each step
        before.

    What to do
        Find the first bad step, which is shown. A loss that climbs for some steps before it points to a learning rate
        that is too high, or to exploding gradients; a loss that is NaN all at once is usually a bad value in the data,
        log(0) or 0/0.

    Not to be confused with
        callback-stopped-training (the loss was finite), early-stopping.
    """
    stop = stop_that_counted(run)
    error = next((e for e in reversed(run.all(Raised)) if _from_terminate_on_nan(e)), None)
    hook = find_message(run, *BY_A_HOOK, console=False)
    if hook is not None:
        return answer(run, hook, "", "An Estimator's hook ended the training because the loss was NaN.", (FIND_CAUSE,))
    if error is None and (stop is None or not is_for_nan(stop)):
        return _all_clear(run)
    event = error or stop
    assert event is not None
    callback = event.callback
    bad = [step for step in run.steps if not math.isfinite(step.loss)]
    evidence = [Evidence(_what_it_saw(event), (event,))]
    if bad:
        evidence.append(Evidence(f"the first step with a bad loss was step {bad[0].number:,} ({bad[0].loss})"))
    before = [step.loss for step in run.steps if math.isfinite(step.loss)]
    if len(before) > 2:
        first, last, most = (format_value(value) for value in (before[0], before[-1], max(before)))
        losses = f"the loss before: {first} first, {last} last, {most} at most"
        evidence.append(Evidence(losses, curve=tuple(before[-200:])))
    by = callback.class_name if callback else "A callback"
    return Finding(
        cause=f"{by} ended the training because the loss was NaN or infinite.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=_remedies(run, before),
        where=(event.where if callback and callback.is_users else None) or fit_place(run),
        brief=f"{by} stopped fit",
    )


def _remedies(run: Run, before: list[float]) -> tuple[Remedy, ...]:
    """A loss that climbs first points to the learning rate; one that is NaN all at once, to the data."""
    optimizer = run.fit.began.optimizer if run.fit else Optimizer()
    rate = optimizer.learning_rate
    climbed = len(before) > 2 and before[-1] > MIN_CLIMB * max(min(before), 1e-12)
    if not climbed or rate is None or not math.isfinite(rate):
        return (FIND_CAUSE,)
    name = optimizer.class_name or "the optimizer"
    lower = (
        f"The loss climbed until it was no longer finite: try a lower learning rate ({name} had {format_value(rate)})"
    )
    return (Remedy(lower), FIND_CAUSE)


def _all_clear(run: Run) -> Answer:
    if run.has(BadNumber) or any(not math.isfinite(epoch.metrics.get("loss", 0.0)) for epoch in run.all(Epoch)):
        return no("a NaN or infinite number was recorded, and no callback stopped the training")
    losses = [step.loss for step in run.steps if not math.isnan(step.loss)]
    if losses and run.signal is None and all(math.isfinite(loss) for loss in losses):
        return measured(f"the loss was finite in every recorded step, {format_value(losses[-1])} in the last")
    return no("no callback stopped the training because of the loss")


def _from_terminate_on_nan(error: Raised) -> bool:
    return error.callback is not None and error.callback.class_name == "TerminateOnNaN"


def _what_it_saw(event: Raised | Stop) -> str:
    if isinstance(event, Raised):
        return event.message[:200]
    bad = [f"{name} = {value}" for name, value in event.metrics.items() if not math.isfinite(value)]
    batch = f", batch {event.batch}" if event.batch is not None and event.batch >= 0 else ""
    return f"it got {', '.join(bad) or 'a bad loss'} in epoch {(event.epoch or 0) + 1}{batch}"
