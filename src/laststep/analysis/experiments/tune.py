"""The measurements of a side run: each change of the input pipeline, and its gain as a range."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from laststep.record.events.experiments import Change, SideRun, Turn
from laststep.record.events.process import ProbeState
from laststep.record.place import Place
from laststep.record.run import Run

NOW, BOUND = "now", "no wait for data"
MIN_ROUNDS = 4
# From this many rounds on, the lowest and the highest are left out. The rest still contains the true median in eight
# or nine of ten cases, and one stall (tf.data has them at the end of an epoch) or a busy machine does not matter.
MIN_ROUNDS_TO_TRIM = 6
MARGIN = 1.10  # two launches of the same program differ by this factor, however steady the rounds were
MAX_MESSAGE = 200  # characters

Range = tuple[float, float]


@dataclass(frozen=True)
class Tried:
    """A change and its gain: (1.8, 2.1) means 1.8 to 2.1 times as fast. None: too few rounds."""

    says: str
    where: Place | None
    code: str
    note: str
    gain: Range | None
    rounds: int

    @property
    def verdict(self) -> str:
        if self.gain is None:
            return "not measured"
        return "gain" if self.gain[0] > 1 else "slower" if self.gain[1] < 1 else "no gain"


@dataclass(frozen=True)
class NotTried:
    """A change that was not tried, and why."""

    says: str
    where: Place | None
    because: str


@dataclass(frozen=True)
class Outcome:
    """The whole side run. `failed`: why there are no measurements."""

    where: Place | None
    data: str
    now: float | None  # seconds per step
    bound: Range | None
    rounds: int
    tried: tuple[Tried, ...]
    not_tried: tuple[NotTried, ...]
    notes: tuple[str, ...]
    failed: str = ""

    def seconds(self, gain: Range) -> Range:
        """Per step, the lower bound first."""
        assert self.now is not None
        return self.now / gain[1], self.now / gain[0]


def read_outcome(run: Run) -> Outcome:
    sides = {event.state: event for event in run.all(SideRun)}
    began = sides.get("began") or sides.get("unsupported") or SideRun()
    paces = _paces(run)
    now = paces.get(NOW, {})
    changes = run.all(Change)
    tried = [_tried(change, now, paces.get(change.arm, {})) for change in changes if change.arm not in (None, BOUND)]
    return Outcome(
        where=began.where,
        data=began.data,
        now=statistics.median(now.values()) if now else None,
        bound=gain_range(_gains(now, paces.get(BOUND, {}))),
        rounds=len(now),
        tried=tuple(sorted(tried, key=lambda change: -(change.gain or (0, 0))[0])),
        not_tried=tuple(NotTried(each.says, each.where, each.because) for each in changes if each.arm is None),
        notes=sides["trains"].notes if "trains" in sides else (),
        failed=_why_failed(run, sides, bool(now)),
    )


def _tried(change: Change, now: dict[int, float], then: dict[int, float]) -> Tried:
    return Tried(change.says, change.where, change.code, change.note, gain_range(_gains(now, then)), len(then))


def _paces(run: Run) -> dict[str | None, dict[int, float]]:
    """arm → round → seconds per step"""
    found: dict[str | None, dict[int, float]] = {}
    for number, turn in enumerate(run.all(Turn)):
        if turn.steps:
            found.setdefault(turn.arm, {})[number if turn.round is None else turn.round] = turn.seconds / turn.steps
    return found


def _gains(now: dict[int, float], then: dict[int, float]) -> list[float]:
    """Compared round by round: a disturbance of the machine affects both."""
    return [now[number] / then[number] for number in sorted(now.keys() & then.keys()) if then[number] > 0]


def gain_range(gains: list[float]) -> Range | None:
    """The lowest and the highest gain, trimmed if there are enough rounds, and widened by the margin."""
    if len(gains) < MIN_ROUNDS:
        return None
    kept = sorted(gains)[1:-1] if len(gains) >= MIN_ROUNDS_TO_TRIM else sorted(gains)
    return kept[0] / MARGIN, kept[-1] * MARGIN


def _why_failed(run: Run, sides: Mapping[str, SideRun], measured: bool) -> str:
    if "unsupported" in sides:
        return f"not supported for this program: {sides['unsupported'].because}"
    if measured:
        return ""
    if any(turn.arm == NOW and not turn.steps for turn in run.all(Turn)):
        return "its data can be iterated only once"
    failed = next((event for event in run.all(ProbeState) if event.name == "side_run"), None)
    if failed is not None:
        return f"the side run failed: {failed.because}"
    error = run.uncaught
    if error is not None:
        return f"the program raised before its first fit: {error.type}: {error.message[:MAX_MESSAGE]}"
    return "the side run ended before anything was measured" if "began" in sides else "the program never called fit"
