"""What a side run measured: each change of the input pipeline, and its gain as a range."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from laststep.record.run import Run

NOW, BOUND = "now", "no wait for data"
FEWEST_ROUNDS = 4
# With so many rounds the lowest and the highest are left out: the rest still holds the true middle in eight or nine
# cases of ten, and one stall (TensorFlow's pipelines have them at the end of an epoch) or busy neighbour does no harm.
ENOUGH_ROUNDS = 6
MARGIN = 1.10  # another launch of the same program differs by so much, however steady the rounds were

Range = tuple[float, float]


@dataclass(frozen=True)
class Tried:
    """A change and its gain: (1.8, 2.1) means 1.8 to 2.1 times as fast. None: too few rounds."""

    says: str
    where: dict[str, Any] | None
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
    says: str
    where: dict[str, Any] | None
    because: str


@dataclass(frozen=True)
class Outcome:
    """The whole side run. `failed` says why there are no figures."""

    where: dict[str, Any] | None
    data: str
    now: float | None  # seconds per step
    bound: Range | None
    rounds: int
    tried: tuple[Tried, ...]
    not_tried: tuple[NotTried, ...]
    notes: tuple[str, ...]
    failed: str = ""

    def seconds(self, gain: Range) -> Range:
        """Per step, fastest first."""
        assert self.now is not None
        return self.now / gain[1], self.now / gain[0]


def read_outcome(run: Run) -> Outcome:
    sides = {str(event.get("state")): event for event in run.all("side-run")}
    began = sides.get("began") or sides.get("unsupported")
    paces = _paces(run)
    now = paces.get(NOW, {})
    asked = [event for event in run.all("change") if event.get("arm") not in (None, BOUND)]
    tried = [
        Tried(
            str(event.get("says")),
            event.get("where"),
            str(event.get("code", "")),
            str(event.get("note", "")),
            gain_range(_gains(now, paces.get(str(event.get("arm")), {}))),
            len(paces.get(str(event.get("arm")), {})),
        )
        for event in asked
    ]
    return Outcome(
        where=began.get("where") if began else None,
        data=str(began.get("data", "")) if began else "",
        now=statistics.median(now.values()) if now else None,
        bound=gain_range(_gains(now, paces.get(BOUND, {}))),
        rounds=len(now),
        tried=tuple(sorted(tried, key=lambda change: -(change.gain or (0, 0))[0])),
        not_tried=tuple(
            NotTried(str(event.get("says")), event.get("where"), str(event.get("because")))
            for event in run.all("change")
            if event.get("arm") is None
        ),
        notes=tuple(sides["trains"].get("notes", ())) if "trains" in sides else (),
        failed=_why_failed(run, sides, bool(now)),
    )


def _paces(run: Run) -> dict[str, dict[int, float]]:
    """arm → round → seconds per step"""
    found: dict[str, dict[int, float]] = {}
    for number, turn in enumerate(run.all("turn")):
        if turn.get("steps"):
            found.setdefault(str(turn.get("arm")), {})[int(turn.get("round", number))] = float(
                turn.get("seconds")
            ) / int(turn.get("steps"))
    return found


def _gains(now: dict[int, float], then: dict[int, float]) -> list[float]:
    """Round by round: what disturbs the machine for a while disturbs both."""
    return [now[number] / then[number] for number in sorted(now.keys() & then.keys()) if then[number] > 0]


def gain_range(gains: list[float]) -> Range | None:
    """The lowest and the highest of the rounds, without one at each end where there are enough, and a little more."""
    if len(gains) < FEWEST_ROUNDS:
        return None
    kept = sorted(gains)[1:-1] if len(gains) >= ENOUGH_ROUNDS else sorted(gains)
    return kept[0] / MARGIN, kept[-1] * MARGIN


def _why_failed(run: Run, sides: dict[str, Any], measured: bool) -> str:
    if "unsupported" in sides:
        return f"not supported for this program: {sides['unsupported'].get('because')}"
    if measured:
        return ""
    if any(turn.get("arm") == NOW and not turn.get("steps") for turn in run.all("turn")):
        return "its data can be gone through only once"
    failed = next((event for event in run.all("probe") if event.get("name") == "side_run"), None)
    if failed is not None:
        return f"the side run failed: {failed.get('because')}"
    error = run.uncaught
    if error is not None:
        return f"the program raised before its first fit: {error.get('type')}: {str(error.get('message'))[:200]}"
    return "the side run ended before anything was measured" if "began" in sides else "the program never called fit"
