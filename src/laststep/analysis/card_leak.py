"""Tensors that pile up on a card: by what the allocator had given out, and by who held it when there was no more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from laststep import text as words
from laststep.analysis.finding import Evidence
from laststep.analysis.forecast import Point
from laststep.analysis.leaks import TENSORS, Owner, owner_of
from laststep.record.events.training import Census, GpuAllocation
from laststep.record.ownership import MIN_OWNER_SHARE
from laststep.record.run import Run
from laststep.record.sample import GpuState

Card = TypeVar("Card", GpuState, GpuAllocation)
LEAST = 200e6  # bytes
LEAST_SHARE = 0.25  # of what was in use when it was first looked at
FEWEST_STEPS = 10
FEWEST_KEPT = 8  # tensors, or lists of them
MOST_A_STEP = 4  # more than so many in each step were there before, as data is


@dataclass(frozen=True)
class CardLeak:
    """What grew on a card while steps went by, and who keeps it."""

    number: int
    points: Sequence[Point]
    owner: Owner

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        first, last = self.points[0], self.points[-1]
        grew = f"from {words.size(first.value)} to {words.size(last.value)} in {words.span(last.time - first.time)}"
        each = words.size((last.value - first.value) / (last.step - first.step))
        curve = tuple(point.value for point in self.points)
        says = f"in use on GPU {self.number}: {grew}, about {each} more with every step"
        return Evidence(says, curve=curve), self.holds

    @property
    def holds(self) -> Evidence:
        owner = self.owner
        each, share = words.size(owner.grew / owner.added), min(100, round(100 * owner.share))
        says = f"{owner.name} ({owner.kind}) holds {owner.length:,}, {each} each: {share} % of what it grew by"
        return Evidence(says, owner.events)


def points_of(run: Run, number: int, since: float) -> list[Point]:
    """What TensorFlow's allocator had given out of a card."""
    seen = [(event, card_in(event.gpus, number)) for event in run.all(Census) if event.time >= since]
    return [Point(event.time, float(card.current), event.step) for event, card in seen if card]


def card_in(cards: Iterable[Card], number: int) -> Card | None:
    return next((card for card in cards if card.gpu == number), None)


def card_leak(run: Run) -> CardLeak | None:
    """None where no card's memory grew with the steps, or where no container of tensors accounts for it."""
    censuses = _censuses(run)
    for number in range(16):
        points = points_of(run, number, 0.0)
        if not points or not censuses:
            return None
        first, last = points[0], points[-1]
        rise = last.value - first.value
        if rise < max(LEAST, LEAST_SHARE * first.value) or last.step - first.step < FEWEST_STEPS:
            continue
        owner = owner_of(censuses, rise / max(last.time - first.time, 1.0)) or _only_census(censuses[-1], rise)
        if owner is not None and owner.holds in TENSORS:
            return CardLeak(number, points, owner)
    return None


def _censuses(run: Run) -> list[Census]:
    """Up to the moment when the card was full: what the program's frames held is let go after it."""
    found = [event for event in run.all(Census) if event.counts is not None]
    full = max((number for number, event in enumerate(found, 1) if event.exhausted), default=len(found))
    return found[:full]


def _only_census(census: Census, rise: float) -> Owner | None:
    """It was full before there was time for a second look: what holds most of it, some for every step."""
    for entry in sorted(census.containers, key=lambda entry: -entry.bytes):
        kept, share = entry.length, entry.bytes / rise
        by_steps = FEWEST_KEPT <= kept <= MOST_A_STEP * census.step
        if entry.holds in TENSORS and not entry.most and by_steps and share >= MIN_OWNER_SHARE:
            return Owner(entry.name, entry.kind, entry.holds, entry.where, kept, kept, entry.bytes, share, (census,))
    return None
