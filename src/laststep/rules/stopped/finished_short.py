"""fit returned after fewer epochs than requested."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stops import stop_that_counted
from laststep.record.events.process import WarningShown
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count

REPEAT = Remedy("Repeat the data, or request no more steps than it has")


@rule(tier=Tier.ECHO, sees=("inside",), follows=("stopped", "stalled"))
def finished_short(run: Run) -> Answer:
    """A fit returned after fewer epochs than requested, and no callback had stopped it.

    What happened
        fit returned normally before all epochs were done. Something other than a callback ended it: code that sets
        stop_training from outside, or, with tf_keras, data that ran out.

    How laststep knows
        The requested epochs, the completed epochs and the batches of each epoch were counted. No stop by a callback
        and no exception was recorded.

    What to do
        Compare the batches of the last epoch with the others: fewer means that the data ended. If a line is shown, it
        is the one that set stop_training.

    Not to be confused with
        early-stopping, callback-stopped-training, callback-swallowed, data-exhausted.
    """
    fit = run.fit
    if fit is None:
        return no("no Keras fit was recorded")
    if fit.complete or fit.ended is None:
        return no("every fit that returned had done all its epochs")
    stop = stop_that_counted(run)
    if stop is not None and stop.callback is not None:
        return no("a callback stopped the fit")
    batches = [epoch.batches or 0 for epoch in fit.epochs]
    reached = f"{fit.reached} of {format_count(fit.asked or 0, 'epoch')}"
    evidence = [Evidence(f"{reached} were done when fit returned", (fit.began, fit.ended))]
    if batches:
        requested = fit.began.steps_per_epoch or fit.began.steps
        counted = f"batches per epoch: {', '.join(map(str, batches[-6:]))}"
        evidence.append(Evidence(counted + (f"; {requested} requested" if requested else ""), fit.epochs[-6:]))
    warnings = [w for w in run.all(WarningShown) if "ran out of data" in w.message]
    ran_out = bool(warnings) or "ran out of data" in run.console
    if ran_out:
        evidence.append(Evidence("Keras warned that the input ran out of data", tuple(warnings[-1:])))
    where = stop.where if stop is not None else fit_place(run)
    if stop is not None:
        line = where.line if where else None
        evidence.append(Evidence(f"stop_training was set outside a callback, in line {line}", (stop,)))
    return Finding(
        cause=f"fit returned after {reached}, and no callback had stopped it.",
        confidence=Confidence.CERTAIN if stop is not None else Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(REPEAT,) if ran_out else (),
        where=where,
    )
