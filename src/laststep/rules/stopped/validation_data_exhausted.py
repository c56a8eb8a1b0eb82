"""The validation data ran out."""

from __future__ import annotations

from collections.abc import Sequence

from laststep.analysis.batches import batches_named, count_batches, is_about_validation, ran_out_warnings
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.progress import fit_place
from laststep.record.events.process import WarningShown
from laststep.record.events.training import Validation
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(outranks=("early-stopping",))
def validation_data_exhausted(run: Run) -> Answer:
    """Only validation, or an evaluate, got fewer batches than it was told to take.

    What happened
        validation_steps (or evaluate(steps=…)) asks for more batches than the validation data holds. Training
        itself goes on. The validation metrics are computed on fewer samples than meant; with tf_keras and Keras 2
        they are missing altogether from the second epoch on, and what watches val_loss then has nothing to watch.

    How laststep knows
        By counting the batches of each validation. From a log: the warning comes when the bar of the training is
        full, and the number in it is not that of the training.

    What to do
        Leave validation_steps out: Keras then takes all the validation data there is.

    Not to be confused with
        data-exhausted (training itself was cut short).
    """
    cut = [event for event in run.all(Validation) if (event.batches or 0) < event.asked]
    if cut:
        return _finding(run, cut[0].asked, cut[0].batches or 0, cut)
    told = [warning for warning in ran_out_warnings(run) if is_about_validation(run, warning)] if run.is_log else []
    if told:
        return _finding(run, batches_named(told[0]) or 0, None, told)
    counted = run.has(Validation)
    return measured("every validation got the batches it asked for") if counted else no("no validation was cut short")


def _finding(run: Run, asked: int, got: int | None, events: Sequence[Validation | WarningShown]) -> Finding:
    there = f"{count_batches(got)} came" if got is not None else "fewer came"
    first = events[0]
    line = f"line {first.at_line:,}: " if isinstance(first, WarningShown) and first.at_line else ""
    told = f"{line}{count_batches(asked)} asked for, {there}"
    lost = _without_metrics(run)
    where = (first.where if isinstance(first, Validation) else None) or fit_place(run)
    return Finding(
        cause=f"Validation was cut short: {told.split(': ')[-1]}. Training itself was not.",
        confidence=Confidence.CERTAIN,
        evidence=(Evidence(told, tuple(events[:3])), *((Evidence(lost),) if lost else ())),
        remedies=(
            Remedy("Leave validation_steps out: all the validation data is then used", None, where),
            *((Remedy("Or ask for what is there", f"validation_steps={got}", where),) if got else ()),
        ),
        where=where,
    )


def _without_metrics(run: Run) -> str:
    epochs = run.fit.epochs if run.fit else ()
    lacking = [epoch for epoch in epochs if not any(name.startswith("val_") for name in epoch.metrics)]
    if lacking and len(lacking) < len(epochs):
        return f"{len(lacking)} of {len(epochs)} epochs have no validation metrics"
    return ""
