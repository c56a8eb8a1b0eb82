"""Ended in good order, with fewer epochs than asked for."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stops import stop_that_counted
from laststep.record.events.process import WarningShown
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

REPEAT = Remedy("Make the data last: repeat it, or ask for no more steps than it has", "dataset = dataset.repeat()")


@rule(needs=("recorder",))
def finished_short(run: Run) -> Answer:
    """A fit came to its end with fewer epochs than it was asked for, and no callback had asked for that.

    What happened
        fit returned normally, before all epochs were done. Something other than a callback ended it: code
        that sets stop_training from outside, or, with tf_keras, data that ran out.

    How laststep knows
        The epochs asked for and the epochs that ended were counted, and so were the batches of each epoch.
        Every callback's stop and every exception would have been seen.

    What to do
        Compare the batches of the last epoch with the others: fewer means that the data ended. If a line is
        shown, it is the one that set stop_training.

    Not to be confused with
        early-stopping, callback-stopped-training, callback-swallowed, data-exhausted.
    """
    fit = run.fit
    if fit is None:
        return no("no Keras fit was seen")
    if fit.complete or fit.ended is None:
        return no("every fit that came to its end had done all its epochs")
    stop = stop_that_counted(run)
    if stop is not None and stop.callback is not None:
        return no("a callback ended the fit")
    batches = [epoch.batches or 0 for epoch in fit.epochs]
    told = f"{fit.reached} of {words.count(fit.asked or 0, 'epoch')}"
    evidence = [Evidence(f"{told} were done when fit returned", (fit.began, fit.ended))]
    if batches:
        asked = fit.began.steps_per_epoch or fit.began.steps
        counted = f"batches in each epoch: {', '.join(map(str, batches[-6:]))}"
        evidence.append(Evidence(counted + (f", {asked} asked for" if asked else ""), fit.epochs[-6:]))
    warnings = [w for w in run.all(WarningShown) if "ran out of data" in w.message]
    ran_out = bool(warnings) or "ran out of data" in run.console
    if ran_out:
        evidence.append(Evidence("Keras warned that the input ran out of data", tuple(warnings[-1:])))
    where = stop.where if stop is not None else fit_place(run)
    if stop is not None:
        line = where.line if where else None
        evidence.append(Evidence(f"stop_training was set outside a callback, in line {line}", (stop,)))
    return Finding(
        cause=f"fit ended after {told}, and no callback asked for it.",
        confidence=Confidence.CERTAIN if stop is not None else Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=(REPEAT,) if ran_out else (),
        where=where,
    )
