"""The loss is NaN or Inf."""

from __future__ import annotations

import math
from collections.abc import Sequence

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_site
from laststep.analysis.messages import compiled, find_message
from laststep.analysis.progress import fit_place, progress
from laststep.record.events.logs import Progress
from laststep.record.events.numbers import BadNumber
from laststep.record.events.training import Epoch
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_value

RECORD = Remedy("Record the run to find the first bad step and its cause", "laststep run python train.py", safe=True)
CHECK = Remedy("Check the data for NaN and Inf, the loss for log and division, and the learning rate")

RAISED = compiled(
    r"(?i)nan in summary histogram|loss is inf or nan|tensor had (?:nan|inf)|"
    r"(?:nan|inf)(?: or (?:nan|inf))? (?:found )?in (?:the )?(?:loss|gradients?|summary)|loss (?:became|is|was|"
    r"=) nan|diverged with loss"
)


@rule(
    tier=Tier.CONSEQUENCE,
    sees=("inside", "log"),
    follows=("diverged", "bad-labels-for-loss", "label-out-of-range", "data-exhausted"),
)
def nan_loss(run: Run) -> Answer:
    """The loss became NaN or Inf, and training went on with it.

    What happened
        One step gave a loss that is not finite. Keras does not stop: each later step computes with weights that are NaN
        as well, and the model is useless from there on.

    How laststep knows
        From the loss of each recorded step, or from the metrics on the console. This is a symptom: another rule names
        the cause where the record shows it.

    What to do
        Find the first bad step. If the loss grows before it becomes NaN, the learning rate is too high; if it becomes
        NaN at once, the data contains NaN or Inf, the loss computes log(0) or 0/0, or float16 is used without loss
        scaling. keras.callbacks.TerminateOnNaN stops such a run early.

    Not to be confused with
        stopped-on-nan (a callback stopped training because of it), a custom metric that is NaN while the loss is
        finite.
    """
    error = find_message(run, *RAISED)
    shown = _last_loss(run)
    if error is None and (shown is None or math.isfinite(shown[1])):
        finite = f"the last {shown[0]} was {format_value(shown[1])}" if shown is not None and not run.is_log else ""
        return measured(finite) if finite else no("no NaN or Inf loss was seen")
    evidence = [error.evidence] if error else []
    if shown is not None and not math.isfinite(shown[1]):
        evidence.append(Evidence(_describe(run, shown[0], shown[1]), (shown[2],)))
    is_explained = bad_site(run) is not None  # by another rule, which says what was not finite first
    return Finding(
        cause=f"The loss is NaN or Inf{'' if is_explained else ', and the record does not explain why'}.",
        confidence=Confidence.POSSIBLE if is_explained else Confidence.CERTAIN,
        evidence=(*evidence, progress(run)),
        remedies=(RECORD, CHECK) if run.is_log and not run.is_kept_console else (CHECK,),
        where=(error.where if error else None) or fit_place(run),
        brief=_first_bad_loss(run),
    )


def _first_bad_loss(run: Run) -> str:
    """With its step, where it is known that this loss was read: NaN stands for a loss that was not read as well."""
    recorded = next((bad for bad in run.all(BadNumber) if bad.loss is not None and not math.isfinite(bad.loss)), None)
    if recorded is not None:
        return f"the loss was {recorded.loss} at step {recorded.step:,}"
    finite = [math.isfinite(step.loss) for step in run.steps]
    first = finite.index(False) if False in finite else 0
    if first < 2 or any(finite[first:]):
        return ""
    return f"the loss was {run.steps[first].loss} at step {run.steps[first].number:,}"


def _last_loss(run: Run) -> tuple[str, float, Epoch | Progress] | None:
    """The last loss that was shown: its name, its value, the event."""
    # Epochs first: an evaluation of other weights may follow the last one.
    shown: Sequence[Epoch | Progress] = run.all(Epoch) or run.all(Progress)
    for event in reversed(shown):
        losses = [metric for metric in event.metrics.items() if _is_loss(metric[0])]
        for name, value in sorted(losses, key=lambda metric: math.isfinite(metric[1])):
            return name, value, event
    return None


def _is_loss(name: str) -> bool:
    parts = name.lower().replace("_", " ").split()
    return "loss" in (*parts[:1], *parts[-1:]) and parts[0] not in ("best", "min", "prev", "previous", "lowest")


def _describe(run: Run, name: str, value: float) -> str:
    """With the first epoch that has such a loss."""
    for epoch in run.fit.epochs if run.fit else ():
        if not math.isfinite(epoch.metrics.get(name, 0.0)):
            return f"{name} has been {value} since epoch {epoch.epoch + 1}"
    return f"{name} is {value}"
