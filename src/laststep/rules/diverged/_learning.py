"""Does it learn? Read from the losses, against what always saying the same would give. Unknown is not failing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from laststep.event import Event
from laststep.finding import Evidence
from laststep.reports import words
from laststep.rules.diverged._outputs import (
    SQUARED,
    Output,
    Told,
    are_rivals,
    entries,
    last_site,
    number,
    numbers,
    outputs,
    plain_name,
)
from laststep.run import Fit, Run

LEARNS, FAILS, UNKNOWN = "learns", "fails", "unknown"
ENOUGH_STEPS = 60  # with fewer even a good model may stand where it began
FEWEST = 4  # points of the curve
NO_BETTER, BETTER = 0.97, 0.9  # the loss, as a share of the loss of a constant answer
FLAT, FELL = 0.03, 0.15  # how much of the loss went away, where there is no such yardstick
MOST_POINTS = 40
CLEARLY = 0.08  # accuracy above that of always naming the commonest class


@dataclass(frozen=True)
class Learning:
    """What the losses tell: `sure` where they were held against the loss of a constant answer."""

    verdict: str
    says: str = ""
    curve: tuple[float, ...] = ()
    events: tuple[Event, ...] = ()
    sure: bool = False
    steps: int = 0
    held_out_fails: bool = False
    share: float | None = None  # of the loss of a constant answer, at least

    @property
    def fails(self) -> bool:
        return self.verdict == FAILS

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return (Evidence(self.says, self.events, self.curve),) if self.says else ()


def learning_of(run: Run) -> Learning:
    """Of the last training in the run."""
    fits = _last_fits(run)
    epochs = [epoch for fit in fits for epoch in fit.epochs]
    losses = _of_epochs(epochs, "loss")
    by_epoch = len(losses) >= FEWEST
    if not by_epoch:
        losses = _of_steps(run)
    steps = _count(run, fits)
    told = epochs[-1:] if by_epoch else []
    if not losses:
        return Learning(UNKNOWN, steps=steps)
    says = f"the loss went from {words.value(losses[0])} to {words.value(losses[-1])} in {words.count(steps, 'step')}"
    plain = Learning(UNKNOWN, says, tuple(losses), tuple(told), steps=steps)
    if steps < ENOUGH_STEPS or len(losses) < FEWEST or not all(map(math.isfinite, losses)) or are_rivals(run):
        return plain
    return _judge(run, plain, epochs, losses)


def _judge(run: Run, plain: Learning, epochs: Sequence[Event], losses: Sequence[float]) -> Learning:
    last, start = _end(losses), losses[0]
    constant = constant_loss(run)
    guess = _chance(run)
    held = _of_epochs(epochs, "val_loss")
    accuracy = _accuracy(epochs)
    held_fails = _held_out_fails(held, constant, accuracy, guess)
    if accuracy is not None and guess is not None and accuracy > guess + CLEARLY:
        return _with(plain, LEARNS)
    if constant is not None and constant > 0:
        share = last / constant
        flat = last > 0.9 * max(start, _first_steps(run) or start) or last <= 1.1 * constant
        if share >= NO_BETTER and flat and not _still_falls(losses):
            says = f"{plain.says}; always saying the same would give {words.value(constant)}"
            return _with(plain, FAILS, says, sure=True, held=held_fails, share=share - _doubt(run))
        if share < BETTER - _doubt(run):
            return _with(plain, LEARNS, held=held_fails)
        still = abs(max(start, _first_steps(run) or start) - last) < 2 * FLAT * start
        return _with(plain, FAILS if still and share + _doubt(run) >= NO_BETTER else UNKNOWN, held=held_fails)
    if _is_as_wide_as_targets(run, last) and start - last < 0.2 * start and not _still_falls(losses):
        return _with(plain, FAILS)
    if min(losses) <= 0:
        return plain  # a likelihood, a similarity, a critic: its level says nothing
    first = max(start, _first_steps(run) or start)
    fell = (first - last) / first
    if fell > FELL:
        return _with(plain, LEARNS)
    still = max(losses) - min(losses) < 0.2 * start and not _still_falls(losses)
    return _with(plain, FAILS if abs(fell) < FLAT and still else UNKNOWN)


def _with(
    plain: Learning, verdict: str, says: str = "", sure: bool = False, held: bool = False, share: float | None = None
) -> Learning:
    return Learning(verdict, says or plain.says, plain.curve, plain.events, sure, plain.steps, held, share)


def _end(losses: Sequence[float]) -> float:
    return statistics.median(losses[-max(1, len(losses) // 5) :])


def _still_falls(losses: Sequence[float]) -> bool:
    """The last third is below the third before it by more than its own noise."""
    third = max(2, len(losses) // 3)
    before, after = losses[-2 * third : -third], losses[-third:]
    noise = statistics.pstdev(after)
    fell = statistics.fmean(before) - statistics.fmean(after)
    return bool(before) and fell > max(2 * noise, 0.02 * abs(statistics.fmean(before)))


def _last_fits(run: Run) -> list[Fit]:
    """The fits of the model that was trained last: a program may call fit for each epoch."""
    fits = [fit for fit in run.fits if fit.epochs]
    starts = [at for at, fit in enumerate(fits) if fit.began.get("new_model")]
    return fits[starts[-1] if starts else 0 :]


def _of_epochs(epochs: Sequence[Event], name: str) -> list[float]:
    values = [(epoch.get("metrics") or {}).get(name) for epoch in epochs]
    return [float(value) for value in values if isinstance(value, (int, float))]


def _of_steps(run: Run) -> list[float]:
    """The losses of a hand-written loop, or of the looks at a fit of few epochs: the means of equal parts."""
    known = {step.number: step.loss for step in run.steps if math.isfinite(step.loss)} if not run.fits else {}
    site = last_site(run)
    if len(known) < ENOUGH_STEPS and site is not None and not site.scales_loss:
        looked = ((look.get("step"), number(look.data, "loss")) for look in site.looks)
        known |= {step: loss for step, loss in looked if isinstance(step, int) and loss is not None}
    losses = [known[step] for step in sorted(known)]
    count = len(losses)
    if count < 2 * FEWEST:
        return losses
    parts = max(FEWEST, min(MOST_POINTS, count // 5))
    return [statistics.fmean(losses[at * count // parts : (at + 1) * count // parts]) for at in range(parts)]


def _first_steps(run: Run) -> float | None:
    """Where the loss began: an epoch's mean may have learned all there is already."""
    site = last_site(run)
    if site is None or site.scales_loss:
        return None
    losses = [loss for look in site.looks[:5] for loss in [number(look.data, "loss")] if loss is not None]
    return statistics.median(losses) if losses and all(map(math.isfinite, losses)) else None


def _count(run: Run, fits: Sequence[Fit]) -> int:
    counted = sum(int(fit.epochs[-1].get("batches") or 0) * len(fit.epochs) for fit in fits)
    return counted or (run.steps[-1].number if run.steps else 0)


def _only(run: Run) -> Output | None:
    """The one loss of the training that matters: a sum of several has no yardstick."""
    site = last_site(run)
    found = [each for each in outputs(run) if site is not None and each.site.told is site.told]
    return found[0] if len(found) == 1 else None


def constant_loss(run: Run) -> float | None:
    """The loss of a model that always gives the best constant answer; None where that can't be told."""
    output = _only(run)
    if output is None or not output.y or not _is_comparable(run):
        return None
    y, kind = output.y, output.kind
    mean, means = number(y, "mean"), numbers(y.get("column_means"))
    if kind == "binary" and _within(y, 0, 1):
        chances = means or ([mean] if mean is not None else [])
        return statistics.fmean(_entropy((p, 1 - p)) for p in chances) if chances else None
    if kind == "categorical" and sum(means) > 0 and _within(y, 0, 1):  # rows of several classes sum to more than 1
        return sum(means) * _entropy([mean / sum(means) for mean in means])
    if kind == "sparse" and len(entries(y.get("distinct"))) > 1:
        return math.log(len(y["distinct"]))
    if plain_name(output.loss) in SQUARED:
        spread = numbers(y.get("column_stds")) or [number(y, "std") or 0.0]
        return statistics.fmean(each * each for each in spread) or None
    return None


def _is_as_wide_as_targets(run: Run, last: float) -> bool:
    """A loss of the program's own that ends just where the squared error of a constant answer is."""
    site = last_site(run)
    if site is None or site.losses or "y" not in site.tensors:
        return False
    y = site.tensors["y"]
    variance = (number(y, "std") or 0.0) ** 2
    return not y.get("whole") and variance > 0 and 0.85 < last / variance < 1.15


def _doubt(run: Run) -> float:
    """How far off the spread of the targets may be, which is known from some of the rows: two standard errors."""
    output = _only(run)
    if output is None or output.kind != "regression":
        return 0.0
    columns = max(1, len(numbers(output.y.get("column_stds"))))
    return 2 * math.sqrt(2 * columns / max(number(output.y, "values") or 0.0, 32.0))


def _is_comparable(run: Run) -> bool:
    """Weights of samples or classes change the loss's scale."""
    site = last_site(run)
    return site is not None and not any(name.startswith("sample_weight") for name in site.tensors)


def _entropy(chances: Sequence[float]) -> float:
    return -sum(p * math.log(p) for p in chances if 0 < p < 1)


def _chance(run: Run) -> float | None:
    """The accuracy of always naming the commonest class."""
    output = _only(run)
    if output is None or not output.y:
        return None
    mean, means = number(output.y, "mean"), numbers(output.y.get("column_means"))
    if output.kind == "binary" and mean is not None and _within(output.y, 0, 1):
        return max(mean, 1 - mean)
    if output.kind == "categorical" and means:
        return max(means)
    distinct = entries(output.y.get("distinct"))
    return 1 / len(distinct) if output.kind == "sparse" and len(distinct) > 1 else None


def _accuracy(epochs: Sequence[Event]) -> float | None:
    """Of the last epochs, the held-back samples' where there are any."""
    names = [name for epoch in epochs[-1:] for name in epoch.get("metrics") or {} if "acc" in name.lower()]
    name = next((each for each in names if each.startswith("val_")), names[0] if names else None)
    values = _of_epochs(epochs[-3:], name) if name else []
    return statistics.fmean(values) if values else None


def _held_out_fails(
    held: Sequence[float], constant: float | None, accuracy: float | None, guess: float | None
) -> bool:
    """The held-back samples are not foretold better than by a constant answer, in any epoch."""
    if len(held) < 3 or constant is None or not all(map(math.isfinite, held)):
        return False
    return min(held) >= 0.98 * constant and (accuracy is None or guess is None or accuracy < guess + CLEARLY)


def _within(y: Told, low: float, high: float) -> bool:
    bottom, top = number(y, "low"), number(y, "high")
    return bottom is not None and top is not None and bottom >= low and top <= high
