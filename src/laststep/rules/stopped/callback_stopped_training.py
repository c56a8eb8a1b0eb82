"""A callback set stop_training."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stops import is_early_stopping, is_for_nan, metric_curve, stop_that_counted
from laststep.record.events.shared import CallbackFacts
from laststep.record.events.training import DecidingTest, Stop
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count, format_value


@rule(
    tier=Tier.CONSEQUENCE,
    sees=("inside",),
    follows=("stopped-on-nan", "early-stopping", "data-exhausted"),
)
def callback_stopped_training(run: Run) -> Answer:
    """A callback other than EarlyStopping stopped the training before all epochs were done.

    What happened
        A callback set model.stop_training = True. fit then returns normally after the step or epoch: no error,
        exit code 0, fewer epochs than requested.

    How laststep knows
        The assignment was recorded: the class, the method and the line, the epoch and the metrics at that moment,
        and, for a callback of your own, the values in its condition.

    What to do
        Check the condition that is shown with its values. Hand-written early stopping often compares the wrong way
        round, never resets its counter, or uses > where >= was meant.

    Not to be confused with
        early-stopping (Keras's own EarlyStopping did its job), stopped-on-nan (the loss was NaN or infinite),
        callback-raised.
    """
    stop = stop_that_counted(run)
    if stop is None:
        because = "stop_training was not set before all epochs were done"
        return measured(because) if run.fits and run.signal is None else no(because)
    if stop.callback is None:
        return no("stop_training was set, but not by a callback")
    if is_early_stopping(stop) or is_for_nan(stop):
        return no(f"it was set by {stop.callback.class_name}, which has its own rule")
    return _finding(run, stop, stop.callback)


def _finding(run: Run, stop: Stop, callback: CallbackFacts) -> Finding:
    name = f"{callback.class_name}.{stop.hook or '?'}"
    evidence = [
        Evidence(f"{name} set stop_training in line {stop.line.line if stop.line else None}", (stop,)),
        Evidence(_when(stop), (stop,)),
    ]
    if stop.test is not None:
        evidence.append(Evidence(_condition(stop.test), (stop,)))
    evidence += metric_curve(run, "loss")
    fit = run.fit
    reached = f" after {fit.reached} of {format_count(fit.asked, 'epoch')}" if fit and fit.asked else ""
    where = stop.where if callback.is_users else fit_place(run)
    return Finding(
        cause=f"The callback {callback.class_name} stopped the training{reached}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=(Remedy("Check the condition shown above, or remove this callback", None, where),),
        where=where,
    )


def _when(stop: Stop) -> str:
    metrics = ", ".join(f"{name} {format_value(value)}" for name, value in list(stop.metrics.items())[:4])
    return f"in epoch {(stop.epoch or 0) + 1}" + (f", with {metrics}" if metrics else "")


def _condition(test: DecidingTest) -> str:
    values = ", ".join(f"{name} = {format_value(value)}" for name, value in test.values.items())
    return f"its condition: if {test.text}" + (f", with {values}" if values else "")
