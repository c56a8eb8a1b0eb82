"""Reading who set stop_training, shared by the rules about it."""

from __future__ import annotations

import math
from typing import Any

from laststep.analysis.finding import Evidence
from laststep.record.event import Event
from laststep.record.run import Fit, Run
from laststep.recorder.frames import is_users


def stop_that_counted(run: Run) -> Event | None:
    """The assignment that ended the fit early: seen during it, and epochs were left."""
    fit = run.fit
    if run.is_log:  # only the last word counts: the log may begin in the middle of a fit
        ends = [epoch.time for epoch in run.all("epoch")]
        counts = [stop for stop in run.all("stop") if sum(end > stop.time for end in ends) < 2]
        return counts[-1] if counts else None
    if fit is None or fit.complete:
        return None
    mine = [stop for stop in run.all("stop") if stop.source == fit.began.source and stop.time >= fit.began.time]
    return mine[-1] if mine and (fit.ended is None or mine[-1].time <= fit.ended.time) else None


def is_early_stopping(stop: Event) -> bool:
    """Keras's own class, or a subclass of it, whose code did the assignment."""
    callback, line = stop.get("callback") or {}, stop.get("line") or {}
    by_keras = str(line.get("function")).startswith("EarlyStopping.") and not is_users(str(line.get("file")))
    return by_keras or (
        callback.get("class") == "EarlyStopping" and "keras" in str(callback.get("module")) and not callback["users"]
    )


def is_for_nan(stop: Event) -> bool:
    """TerminateOnNaN, or any callback that stopped when the loss was not a finite number."""
    callback = stop.get("callback") or {}
    if callback.get("class") == "TerminateOnNaN":
        return True
    return any(not_finite(value) for name, value in (stop.get("metrics") or {}).items() if "loss" in name)


def not_finite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def metric_values(fit: Fit | None, name: str) -> list[float]:
    values = [(epoch.get("metrics") or {}).get(name) for epoch in fit.epochs] if fit else []
    return [float(value) for value in values if isinstance(value, (int, float))]


def metric_curve(run: Run, name: str) -> list[Evidence]:
    values = metric_values(run.fit, name)
    if len(values) < 2:
        return []
    return [Evidence(f"{name} by epoch: {values[0]:.4g} → {values[-1]:.4g}", curve=tuple(values))]


def metrics_of(fit: Fit | None) -> list[str]:
    """The names that a callback could have watched."""
    return sorted({name for epoch in fit.epochs for name in epoch.get("metrics") or {}}) if fit else []


def without_their_metric(run: Run) -> str:
    """A callback of Keras's that watches a metric which the fit does not have: it does nothing, and only warns."""
    fit, names = run.fit, metrics_of(run.fit)
    callbacks = (fit.began.get("callbacks") or []) if fit else []
    for callback in callbacks:
        values = callback.get("values") or {}
        monitor = values.get("monitor") if values.get("save_best_only") is not False else None  # that one asks nothing
        if isinstance(monitor, str) and names and monitor not in names and not callback.get("users"):
            told = f"{callback['class']} watches {monitor!r}, which this fit does not have, and so does nothing"
            return f"{told}; it has {', '.join(names)}"
    return ""
