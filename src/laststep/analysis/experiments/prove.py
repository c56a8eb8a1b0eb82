"""What an experiment says about a finding: trainings with and without the change → PROVEN, withdrawn or open."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class Training:
    """One training: how many steps, in which one it broke, its losses, (step, what was learnt) now and then."""

    steps: int
    bad: int | None  # a number was not finite any more, or the step raised
    raised: str
    losses: tuple[float, ...]
    skill: tuple[tuple[int, float], ...]

    @property
    def learnt(self) -> float:
        """Since the start, which may know something already."""
        return self.skill[-1][1] - self.skill[0][1] if self.skill else 0.0

    @property
    def told(self) -> dict[str, Any]:
        losses = [value if math.isfinite(value) else None for value in self.losses]
        return {"steps": self.steps, "bad": self.bad, "raised": self.raised, "losses": losses, "skill": self.skill}

    @property
    def fallen(self) -> float:
        """By which part of itself the loss fell."""
        tenth = max(1, len(self.losses) // 10)
        first, last = (sum(part) / len(part) for part in (self.losses[:tenth], self.losses[-tenth:]))
        return (first - last) / abs(first) if first else 0.0


@dataclass(frozen=True)
class Proof:
    """What was tried for which finding, each round's two trainings, and what they say together."""

    rule: str
    says: str
    verdict: str
    because: str
    rounds: tuple[tuple[Training, Training], ...]

    @property
    def told(self) -> dict[str, Any]:
        """As it is kept beside the run."""
        kept = [[training.told for training in pair] for pair in self.rounds]
        return {"rule": self.rule, "says": self.says, "verdict": self.verdict, "because": self.because, "rounds": kept}


def read_proof(side: Run, rule: str, says: str, certain: bool, had_bad: bool, same_loss: bool) -> Proof:
    """`certain`: what was found is a fact, only what follows from it is open. `same_loss`: losses can be compared."""
    rounds, enough = _rounds(side), _steps_wanted(side)
    failed = _why_failed(side)
    if failed or not rounds:
        return Proof(rule, says, OPEN, failed or "no round was complete in this time: give it more --seconds", ())
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
    return Proof(rule, says, verdict, because, tuple(rounds))


def _judge(before: Training, after: Training, had_bad: bool, same_loss: bool, enough: int) -> int:
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
    learns = before.learnt >= LEARNT if by_skill else before.fallen >= FALLEN
    return EITHER_WAY if learns else NO_HELP


def _learns_more(before: Training, after: Training) -> bool:
    apart = after.skill[-1][1] - before.skill[-1][1]
    return apart >= LEARNT and after.learnt >= TWICE * max(before.learnt, 0.0)


def _falls_more(before: Training, after: Training) -> bool:
    """The loss of the two arms is the same thing, and ends lower with the change."""
    apart = after.fallen - before.fallen
    lower = after.losses[-1] < before.losses[-1]
    return lower and apart >= FALLEN and after.fallen >= TWICE * max(before.fallen, 0.0)


def _rounds(side: Run) -> list[tuple[Training, Training]]:
    told: dict[int, dict[str, Training]] = {}
    for event in side.all("trained"):
        told.setdefault(int(event.get("round", 0)), {})[str(event.get("arm"))] = _training(event.raw)
    return [(pair[BEFORE], pair[AFTER]) for _, pair in sorted(told.items()) if len(pair) == len((BEFORE, AFTER))]


def _steps_wanted(side: Run) -> int:
    """How long each training should have been."""
    trains = next((event for event in side.all("side-run") if event.get("state") == "trains"), None)
    return int(trains.get("steps") or 0) if trains is not None else 0


def _training(told: Any) -> Training:
    return Training(
        int(told.get("steps") or 0),
        told.get("bad"),
        str(told.get("raised") or ""),
        tuple(float(value) if value is not None else math.nan for value in told.get("losses") or ()),
        tuple((int(step), float(value)) for step, value in told.get("skill") or ()),
    )


def _why_failed(side: Run) -> str:
    refused = next((event for event in side.all("side-run") if event.get("state") == "unsupported"), None)
    if refused is not None:
        return f"it could not be tried: {refused.get('because')}"
    failed = next((event for event in side.all("probe") if event.get("name") == "side_run"), None)
    if failed is not None:
        return f"the side run failed: {failed.get('because')}"
    if side.uncaught is not None:
        error = side.uncaught
        return f"the program raised before its first fit: {error.get('type')}: {str(error.get('message'))[:200]}"
    return "" if side.has("side-run") else "the program never called fit"
