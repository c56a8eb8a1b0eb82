"""Inputs of a size that training cannot take."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import first_bad
from laststep.analysis.learning.growth import blown_up
from laststep.analysis.learning.learning import learning_of, steady_site, sureness
from laststep.analysis.learning.scale import LARGE, Size, data_place, large_inputs, large_targets, only_inputs, reach
from laststep.analysis.learning.site import SYMPTOMS, Site, Told, tell
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.record.torn import number
from laststep.rules.rule import Answer, rule

SCALE = Remedy("Bring each feature to a mean of 0 and a spread of 1 (pictures: divide by 255)",
               "layer = keras.layers.Normalization(); layer.adapt(x); make it the model's first layer",
               trial={"inputs": "scaled"})  # fmt: skip


@rule(needs=("recorder",), outranks=(*SYMPTOMS, "vanishing-gradients"))
def unscaled_inputs(run: Run) -> Answer:
    """The inputs are so large, or so unlike each other, that training cannot take them.

    What happened
        Keras draws weights for inputs around 1. Inputs of hundreds or millions push sigmoids and recurrent layers to
        their ends, where nothing is learnt, or make the loss and its gradients so large that the first updates throw
        the weights away. A column of millions also hides one of ones.

    How laststep knows
        The size of each feature over the batches that were looked at, no normalising layer in front, and training
        that fails: the loss no better than one constant answer, or not finite after it grew.

    What to do
        Normalise the inputs with the statistics of the training set, in front of the model or as its first layer.

    Not to be confused with
        unscaled-targets, learning-rate-too-high. Raw pixels often train well with relu and Adam: then nothing is said.
    """
    found = blown_up(run, "unscaled-inputs")
    site = found[0] if found else steady_site(run)
    if site is None:
        return no("no training that could be judged")
    big = large_inputs(site)
    if big is None and found:
        return _unseen(run, site, found[1])
    if big is None:
        return measured("the inputs are of an ordinary size") if site.inputs else no("the inputs were not seen")
    if found:
        return _finding(run, site, big, found[1], [first_bad(site)])
    trouble = learning_of(run).trouble
    if trouble is None:
        return measured("the inputs are large, and it learns")
    if large_targets(site):
        return no("the targets are large too")
    return _finding(run, site, big, trouble.says, [trouble])


def _finding(run: Run, site: Site, big: Size, sign: str, why: list[Evidence]) -> Finding:
    name, size, column = big
    told = site.tensors.get(name, {})
    return Finding(
        cause=f"The inputs are not scaled ({_range(told, column, size)}): {sign}.",
        confidence=sureness(site) if site.bad or size >= LARGE or reach(told) > 2 * LARGE else Confidence.POSSIBLE,
        evidence=(*why, Evidence(_sizes(told), site.batches[-1:]), progress(run)),
        remedies=(SCALE,),
        where=data_place(site, name),
    )


def _unseen(run: Run, site: Site, sign: str) -> Finding:
    told = f"the gradient of the first look is that of inputs around {tell(only_inputs(site))} (the data was not seen)"
    return Finding(
        cause=f"The inputs of a model of one layer seem not to be scaled: {sign}.",
        confidence=Confidence.LIKELY,
        evidence=(Evidence(told, site.looks[:1]), first_bad(site), progress(run)),
        remedies=(SCALE,),
        where=data_place(site, "x"),
    )


def _range(told: Told, column: int | None, size: float) -> str:
    low, high = tell(number(told.get("low"))), tell(number(told.get("high")))
    return f"from {low} to {high}" if column is None else f"from {low} to {high}, feature {column} around {tell(size)}"


def _sizes(told: Told) -> str:
    means = [tell(value) for value in told.get("column_means", ())]
    if len(means) > 1:
        return f"means of the features: {', '.join(means[:8])}{' …' if len(means) > 8 else ''}"
    return f"the inputs have a mean of {tell(number(told.get('mean')))} and a spread of {tell(number(told.get('std')))}"
