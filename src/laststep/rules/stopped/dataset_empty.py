"""There was no data at all."""

from __future__ import annotations

from laststep.analysis.batches import training_data
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.messages import answer, compiled, find_message
from laststep.record.run import Fit, Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"Unexpected result of `?train_function`? \(Empty logs\)|Expect(?:ed)? (?:x|input data) to be (?:a )?non-empty",
    r"(?:array|target|input|data)\w* (?:with|of|has) shape \(0, ?[\d, ]*\)|n_samples=0\b|resulting train set "
    r"will be empty",
    r"Empty training data|Received an empty generator|num_samples should be a positive|No training data",
    r"(?:Dataset|dataset) (?:is|was) empty|No images found in directory",
)


@rule(
    outranks=(
        *("finished-short", "early-stopping", "unhandled-exception", "shape-mismatch", "bad-labels-for-loss"),
        "generator-raised",
    )
)
def dataset_empty(run: Run) -> Answer:
    """The first epoch got no batch at all: there was no data.

    What happened
        A filter dropped everything, drop_remainder=True threw away the only, too small batch, a pattern matched no
        file, or an array has no rows. Keras 3 then runs through all epochs in no time, with an empty history and
        exit code 0: the model was never trained.

    How laststep knows
        By counting the batches of the first epoch, and from the number of batches that Keras itself found in the
        data. Keras 2 and tf_keras raise an error, which is read too.

    What to do
        Look at one element before training: next(iter(dataset)). Then take the stages away one by one (filter,
        batch with drop_remainder, file pattern) until it appears.

    Not to be confused with
        data-exhausted (there was data, and not enough), missing-file.
    """
    empty = next((fit for fit in run.fits if _got_nothing(fit)), None) if not run.is_log else None
    if empty is not None and not _an_earlier_fit_had_data(run, empty):
        return _finding(run, empty)
    message = find_message(run, *SAID, console=False) if not _trained(run) else None
    looped = _set_in_a_loop(run) if message is None else None
    if looped is not None:
        return looped
    if message is None:
        had = any(epoch.batches for fit in run.fits[:1] for epoch in fit.epochs) and not run.is_log
        return measured("the first epoch had data") if had else no("nothing says that it was empty")
    return answer(run, message, "", cause="There was no data: the dataset or array is empty.", remedies=_remedies(run))


def _trained(run: Run) -> bool:
    return bool(run.steps) or any(epoch.batches for fit in run.fits for epoch in fit.epochs)


def _set_in_a_loop(run: Run) -> Finding | None:
    """A name that only the body of a loop over the data sets is not set after it: the loop had nothing to do."""
    error = run.uncaught
    loop = error.set_in_loop if error is not None else None
    if error is None or loop is None or run.steps:
        return None
    return Finding(
        cause="The loop over the data had nothing to do: the dataset is empty.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"{error.type}: {error.message}", (error,)),
            Evidence(f"that name is set in the loop of line {loop.line} only:\n{loop.text}", (error,)),
            Evidence("no training step had been seen"),
        ),
        remedies=_remedies(run),
        where=loop,
    )


def _got_nothing(fit: Fit) -> bool:
    return bool(fit.epochs) and all(epoch.batches == 0 for epoch in fit.epochs)


def _an_earlier_fit_had_data(run: Run, empty: Fit) -> bool:
    """The same iterator, used up before: that is data-exhausted."""
    kind = empty.began.data.type
    reusable = "Dataset" in kind or "ndarray" in kind
    return not reusable and any(fit.id < empty.id and any(e.batches for e in fit.epochs) for fit in run.fits)


def _finding(run: Run, fit: Fit) -> Finding:
    data = fit.began.data
    evidence = [Evidence(f"{len(fit.epochs)} epochs ended, and not one batch was seen", (fit.began, *fit.epochs[:3]))]
    if data.cardinality == 0:
        evidence.append(Evidence("TensorFlow itself counts 0 batches in the data", (fit.began,)))
    for told, _ in _suspects(run):
        evidence.append(Evidence(f"the pipeline has {told}", (fit.began,)))
    if data.stages:
        stages = ", ".join(stage.stage for stage in data.stages)
        evidence.append(Evidence(f"its stages, from the end to the source: {stages}", (fit.began,)))
    if data.shape:
        evidence.append(Evidence(f"x has the shape {data.shape}", (fit.began,)))
    return Finding(
        cause="There was no data: not one batch was delivered, and the model was never trained.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=_remedies(run),
        where=data.where or data.made_at or fit.began.where,
    )


def _suspects(run: Run) -> list[tuple[str, str | None]]:
    """Stages of the pipeline that can let nothing through: (in words, the change)."""
    found: list[tuple[str, str | None]] = []
    for stage in training_data(run).stages:
        if stage.stage == "Filter":
            found.append(("a filter(), which may let nothing through: look at what it compares", None))
        if stage.drop_remainder:
            told = f"batch({stage.batch_size}, drop_remainder=True), which drops what does not fill a batch"
            found.append((told, "drop_remainder=False"))
    return found


def _remedies(run: Run) -> tuple[Remedy, ...]:
    made = training_data(run).made_at
    suspects = tuple(Remedy(f"The pipeline has {told}", change, made) for told, change in _suspects(run))
    return (
        *suspects,
        Remedy("Let the program look before it trains", "assert next(iter(dataset), None) is not None", made),
    )
