"""EarlyStopping ended the training."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, RuledOut, measured, no
from laststep.analysis.progress import fit_place
from laststep.analysis.signals import quoted
from laststep.analysis.stops import (
    is_early_stopping,
    is_for_nan,
    is_keras_early_stopping,
    metric_curve,
    missing_metric,
    stop_that_counted,
)
from laststep.record.events.training import Stop
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count, format_value


@rule(
    tier=Tier.CONSEQUENCE,
    sees=("inside", "log"),
    follows=("nan-loss", "data-exhausted", "dataset-empty", "validation-data-exhausted"),
)
def early_stopping(run: Run) -> Answer:
    """Keras's EarlyStopping ended the training because its metric had stopped improving.

    What happened
        The metric that EarlyStopping monitors did not improve by at least min_delta for `patience` epochs,
        so it ended the training. That is its purpose.

    How laststep knows
        The callback's own assignment was recorded, with its settings and the best value at that moment.

    What to do
        Nothing, if the curve is as expected. Otherwise increase patience, reduce min_delta, or monitor another
        metric. Without restore_best_weights=True the model keeps the weights of the last epoch, not of the best
        one.

    Not to be confused with
        callback-stopped-training (a callback of your own), stopped-on-nan, data-exhausted.
    """
    stop = stop_that_counted(run)
    if stop is None or not is_early_stopping(stop):
        missing = missing_metric(run)
        if missing:
            return RuledOut(missing, measured=True, note=True)
        used = run.fit is not None and any(is_keras_early_stopping(each) for each in run.fit.began.callbacks)
        return (
            measured("EarlyStopping was used and did not stop training") if used else no("EarlyStopping was not used")
        )
    if is_for_nan(stop):
        return no("the loss was NaN or infinite when it stopped")
    return _of_log(run, stop) if run.is_log else _finding(run, stop)


def _finding(run: Run, stop: Stop) -> Finding:
    values = stop.values
    monitor = values.get("monitor", "its metric")
    patience, min_delta, best_epoch = (values.get(name) for name in ("patience", "min_delta", "best_epoch"))
    least = abs(min_delta) if isinstance(min_delta, (int, float)) else 0
    evidence = [Evidence(f"EarlyStopping monitors {monitor} with patience {patience} and min_delta {least:g}", (stop,))]
    if values.get("best") is not None:
        epoch = f" in epoch {best_epoch + 1}" if isinstance(best_epoch, int) else ""
        evidence.append(Evidence(f"the best value was {format_value(values['best'])}{epoch}", (stop,)))
    evidence += metric_curve(run, str(monitor))
    restored = bool(values.get("restore_best_weights"))
    kept = (
        "restored the weights of the best epoch" if restored else "kept the weights of the last epoch, not of the best"
    )
    evidence.append(Evidence(f"it {kept}", (stop,)))
    fit = run.fit
    reached = f" after {fit.reached} of {format_count(fit.asked, 'epoch')}" if fit and fit.asked else ""
    return Finding(
        cause=f"EarlyStopping ended the training{reached}: {monitor} no longer improved.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=() if restored else (_keep_the_best(run, stop),),
        where=fit_place(run),
    )


def _of_log(run: Run, stop: Stop) -> Finding:
    values = stop.values
    monitor = values.get("monitor")
    evidence = [quoted(stop)]
    if monitor:
        evidence += [Evidence(f"{monitor} had not improved from {format_value(values['best'])}", (stop,))]
        evidence += metric_curve(run, str(monitor))
    reached = f" in epoch {stop.epoch + 1}" if stop.epoch is not None else ""
    asked = f" of {run.fit.asked}" if run.fit and run.fit.asked else ""
    return Finding(
        cause=f"EarlyStopping ended the training{reached}{asked}: {monitor or 'its metric'} no longer improved.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
    )


def _keep_the_best(run: Run, stop: Stop) -> Remedy:
    made = stop.callback.made_at if stop.callback is not None else None
    return Remedy("Keep the best weights instead of the last", "restore_best_weights=True", made or fit_place(run))
