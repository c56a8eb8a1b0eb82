"""The validation data ran out."""

from __future__ import annotations

from collections.abc import Sequence

from laststep.analysis.batches import batches_named, count_batches, is_about_validation, ran_out_warnings
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.progress import fit_place
from laststep.analysis.rewrite import with_arguments
from laststep.record.events.process import WarningShown
from laststep.record.events.training import Validation
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(sees=("inside", "log"))
def validation_data_exhausted(run: Run) -> Answer:
    """Only validation, or a call of evaluate, got fewer batches than requested.

    What happened
        validation_steps (or evaluate(steps=…)) requests more batches than the validation data holds. Training itself
        continues. The validation metrics are computed on fewer samples than intended; with tf_keras and Keras 2 they
        are missing from the second epoch on, and callbacks that monitor val_loss have nothing to monitor.

    How laststep knows
        By counting the batches of each validation. From a log: the warning comes when the progress bar of the training
        is full, and the number in it is not that of the training.

    What to do
        Leave validation_steps out: Keras then uses all the validation data.

    Not to be confused with
        data-exhausted (training itself was cut short).
    """
    cut = [event for event in run.all(Validation) if (event.batches or 0) < event.asked]
    if cut:
        return _finding(run, cut[0].asked, cut[0].batches or 0, cut)
    warned = [each for each in ran_out_warnings(run) if is_about_validation(run, each)] if run.is_log else []
    if warned:
        return _finding(run, batches_named(warned[0]) or 0, None, warned)
    counted = run.has(Validation)
    return measured("every validation got all requested batches") if counted else no("no validation was cut short")


def _finding(run: Run, asked: int, got: int | None, events: Sequence[Validation | WarningShown]) -> Finding:
    there = f"{count_batches(got)} delivered" if got is not None else "fewer delivered"
    first = events[0]
    line = f"line {first.at_line:,}: " if isinstance(first, WarningShown) and first.at_line else ""
    counts = f"{count_batches(asked)} requested, {there}"
    missing = _missing_metrics(run)
    where = (first.where if isinstance(first, Validation) else None) or fit_place(run)
    return Finding(
        cause=f"Validation was cut short: {counts}. Training itself was not.",
        confidence=Confidence.CERTAIN,
        evidence=(Evidence(f"{line}{counts}", tuple(events[:3])), *((Evidence(missing),) if missing else ())),
        remedies=_remedies(first, got, where),
        where=where,
    )


def _remedies(first: Validation | WarningShown, got: int | None, where: Place | None) -> tuple[Remedy, ...]:
    """evaluate has another name for it than fit."""
    name = "steps" if isinstance(first, Validation) and first.fit == 0 else "validation_steps"
    without = with_arguments(where.text, {name: None}) if where is not None else None
    return (
        Remedy(f"Leave {name} out: all the validation data is then used", without, where),
        *((Remedy("Or request what is available", f"{name}={got}", where),) if got else ()),
    )


def _missing_metrics(run: Run) -> str:
    epochs = run.fit.epochs if run.fit else ()
    lacking = [epoch for epoch in epochs if not any(name.startswith("val_") for name in epoch.metrics)]
    if lacking and len(lacking) < len(epochs):
        return f"{len(lacking)} of {len(epochs)} epochs have no validation metrics"
    return ""
