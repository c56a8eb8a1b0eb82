"""A callback raised."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import short_message
from laststep.analysis.packages import missing_package
from laststep.analysis.progress import progress, went_on
from laststep.analysis.stops import metrics_of
from laststep.record.events.process import Raised
from laststep.record.events.shared import CallbackFacts
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_place


@rule(tier=Tier.CONSEQUENCE, follows=("crashed",))
def callback_raised(run: Run) -> Answer:
    """A callback raised an exception, which ended a training that was otherwise fine.

    What happened
        Keras calls callbacks between steps. When one raises, fit ends at once: Keras calls neither on_train_end
        nor the callbacks after it.

    How laststep knows
        The frames of the exception lead from Keras's callback list into the callback's method. The step before
        it was complete.

    What to do
        Fix the callback at the line shown, or install the package that it needs. If it must never stop a training,
        let it catch its own errors.

    Not to be confused with
        callback-stopped-training (it stopped the training without an error), callback-swallowed (the program caught
        the error), unhandled-exception (the model or the data raised).
    """
    raised = [event for event in run.all(Raised) if event.left != "call" and not run.survived(event)]
    if run.uncaught is not None:
        raised.append(run.uncaught)
    error = next((event for event in reversed(raised) if event.callback is not None), None)
    if error is None or error.callback is None:
        return no("no exception from a callback was seen")
    if "KeyboardInterrupt" in error.bases:
        return no("Ctrl-C struck while a callback ran")
    if went_on(run, error.time):
        return no("a callback raised, the program caught it, and a later fit finished")
    return _finding(run, error, error.callback)


def _finding(run: Run, error: Raised, callback: CallbackFacts) -> Finding:
    name = f"{callback.class_name}.{callback.hook or '?'}"
    where = error.where if callback.is_users else (run.fit.began.where if run.fit else None)
    install = missing_package(error)
    cause = f"The callback {name} raised {error.type.rsplit('.', 1)[-1]}."
    return Finding(
        cause=f"The callback {callback.class_name} needs a package that is not installed." if install else cause,
        confidence=Confidence.CERTAIN,
        evidence=(
            Evidence(short_message(error), (error,)),
            Evidence(f"raised in {name}, {format_place(callback.raised_at)}", (error,)),
            *_unknown_metric(run, error),
            progress(run),
        ),
        remedies=(install or Remedy("Fix the callback there; the training itself had no error"),),
        where=(callback.made_at or where) if install else where,
    )


def _unknown_metric(run: Run, error: Raised) -> tuple[Evidence, ...]:
    """logs['val_acc'] in a fit that has another name for it."""
    key, names = error.message.strip("'\""), metrics_of(run.fit)
    if "KeyError" not in error.bases or not names or key in names:
        return ()
    text = f"{key!r} is not a metric of this fit, which has {', '.join(names)}"
    return (Evidence(text, tuple(run.fit.epochs[-1:] if run.fit else ())),)
