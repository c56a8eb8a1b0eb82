"""The loss is not a number."""

from __future__ import annotations

import math

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_site
from laststep.analysis.learning.record import metrics_of
from laststep.analysis.messages import ECHOES, compiled, find_message
from laststep.analysis.progress import fit_place, progress
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.torn import count
from laststep.rules.rule import Answer, rule

LOOK = Remedy("Record it to find the first bad step, and what was before it", "laststep run python train.py", safe=True)
TRY = Remedy("Look at the data for NaN and Inf, at log and division in the loss, at the learning rate")


RAISED = compiled(
    r"(?i)nan in summary histogram|loss is inf or nan|tensor had (?:nan|inf)|"
    r"(?:nan|inf)(?: or (?:nan|inf))? (?:found )?in (?:the )?(?:loss|gradients?|summary)|loss (?:became|is|was|"
    r"=) nan|diverged with loss"
)


@rule(outranks=(*ECHOES, "early-stopping"))
def nan_loss(run: Run) -> Answer:
    """The loss became NaN or infinite, and training went on with it.

    What happened
        One step gave a loss that is not a finite number. Nothing stops Keras then: each later step computes with
        weights that are NaN too, and the model is worthless from there on.

    How laststep knows
        From the loss of each recorded step, or from the metrics that the console shows. This is a symptom: why it
        happened is said by another rule where the record tells it.

    What to do
        Find the first bad step. A loss that climbs before it breaks is a learning rate that is too high; one that
        breaks at once is a value in the data (NaN, Inf), log(0) or 0/0 in the loss, or half precision without
        loss scaling. keras.callbacks.TerminateOnNaN stops the waste.

    Not to be confused with
        stopped-on-nan (a callback ended the training for it), a metric of your own that is NaN while the loss is
        a number.
    """
    error = find_message(run, *RAISED)
    found = _last_loss(run)
    if error is None and (found is None or math.isfinite(found[1])):
        told = f"the last {found[0]} was {words.value(found[1])}" if found is not None and not run.is_log else ""
        return measured(told) if told else no("no bad loss was seen")
    evidence = [error.evidence] if error else []
    if found is not None and not math.isfinite(found[1]):
        evidence.append(Evidence(f"{found[0]} is {found[1]}{_since(run, found[0])}", (found[2],)))
    known = bad_site(run) is not None  # then another rule says what was bad first, and this is only its symptom
    return Finding(
        cause=f"The loss is not a finite number{'' if known else ', and the record does not say why'}.",
        confidence=Confidence.POSSIBLE if known else Confidence.CERTAIN,
        evidence=(*evidence, progress(run)),
        remedies=(LOOK, TRY) if run.is_log else (TRY,),
        where=(error.where if error else None) or fit_place(run),
    )


def _last_loss(run: Run) -> tuple[str, float, Event] | None:
    """The last loss that was shown: its name, its value, who showed it."""
    shown = run.all("epoch") or run.all("progress")  # an evaluation of other weights may follow the last epoch
    for event in reversed(shown):
        losses = [told for told in metrics_of(event).items() if _is_loss(told[0])]
        for name, value in sorted(losses, key=lambda told: math.isfinite(told[1])):
            return name, value, event
    return None


def _is_loss(name: str) -> bool:
    spoken = name.lower().replace("_", " ").split()
    return "loss" in (*spoken[:1], *spoken[-1:]) and spoken[0] not in ("best", "min", "prev", "previous", "lowest")


def _since(run: Run, name: str) -> str:
    """Since which epoch."""
    fit = run.fit
    for epoch in fit.epochs if fit else ():
        if not math.isfinite(metrics_of(epoch).get(name, 0.0)):
            return f" since epoch {count(epoch.get('epoch')) + 1}"
    return ""
