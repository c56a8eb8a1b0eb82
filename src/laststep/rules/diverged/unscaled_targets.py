"""Targets of a size that training cannot reach."""

from __future__ import annotations

import math

from laststep.analysis.finding import Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import first_bad
from laststep.analysis.learning.growth import blown_up
from laststep.analysis.learning.learning import learning_of, steady_site, sureness
from laststep.analysis.learning.scale import LARGE, data_place, large_targets
from laststep.analysis.learning.site import SYMPTOMS, Site, Told, tell
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.record.torn import number
from laststep.rules.rule import Answer, rule

SCALE = Remedy("Train on scaled targets and turn the predictions back",
               "y = (y - y.mean()) / y.std()", trial={"targets": "scaled"})  # fmt: skip
LOG = Remedy("Targets that span powers of ten: train on their logarithm", "y = np.log(y)")


@rule(needs=("recorder",), outranks=(*SYMPTOMS, "vanishing-gradients"))
def unscaled_targets(run: Run) -> Answer:
    """The targets are so large, or so small, that training cannot get there.

    What happened
        A new model answers around 0, and a step of Adam moves an answer by about the learning rate. Targets of
        hundreds of thousands are out of reach in thousands of steps; with plain SGD their squared error makes gradients
        that throw the weights away. Targets of millionths drown in the noise of the start.

    How laststep knows
        The size of the targets over the batches that were looked at, the predictions beside them, and training that
        fails: the loss no better than one constant answer, or not finite after it grew.

    What to do
        Subtract the mean and divide by the spread before training, and turn predictions back after it. Or let the last
        layer do it: keras.layers.Rescaling(std, offset=mean).

    Not to be confused with
        unscaled-inputs (what goes in is large), learning-rate-too-low, learning-rate-too-high (ordinary targets).
    """
    found = blown_up(run, "unscaled-targets")
    site = found[0] if found else steady_site(run)
    if site is None:
        return no("no training that could be judged")
    big = large_targets(site)
    name = big[0] if big else "y"
    told = site.tensors.get(name)
    if told is None:
        return no("the targets were not seen")
    if found:
        return _finding(run, site, told, found[1], [first_bad(site)])
    if big is None and not _is_small(site, told):
        return measured("the targets are of an ordinary size")
    trouble = learning_of(run).trouble
    if trouble is None or not (_is_far(site, name) or _is_small(site, told)):
        return measured("the targets are not of an ordinary size, and it learns")
    return _finding(run, site, told, trouble.says, [trouble])


def _is_small(site: Site, told: Told) -> bool:
    """Numbers of thousandths and less, while the predictions are spread a hundred times as wide."""
    spread, guess = number(told.get("std")), number(site.tensors.get("y_pred", {}).get("std"))
    return 0 < spread < 1 / LARGE and guess > LARGE * spread and math.isfinite(guess)


def _is_far(site: Site, name: str) -> bool:
    """The predictions are far from the targets, measured by their spread; or were not seen."""
    y, guess = site.tensors[name], site.tensors.get("y_pred")
    if guess is None or name != "y":
        return True
    half = 0.5 * number(y.get("std"))
    return abs(number(y.get("mean")) - number(guess.get("mean"))) > half or number(guess.get("std")) < half


def _finding(run: Run, site: Site, told: Told, sign: str, why: list[Evidence]) -> Finding:
    mean, low, high = (tell(number(told.get(name))) for name in ("mean", "low", "high"))
    size = f"around {mean}, from {low} to {high}"
    evidence = [*why, Evidence(f"the targets are {size}", site.batches[-1:])]
    guess = site.tensors.get("y_pred")
    if guess is not None and math.isfinite(number(guess.get("mean"))):
        evidence.append(Evidence(f"the predictions are around {tell(number(guess.get('mean')))}", site.batches[-1:]))
    return Finding(
        cause=f"The targets are not scaled ({size}): {sign}.",
        confidence=sureness(site),
        evidence=(*evidence, progress(run)),
        remedies=(SCALE, LOG) if number(told.get("low")) > 0 else (SCALE,),
        where=data_place(site, "y"),
    )
