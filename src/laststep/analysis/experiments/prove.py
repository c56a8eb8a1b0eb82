"""Trainings with and without a change → whether a finding is PROVEN, WITHDRAWN or still OPEN."""

from __future__ import annotations

import math
from enum import Enum

from laststep.record.events.experiments import ProveResult, SideRun, Trained, Training
from laststep.record.events.process import ProbeState
from laststep.record.run import Run

BEFORE, AFTER = "as it is", "changed"
PROVEN, WITHDRAWN, OPEN = "PROVEN", "WITHDRAWN", "OPEN"
MIN_SKILL_GAIN = 0.1  # of the way from a constant prediction to a perfect one; less is not learning
MIN_LOSS_DROP = 0.1  # share of the initial loss
MIN_RATIO = 2.0  # skill or loss drop with the change, relative to that without it
MIN_ROUNDS = 2
MAX_MESSAGE = 200  # characters


class Comparison(Enum):
    """What one round says about the change."""

    HELPS = "training works with the change and fails without it"
    NO_HELP = "training with the change is no better than without it"
    EITHER_WAY = "training works without the change too: the problem did not reappear in so few steps"
    GONE = "the NaN or Inf of the recorded run did not reappear in so few steps"
    STILL_CONSTANT = "the loss falls further with the change, but the predictions are no better than a constant one"
    LOSS_ALONE = "the loss falls further with the change, but it is not known whether the predictions do better too"
    UNLIKE = "the two losses measure different things, and the predictions can't be compared with the targets"
    TOO_SHORT = "too few steps in this time to decide: increase --seconds"
    RAISES = "with the change the step raised an error: the change does not fit this model"
    BOTH_BREAK = "with the change there is a NaN or Inf as well: it is not the only cause, or the change is too small"


VERDICTS = {Comparison.HELPS: PROVEN, Comparison.NO_HELP: WITHDRAWN}


def read_result(side: Run, rule: str, says: str, certain: bool, had_bad: bool, same_loss: bool) -> ProveResult:
    """`certain`: the finding is a fact, only its effect is open. `same_loss`: the losses can be compared."""
    rounds, enough = _rounds(side), _steps_wanted(side)
    failed = _why_failed(side)
    if failed or not rounds:
        because = failed or "no round was complete in this time: increase --seconds"
        return ProveResult(rule=rule, says=says, verdict=OPEN, because=because)
    answers = {_judge(before, after, had_bad, same_loss, enough) for before, after in rounds}
    verdict, because = OPEN, "the rounds do not agree: the change helps in one and not in another"
    if len(rounds) < MIN_ROUNDS:
        because = "only one round was complete in this time: increase --seconds"
    elif len(answers) == 1:
        [answer] = answers
        verdict, because = VERDICTS.get(answer, OPEN), answer.value + _skill_that_decides(answer, *rounds[0])
        if verdict == WITHDRAWN and certain:
            verdict, because = OPEN, "the finding is a fact, but this change alone does not make the model learn"
    kept = tuple((_as_kept(before), _as_kept(after)) for before, after in rounds)
    return ProveResult(rule=rule, says=says, verdict=verdict, because=because, rounds=kept)


def _judge(before: Trained, after: Trained, had_bad: bool, same_loss: bool, enough: int) -> Comparison:
    if after.raised:
        return Comparison.RAISES
    if after.bad is not None:
        return Comparison.NO_HELP if before.bad is None else Comparison.BOTH_BREAK
    if before.bad is not None:
        return Comparison.HELPS if after.steps >= before.bad else Comparison.TOO_SHORT
    by_skill, by_loss = bool(before.skill and after.skill), same_loss and bool(before.losses and after.losses)
    if not by_skill and not by_loss:
        return Comparison.UNLIKE
    if by_skill and _learns_more(before, after):
        return Comparison.HELPS
    falls_more = by_loss and _falls_more(before, after)
    if falls_more and not by_skill:
        return Comparison.LOSS_ALONE
    if after.steps < enough:
        return Comparison.TOO_SHORT
    if had_bad:
        return Comparison.GONE
    if falls_more and skill_gain(after) < MIN_SKILL_GAIN:
        return Comparison.STILL_CONSTANT
    learns = skill_gain(before) >= MIN_SKILL_GAIN if by_skill else loss_drop(before) >= MIN_LOSS_DROP
    return Comparison.EITHER_WAY if learns else Comparison.NO_HELP


def _skill_that_decides(answer: Comparison, before: Trained, after: Trained) -> str:
    """The numbers, as both loss curves may look the same."""
    by_skill = (Comparison.HELPS, Comparison.NO_HELP, Comparison.EITHER_WAY, Comparison.STILL_CONSTANT)
    if answer not in by_skill or before.bad or after.bad or not (before.skill and after.skill):
        return ""
    return (
        f"; its skill decides: {after.skill[-1][1]:.2f} in the end with the change, {before.skill[-1][1]:.2f} without"
    )


def _learns_more(before: Trained, after: Trained) -> bool:
    difference = after.skill[-1][1] - before.skill[-1][1]
    return difference >= MIN_SKILL_GAIN and skill_gain(after) >= MIN_RATIO * max(skill_gain(before), 0.0)


def _falls_more(before: Trained, after: Trained) -> bool:
    """Both arms have the same loss, and it ends lower with the change."""
    difference = loss_drop(after) - loss_drop(before)
    is_lower = after.losses[-1] < before.losses[-1]
    return is_lower and difference >= MIN_LOSS_DROP and loss_drop(after) >= MIN_RATIO * max(loss_drop(before), 0.0)


def skill_gain(training: Trained) -> float:
    """Since the start, where the model may know something already."""
    return training.skill[-1][1] - training.skill[0][1] if training.skill else 0.0


def loss_drop(training: Trained) -> float:
    """The decrease of the loss, as a share of its first value."""
    tenth = max(1, len(training.losses) // 10)
    first, last = (sum(part) / len(part) for part in (training.losses[:tenth], training.losses[-tenth:]))
    return (first - last) / abs(first) if first else 0.0


def _rounds(side: Run) -> list[tuple[Trained, Trained]]:
    arms: dict[int, dict[str, Trained]] = {}
    for training in side.all(Trained):
        arms.setdefault(training.round, {})[training.arm] = training
    return [(pair[BEFORE], pair[AFTER]) for _, pair in sorted(arms.items()) if len(pair) == len((BEFORE, AFTER))]


def _steps_wanted(side: Run) -> int:
    """How many steps each training should have had."""
    return next((event.steps for event in side.all(SideRun) if event.state == "trains"), 0)


def _as_kept(training: Trained) -> Training:
    losses = tuple(value if math.isfinite(value) else None for value in training.losses)
    return Training(steps=training.steps, bad=training.bad, raised=training.raised, losses=losses, skill=training.skill)


def _why_failed(side: Run) -> str:
    refused = next((event for event in side.all(SideRun) if event.state == "unsupported"), None)
    if refused is not None:
        return f"the change could not be tried: {refused.because}"
    failed = next((event for event in side.all(ProbeState) if event.name == "side_run"), None)
    if failed is not None:
        return f"the side run failed: {failed.because}"
    if side.uncaught is not None:
        error = side.uncaught
        return f"the program raised before its first fit: {error.type}: {error.message[:MAX_MESSAGE]}"
    return "" if side.has(SideRun) else "the program never called fit"
