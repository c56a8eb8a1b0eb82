"""Whether other processes keep the cores busy: how much of the CPU time that it could use the run got, by sample."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass

from laststep.record.run import Run
from laststep.record.sample import OtherProcess, Sample

MAX_CPU_SHARE = 0.5  # of the CPU time that it could use: it got less than this
MIN_OTHERS_SHARE = 0.75  # of the cores that it may use, in use by others
MIN_WANTED_CORES = 0.2  # a run that can use less is not slowed down
MIN_INTERVALS = 3  # of about five seconds each
MIN_INTERVAL_SHARE = 0.4  # of all intervals: less is a burst
MAX_INTERVAL_SECONDS = 60
MIN_STEPS = 5  # on either side, to compare step times
MAX_NAMED_PROCESSES = 4


@dataclass(frozen=True)
class Interval:
    """The time between two samples."""

    begin: float
    end: float
    ran: float  # CPU seconds of the run's main process
    waited: float  # seconds in which its threads were ready to run and had no core
    others: float  # cores in use by other processes
    of: float  # cores that the run may use
    top: tuple[OtherProcess, ...]

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    @property
    def is_overloaded(self) -> bool:
        wanted = self.ran + self.waited
        return (
            self.others >= MIN_OTHERS_SHARE * self.of > 0.0
            and self.ran < MAX_CPU_SHARE * wanted
            and wanted > MIN_WANTED_CORES * self.seconds
        )


@dataclass(frozen=True)
class Overload:
    """Other processes kept the cores busy for a good part of the run."""

    intervals: tuple[Interval, ...]
    seconds: float
    share: float  # of the CPU time that it could use
    others: float  # cores, on average
    of: float
    top: tuple[tuple[str, int, float], ...]  # name, pid, cores
    slowdown: float | None  # step time in these intervals over step time outside; None: too few steps


def intervals_of(run: Run) -> list[Interval]:
    known = [sample for sample in run.samples if sample.queue is not None]
    return [found for one, two in itertools.pairwise(known) if (found := _interval(one, two)) is not None]


def overload_of(run: Run) -> Overload | None:
    every = intervals_of(run)
    found = tuple(each for each in every if each.is_overloaded)
    if len(found) < MIN_INTERVALS or len(found) < MIN_INTERVAL_SHARE * len(every):
        return None
    ran, seconds = sum(each.ran for each in found), sum(each.seconds for each in found)
    others = sum(each.others * each.seconds for each in found) / seconds
    share = ran / (ran + sum(each.waited for each in found))
    return Overload(found, seconds, share, others, found[-1].of, _top(found), _slowdown(run, found))


def _interval(one: Sample, two: Sample) -> Interval | None:
    if one.queue is None or two.queue is None or two.others is None:
        return None
    others, begin, end = two.others, one.time, two.time
    ran, waited = (after - before for before, after in zip(one.queue, two.queue, strict=True))
    in_order = begin < end < begin + MAX_INTERVAL_SECONDS
    if not in_order or not others.used >= 0.0 or not others.of > 0 or ran < 0 or waited < 0:
        return None  # threads that have ended take their counts with them
    return Interval(begin, end, ran, waited, others.used, others.of, others.top)


def _top(found: tuple[Interval, ...]) -> tuple[tuple[str, int, float], ...]:
    """The processes that used most, over all of these intervals."""
    used: dict[tuple[str, int], float] = {}
    seconds = sum(each.seconds for each in found if each.top)
    for each in found:
        for process in each.top:
            who = (process.name or "?", process.pid)
            used[who] = used.get(who, 0.0) + (process.cores * each.seconds if process.cores > 0 else 0.0)
    most = sorted(used.items(), key=lambda item: -item[1])[:MAX_NAMED_PROCESSES]
    return tuple((name, pid, spent / seconds) for (name, pid), spent in most if spent > 0)


def _slowdown(run: Run, found: tuple[Interval, ...]) -> float | None:
    inside: list[float] = []
    outside: list[float] = []
    for step in run.steps:
        if step.duration > 0:
            overloaded = any(each.begin < step.time <= each.end for each in found)
            (inside if overloaded else outside).append(step.duration)
    if min(len(inside), len(outside)) < MIN_STEPS:
        return None
    return statistics.median(inside) / statistics.median(outside)
