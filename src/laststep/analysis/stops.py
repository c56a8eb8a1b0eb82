"""What set stop_training, and the metrics that a callback could monitor."""

from __future__ import annotations

import math

from laststep.analysis.finding import Evidence
from laststep.record.events.shared import CallbackFacts
from laststep.record.events.training import Epoch, Stop
from laststep.record.run import Fit, Run


def stop_that_counted(run: Run) -> Stop | None:
    """The assignment that ended the fit early: recorded during it, with epochs left."""
    fit = run.fit
    if run.is_log:  # only the last stop counts: the log may begin in the middle of a fit
        ends = [epoch.time for epoch in run.all(Epoch)]
        counts = [stop for stop in run.all(Stop) if sum(end > stop.time for end in ends) < 2]
        return counts[-1] if counts else None
    if fit is None or fit.complete:
        return None
    mine = [stop for stop in run.all(Stop) if stop.source == fit.began.source and stop.time >= fit.began.time]
    return mine[-1] if mine and (fit.ended is None or mine[-1].time <= fit.ended.time) else None


def is_early_stopping(stop: Stop) -> bool:
    """The code of Keras's EarlyStopping, or of a subclass of it, set stop_training."""
    line = stop.line
    if line is not None and line.function.startswith("EarlyStopping.") and not line.is_users_own:
        return True
    return stop.callback is not None and is_keras_early_stopping(stop.callback) and "keras" in stop.callback.module


def is_keras_early_stopping(callback: CallbackFacts) -> bool:
    """EarlyStopping as Keras has it, not a class of the user's of that name."""
    return callback.class_name == "EarlyStopping" and not callback.is_users


def is_for_nan(stop: Stop) -> bool:
    """TerminateOnNaN, or any callback that stopped when the loss was not a finite number."""
    if stop.callback is not None and stop.callback.class_name == "TerminateOnNaN":
        return True
    return any(not math.isfinite(value) for name, value in stop.metrics.items() if "loss" in name)


def metric_values(fit: Fit | None, name: str) -> list[float]:
    return [epoch.metrics[name] for epoch in fit.epochs if name in epoch.metrics] if fit else []


def metric_curve(run: Run, name: str) -> list[Evidence]:
    values = metric_values(run.fit, name)
    if len(values) < 2:
        return []
    return [Evidence(f"{name} by epoch: {values[0]:.4g} → {values[-1]:.4g}", curve=tuple(values))]


def metrics_of(fit: Fit | None) -> list[str]:
    """The names that a callback could have monitored."""
    return sorted({name for epoch in fit.epochs for name in epoch.metrics}) if fit else []


def missing_metric(run: Run) -> str:
    """A callback of Keras's that monitors a metric which the fit does not have: it does nothing, and only warns."""
    fit, names = run.fit, metrics_of(run.fit)
    for callback in fit.began.callbacks if fit else ():
        values = callback.values
        monitor = (
            values.get("monitor") if values.get("save_best_only") is not False else None
        )  # then the metric is not used
        if isinstance(monitor, str) and names and monitor not in names and not callback.is_users:
            idle = f"{callback.class_name} monitors {monitor!r}, which is not a metric of this fit, and does nothing"
            return f"{idle}; the fit has {', '.join(names)}"
    return ""
