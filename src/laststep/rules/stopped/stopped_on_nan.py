"""Stopped because the loss was not a number."""

from __future__ import annotations

import math

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.messages import answer, compiled, said
from laststep.analysis.progress import fit_place, measured, no
from laststep.analysis.stops import is_for_nan, not_finite, stop_that_counted
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

BY_A_HOOK = compiled(r"NanLossDuringTrainingError|NaN loss during training|Model diverged with loss = NaN")
CLIMBED = 3.0  # times its lowest value
LOOK = Remedy(
    "See what made the loss so: the data of the first bad step, the learning rate, log or division in the loss"
)


@rule(
    outranks=(
        "finished-short",
        "callback-stopped-training",
        "callback-raised",
        "unhandled-exception",
        "early-stopping",
        "nan-loss",
    ),
)
def stopped_on_nan(run: Run) -> Answer:
    """TerminateOnNaN, or a callback like it, ended training because the loss was NaN or infinite.

    What happened
        The loss became NaN or infinite, and a callback ended the training for it. The callback is only the
        messenger: something made the loss so.

    How laststep knows
        The callback that set stop_training (or raised), the loss that it saw, and the recorded loss of each
        step before.

    What to do
        Find the first bad step, which is shown. A loss that climbs for some steps before is a learning rate
        that is too high, or gradients that explode; one that is fine and then NaN at once is usually a
        value in the data, log(0) or 0/0.

    Not to be confused with
        callback-stopped-training (the loss was a number), early-stopping.
    """
    stop = stop_that_counted(run)
    error = next((e for e in reversed(run.all("exception")) if _from_terminate_on_nan(e)), None)
    hook = said(run, *BY_A_HOOK, console=False)
    if hook is not None:
        return answer(run, hook, "", "An Estimator's hook ended the training because the loss was NaN.", (LOOK,))
    if error is None and (stop is None or not is_for_nan(stop)):
        return _all_clear(run)
    event = error or stop
    assert event is not None
    callback = event.get("callback") or {}
    bad = [step for step in run.steps if not_finite(step.loss)]
    evidence = [Evidence(_what_it_saw(event), (event,))]
    if bad:
        evidence.append(Evidence(f"the first step with a bad loss was step {bad[0].number:,} ({bad[0].loss})"))
    before = [step.loss for step in run.steps if math.isfinite(step.loss)]
    if len(before) > 2:
        first, last, most = (words.value(value) for value in (before[0], before[-1], max(before)))
        told = f"the loss before: {first} at first, {last} last, {most} at most"
        evidence.append(Evidence(told, curve=tuple(before[-200:])))
    users = callback.get("users")
    return Finding(
        cause=f"{callback.get('class', 'A callback')} ended the training because the loss was not a finite number.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=_remedies(run, before),
        where=(event.get("where") if users else None) or fit_place(run),
    )


def _remedies(run: Run, before: list[float]) -> tuple[Remedy, ...]:
    """A loss that climbed before it broke speaks for the learning rate; one that broke at once for the data."""
    optimizer = (run.fit.began.get("optimizer") or {}) if run.fit else {}
    rate = optimizer.get("learning_rate")
    climbed = len(before) > 2 and before[-1] > CLIMBED * max(min(before), 1e-12)
    if not climbed or not isinstance(rate, (int, float)) or not math.isfinite(rate):
        return (LOOK,)
    name = optimizer.get("class", "the optimizer")
    told = f"The loss climbed before it broke: try a lower learning rate ({name} had {words.value(float(rate))})"
    return (Remedy(told, f"learning_rate={rate / 10:.3g}", fit_place(run)), LOOK)


def _all_clear(run: Run) -> Answer:
    shown = [value for event in run.all("epoch") for value in [(event.get("metrics") or {}).get("loss")]]
    if run.has("bad-number") or any(isinstance(value, float) and not math.isfinite(value) for value in shown):
        return no("a bad number was seen, and nobody stopped for it")
    losses = [step.loss for step in run.steps if not math.isnan(step.loss)]
    if losses and run.signal is None and all(math.isfinite(loss) for loss in losses):
        return measured(f"the loss was a finite number in every recorded step, {words.value(losses[-1])} in the last")
    return no("no callback ended the training for a bad loss")


def _from_terminate_on_nan(error: Event) -> bool:
    return (error.get("callback") or {}).get("class") == "TerminateOnNaN"


def _what_it_saw(event: Event) -> str:
    batch = event.get("batch")
    epoch = int(event.get("epoch") or 0) + 1
    if event.kind == "exception":
        return str(event.get("message"))[:200]
    metrics = event.get("metrics") or {}
    bad = {name: value for name, value in metrics.items() if not_finite(value)}
    told = ", ".join(f"{name} = {value}" for name, value in bad.items()) or "a bad loss"
    return f"it saw {told} in epoch {epoch}" + (f", batch {batch}" if isinstance(batch, int) and batch >= 0 else "")
