"""Whether others keep the cores busy: what the run got of the processor time that it wanted, sample by sample."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass

from laststep.record.run import Run
from laststep.record.sample import OtherProcess, Sample

SHARE = 0.5  # of the processor time that it wanted: it got less than this
OTHERS = 0.75  # of the cores that it may use
WANTED = 0.2  # cores: one that wants less is not held up
FEWEST = 3  # such stretches, of five seconds each
PART = 0.4  # of all stretches: less is a burst
FEWEST_STEPS = 5


@dataclass(frozen=True)
class Stretch:
    """The time between two samples."""

    begin: float
    end: float
    ran: float  # processor seconds of the run's main process
    waited: float  # seconds in which its threads were ready to run and had no core
    others: float  # cores
    of: float
    top: tuple[OtherProcess, ...]

    @property
    def is_overloaded(self) -> bool:
        wanted = self.ran + self.waited
        return (
            self.others >= OTHERS * self.of > 0.0
            and self.ran < SHARE * wanted
            and wanted > WANTED * (self.end - self.begin)
        )


@dataclass(frozen=True)
class Overload:
    """Others kept the cores busy for a good part of the run."""

    stretches: tuple[Stretch, ...]
    seconds: float
    share: float
    others: float  # cores, on average
    of: float
    top: tuple[tuple[str, int, float], ...]  # name, pid, cores
    slower: float | None  # how many times longer a step took meanwhile


def stretches_of(run: Run) -> list[Stretch]:
    known = [sample for sample in run.samples if sample.queue is not None]
    return [found for one, two in itertools.pairwise(known) if (found := _stretch(one, two)) is not None]


def overload_of(run: Run) -> Overload | None:
    every = stretches_of(run)
    found = tuple(each for each in every if each.is_overloaded)
    if len(found) < FEWEST or len(found) < PART * len(every):
        return None
    ran, seconds = sum(each.ran for each in found), sum(each.end - each.begin for each in found)
    others = sum(each.others * (each.end - each.begin) for each in found) / seconds
    share = ran / (ran + sum(each.waited for each in found))
    return Overload(found, seconds, share, others, found[-1].of, _top(found), _slower(run, found))


def _stretch(one: Sample, two: Sample) -> Stretch | None:
    if one.queue is None or two.queue is None or two.others is None:
        return None
    others, begin, end = two.others, one.time, two.time
    ran, waited = (after - before for before, after in zip(one.queue, two.queue, strict=True))
    if not begin < end < begin + 60 or not others.used >= 0.0 or not others.of > 0 or ran < 0 or waited < 0:
        return None  # threads that have ended take their counts with them
    return Stretch(begin, end, ran, waited, others.used, others.of, others.top)


def _top(found: tuple[Stretch, ...]) -> tuple[tuple[str, int, float], ...]:
    """Who used most, over all of these stretches."""
    used: dict[tuple[str, int], float] = {}
    seconds = sum(each.end - each.begin for each in found if each.top)
    for each in found:
        for entry in each.top:
            who = (entry.name or "?", entry.pid)
            used[who] = used.get(who, 0.0) + (entry.cores * (each.end - each.begin) if entry.cores > 0 else 0.0)
    most = sorted(used.items(), key=lambda item: -item[1])[:4]
    return tuple((name, pid, spent / seconds) for (name, pid), spent in most if spent > 0)


def _slower(run: Run, found: tuple[Stretch, ...]) -> float | None:
    """Against the steps outside these stretches; None where there are too few of either."""
    inside: list[float] = []
    outside: list[float] = []
    for step in run.steps:
        if step.duration > 0:
            held_up = any(each.begin < step.time <= each.end for each in found)
            (inside if held_up else outside).append(step.duration)
    if min(len(inside), len(outside)) < FEWEST_STEPS:
        return None
    return statistics.median(inside) / statistics.median(outside)
