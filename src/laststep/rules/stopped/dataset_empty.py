"""The dataset is empty."""

from __future__ import annotations

from laststep.analysis.batches import training_data
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.messages import answer, compiled, find_message
from laststep.analysis.program import is_array, is_dataset, name_of_data
from laststep.record.place import Place
from laststep.record.run import Fit, Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"Unexpected result of `?train_function`? \(Empty logs\)|Expect(?:ed)? (?:x|input data) to be (?:a )?non-empty",
    r"(?:array|target|input|data)\w* (?:with|of|has) shape \(0, ?[\d, ]*\)|n_samples=0\b|resulting train set "
    r"will be empty",
    r"Empty training data|Received an empty generator|num_samples should be a positive|No training data",
    r"(?:Dataset|dataset) (?:is|was) empty|No images found in directory",
)


@rule()
def dataset_empty(run: Run) -> Answer:
    """The first epoch got no batch: the dataset is empty.

    What happened
        A filter dropped every element, drop_remainder=True dropped the only batch because it was not full, a pattern
        matched no file, or an array has no rows. Keras 3 then runs through all epochs in no time, with an empty history
        and exit code 0: the model was never trained.

    How laststep knows
        By counting the batches of the first epoch, and from the number of batches that Keras itself found in the
        data. Keras 2 and tf_keras raise an error, which is read too.

    What to do
        Print one element before training: next(iter(dataset)). Then remove the stages one by one (filter, batch with
        drop_remainder, file pattern) until one appears.

    Not to be confused with
        data-exhausted (there was data, but not enough), missing-file.
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
        return measured("the first epoch had data") if had else no("nothing shows that the dataset was empty")
    return answer(run, message, "", cause="There was no data: the dataset or array is empty.", remedies=_remedies(run))


def _trained(run: Run) -> bool:
    return bool(run.steps) or any(epoch.batches for fit in run.fits for epoch in fit.epochs)


def _set_in_a_loop(run: Run) -> Finding | None:
    """A name that is set only in the body of a loop over the data is not set after it: the loop ran zero times."""
    error = run.uncaught
    loop = error.set_in_loop if error is not None else None
    if error is None or loop is None or run.steps:
        return None
    return Finding(
        cause="The loop over the data ran zero times: the dataset is empty.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"{error.type}: {error.message}", (error,)),
            Evidence(f"that name is set only in the loop of line {loop.line}:\n{loop.text}", (error,)),
            Evidence("no training step was recorded"),
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
    evidence = [Evidence(f"{len(fit.epochs)} epochs ended without a batch", (fit.began, *fit.epochs[:3]))]
    if data.cardinality == 0:
        evidence.append(Evidence("TensorFlow itself counts 0 batches in the data", (fit.began,)))
    for suspect, _ in _suspects(run):
        evidence.append(Evidence(f"the pipeline has {suspect}", (fit.began,)))
    if data.stages:
        stages = ", ".join(stage.stage for stage in data.stages)
        evidence.append(Evidence(f"its stages, from the end to the source: {stages}", (fit.began,)))
    if data.shape:
        evidence.append(Evidence(f"x has shape {data.shape}", (fit.began,)))
    return Finding(
        cause="There was no data: no batch was delivered, and the model was never trained.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=_remedies(run),
        where=data.where or data.made_at or fit.began.where,
    )


def _suspects(run: Run) -> list[tuple[str, str | None]]:
    """Stages of the pipeline that may drop every element: (in words, the change)."""
    found: list[tuple[str, str | None]] = []
    for stage in training_data(run).stages:
        if stage.stage == "Filter":
            found.append(("a filter(), which may drop every element: check its condition", None))
        if stage.drop_remainder:
            batch = f"batch({stage.batch_size}, drop_remainder=True), which drops a batch that is not full"
            found.append((batch, "drop_remainder=False"))
    return found


def _remedies(run: Run) -> tuple[Remedy, ...]:
    made = training_data(run).made_at
    suspects = tuple(Remedy(f"The pipeline has {suspect}", change, made) for suspect, change in _suspects(run))
    return (
        *suspects,
        _check(run, made),
    )


def _check(run: Run, made: Place | None) -> Remedy:
    """With the program's own name: a dataset has a first element, an array has rows."""
    data, name = training_data(run), name_of_data(run, made)
    change = None
    if name is not None and is_array(data):
        change = f"assert len({name})"
    elif name is not None and is_dataset(data):
        change = f"assert next(iter({name}), None) is not None"
    return Remedy("Check that there is data before training", change, made if change else None)
