"""What an experiment says about a finding: trainings with and without the change → PROVEN, withdrawn or open."""

from __future__ import annotations

import math

from laststep.record.events.experiments import Proof, SideRun, Trained, Training
from laststep.record.events.process import ProbeState
from laststep.record.run import Run

BEFORE, AFTER = "as it is", "changed"
PROVEN, WITHDRAWN, OPEN = "PROVEN", "WITHDRAWN", "OPEN"
LEARNT = 0.1  # of the way from a constant answer to a perfect one: less is nothing
FALLEN = 0.1  # of the first loss
TWICE = 2.0  # with the change it must learn so much better
FEWEST_ROUNDS = 2
HELPS, NO_HELP, EITHER_WAY, GONE, UNLIKE, TOO_SHORT, RAISES, BOTH_BREAK = range(8)
WHY = {
    HELPS: "with the change it works, and without it it does not",
    NO_HELP: "with the change it works no better than without it",
    EITHER_WAY: "here it learns without the change, too: the trouble did not come back in so few steps",
    UNLIKE: "the two losses measure different things, and its predictions can't be set against its targets",
    TOO_SHORT: "there was time for a few steps only, and they do not tell: give it more --seconds",
    RAISES: "with the change the step raised an error: what was tried does not fit this model",
    BOTH_BREAK: "with the change a number breaks, too: it is not this alone, or the change is too small",
    GONE: "the bad number of the recorded run did not come back in so few steps",
}


def read_proof(side: Run, rule: str, says: str, certain: bool, had_bad: bool, same_loss: bool) -> Proof:
    """`certain`: what was found is a fact, only what follows from it is open. `same_loss`: losses can be compared."""
    rounds, enough = _rounds(side), _steps_wanted(side)
    failed = _why_failed(side)
    if failed or not rounds:
        because = failed or "no round was complete in this time: give it more --seconds"
        return Proof(rule=rule, says=says, verdict=OPEN, because=because)
    answers = {_judge(before, after, had_bad, same_loss, enough) for before, after in rounds}
    verdict, because = OPEN, "the rounds do not agree: in one it helps, in another it does not"
    if len(rounds) < FEWEST_ROUNDS:
        because = "only one round was complete in this time: give it more --seconds"
    elif len(answers) == 1:
        [answer] = answers
        because = WHY[answer]
        verdict = {HELPS: PROVEN, NO_HELP: WITHDRAWN}.get(answer, OPEN)
        if verdict == WITHDRAWN and certain:
            verdict, because = OPEN, "what was found is a fact, but this change alone does not make it learn"
    kept = tuple((_as_kept(before), _as_kept(after)) for before, after in rounds)
    return Proof(rule=rule, says=says, verdict=verdict, because=because, rounds=kept)


def _judge(before: Trained, after: Trained, had_bad: bool, same_loss: bool, enough: int) -> int:
    if after.raised:
        return RAISES
    if after.bad is not None:
        return NO_HELP if before.bad is None else BOTH_BREAK
    if before.bad is not None:
        return HELPS if after.steps >= before.bad else TOO_SHORT
    by_skill, by_loss = bool(before.skill and after.skill), same_loss
    if not by_skill and not by_loss:
        return UNLIKE
    # Predictions may lag behind the loss: BatchNormalization learns its means slowly.
    if (by_skill and _learns_more(before, after)) or (by_loss and _falls_more(before, after)):
        return HELPS
    if after.steps < enough:
        return TOO_SHORT
    if had_bad:
        return GONE
    learns = learnt(before) >= LEARNT if by_skill else loss_drop(before) >= FALLEN
    return EITHER_WAY if learns else NO_HELP


def _learns_more(before: Trained, after: Trained) -> bool:
    apart = after.skill[-1][1] - before.skill[-1][1]
    return apart >= LEARNT and learnt(after) >= TWICE * max(learnt(before), 0.0)


def _falls_more(before: Trained, after: Trained) -> bool:
    """The loss of the two arms is the same thing, and ends lower with the change."""
    apart = loss_drop(after) - loss_drop(before)
    lower = after.losses[-1] < before.losses[-1]
    return lower and apart >= FALLEN and loss_drop(after) >= TWICE * max(loss_drop(before), 0.0)


def learnt(training: Trained) -> float:
    """Since the start, which may know something already."""
    return training.skill[-1][1] - training.skill[0][1] if training.skill else 0.0


def loss_drop(training: Trained) -> float:
    """By which part of itself the loss fell."""
    tenth = max(1, len(training.losses) // 10)
    first, last = (sum(part) / len(part) for part in (training.losses[:tenth], training.losses[-tenth:]))
    return (first - last) / abs(first) if first else 0.0


def _rounds(side: Run) -> list[tuple[Trained, Trained]]:
    arms: dict[int, dict[str, Trained]] = {}
    for training in side.all(Trained):
        arms.setdefault(training.round, {})[training.arm] = training
    return [(pair[BEFORE], pair[AFTER]) for _, pair in sorted(arms.items()) if len(pair) == len((BEFORE, AFTER))]


def _steps_wanted(side: Run) -> int:
    """How long each training should have been."""
    return next((event.steps for event in side.all(SideRun) if event.state == "trains"), 0)


def _as_kept(training: Trained) -> Training:
    losses = tuple(value if math.isfinite(value) else None for value in training.losses)
    return Training(steps=training.steps, bad=training.bad, raised=training.raised, losses=losses, skill=training.skill)


def _why_failed(side: Run) -> str:
    refused = next((event for event in side.all(SideRun) if event.state == "unsupported"), None)
    if refused is not None:
        return f"it could not be tried: {refused.because}"
    failed = next((event for event in side.all(ProbeState) if event.name == "side_run"), None)
    if failed is not None:
        return f"the side run failed: {failed.because}"
    if side.uncaught is not None:
        error = side.uncaught
        return f"the program raised before its first fit: {error.type}: {error.message[:200]}"
    return "" if side.has(SideRun) else "the program never called fit"
