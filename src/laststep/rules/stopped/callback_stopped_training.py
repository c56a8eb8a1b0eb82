"""A callback set stop_training."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stops import is_early_stopping, is_for_nan, metric_curve, stop_that_counted
from laststep.record.events.shared import Callback
from laststep.record.events.training import Stop
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=("recorder",), outranks=("finished-short",))
def callback_stopped_training(run: Run) -> Answer:
    """A callback other than EarlyStopping asked training to stop, before all epochs were done.

    What happened
        A callback set model.stop_training = True. fit then ends in good order after the step or epoch: no
        error, exit code 0, fewer epochs than asked for.

    How laststep knows
        The assignment itself was seen: the class, the method and the line, the epoch and the metrics at that
        moment, and, for a callback of your own, the values that its test compared.

    What to do
        Check the test that is shown with its values. Home-made early stops often compare the wrong way round,
        never reset their counter, or use > where >= was meant.

    Not to be confused with
        early-stopping (Keras's own EarlyStopping did its job), stopped-on-nan (the loss was not a number),
        callback-raised.
    """
    stop = stop_that_counted(run)
    if stop is None:
        told = "nobody set stop_training before all epochs were done"
        return measured(told) if run.fits and run.signal is None else no(told)
    if stop.callback is None:
        return no("stop_training was set, but not by a callback")
    if is_early_stopping(stop) or is_for_nan(stop):
        return no(f"it was set by {stop.callback.class_name}, which has a rule of its own")
    return _finding(run, stop, stop.callback)


def _finding(run: Run, stop: Stop, callback: Callback) -> Finding:
    name = f"{callback.class_name}.{stop.hook or '?'}"
    evidence = [
        Evidence(f"{name} set stop_training in line {stop.line.line if stop.line else None}", (stop,)),
        Evidence(_when(stop), (stop,)),
    ]
    test = stop.test
    if test is not None:
        compared = ", ".join(f"{name} = {words.value(value)}" for name, value in test.values.items())
        evidence.append(Evidence(f"its test: if {test.text}" + (f"   with {compared}" if compared else ""), (stop,)))
    evidence += metric_curve(run, "loss")
    fit = run.fit
    reached = f" after {fit.reached} of {words.count(fit.asked, 'epoch')}" if fit and fit.asked else ""
    where = stop.where if callback.is_users else fit_place(run)
    return Finding(
        cause=f"The callback {callback.class_name} asked training to stop{reached}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=(Remedy("Check the test shown above, or leave this callback out", None, where),),
        where=where,
    )


def _when(stop: Stop) -> str:
    told = ", ".join(f"{name} {words.value(value)}" for name, value in list(stop.metrics.items())[:4])
    return f"in epoch {(stop.epoch or 0) + 1}" + (f", with {told}" if told else "")
