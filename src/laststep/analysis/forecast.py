"""A Theil–Sen trend through the minima of a series, and a projection of when its headroom is used up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from laststep.record.events.supervisor import Forecast
from laststep.record.sample import Sample
from laststep.text import format_duration, format_place, format_size

FINE_BLOCKS, COARSE_BLOCKS = 8, 5  # into which a history is cut; the trend goes through the minimum of each
MIN_BLOCK_DISTANCE = 3  # between two minima whose slope counts
LATE_SHARE = 2 / 3  # of the history is used, its latest part: what rises at first and then settles has settled there
MIN_POINTS = 12
MIN_SECONDS = 8.0
MIN_SLOPE_RATIO = 0.6  # of the later half to the earlier half, for a steady rise
WARM_UP_SLOPE_RATIO = 0.85  # the same: below it the earlier half is taken for the warm-up and left out of the slope
MIN_RISE_SHARE = 0.3  # of the sawtooth's amplitude: the minima must rise by more
MAX_SLOPE_SPREAD = 2.5  # ratio of the steep to the flat slope up to which a projection is made
MAX_HORIZON = 19.0  # times the observed time: no projection reaches farther


class Point(NamedTuple):
    """A measured value, and the training step at that time."""

    time: float
    value: float
    step: int = 0


class Trend(NamedTuple):
    """A line through the minima of the late part of a history."""

    slope: float  # per second: the median of the slopes between two minima (Theil–Sen)
    flat_slope: float  # an eighth of those slopes is smaller
    steep_slope: float  # an eighth is larger
    level: float  # of the line at the last point
    amplitude: float  # how far the peaks rise above the line
    rise: float  # of the minima over the whole history
    seconds: float  # that the history lasts
    steps_per_second: float
    is_steady: bool

    @property
    def per_step(self) -> float:
        return self.slope / self.steps_per_second if self.steps_per_second else 0.0


class Projection(NamedTuple):
    """When the headroom is used up if the trend continues."""

    seconds: float  # from the last point
    soonest: float
    latest: float
    step: int | None  # at which it is used up; None where steps are not counted
    used_share: float  # of the headroom at the start of the history


def fit_trend(points: Sequence[Point], epoch_ends: Sequence[float] = ()) -> Trend | None:
    """None with too few points. What grows once per epoch is compared epoch by epoch."""
    if len(points) < MIN_POINTS or points[-1].time - points[0].time < MIN_SECONDS:
        return None
    fine = _fit(points, epoch_ends, FINE_BLOCKS)
    if fine is not None and fine.is_steady:
        return fine
    return _fit(points, epoch_ends, COARSE_BLOCKS) or fine  # a sawtooth longer than a fine block hides the rise


def _fit(points: Sequence[Point], epoch_ends: Sequence[float], blocks: int) -> Trend | None:
    begin = points[-1].time - LATE_SHARE * (points[-1].time - points[0].time)
    late = [point for point in points if point.time >= begin]
    minima = [min(block, key=lambda point: point.value) for block in _blocks(late, epoch_ends, blocks)]
    if len(minima) < blocks - 2:
        return None
    slopes = sorted(_slopes(_without_warm_up(minima), MIN_BLOCK_DISTANCE))
    slope = _median(slopes)
    base = _median(sorted(point.value - slope * point.time for point in _without_warm_up(minima)))
    amplitude = max(point.value - (base + slope * point.time) for point in late)
    seconds = late[-1].time - late[0].time
    return Trend(
        slope=slope,
        flat_slope=slopes[len(slopes) // 8],
        steep_slope=slopes[-1 - len(slopes) // 8],
        level=base + slope * points[-1].time,
        amplitude=max(0.0, amplitude),
        rise=minima[-1].value - min(point.value for point in points[: max(3, len(points) // 12)]),
        seconds=points[-1].time - points[0].time,
        steps_per_second=(late[-1].step - late[0].step) / seconds if seconds else 0.0,
        is_steady=_is_steady(minima) and minima[-1].value - minima[0].value > MIN_RISE_SHARE * amplitude,
    )


def _blocks(points: Sequence[Point], epoch_ends: Sequence[float], blocks: int) -> list[list[Point]]:
    """Equal spans of time; whole epochs where there are enough of them."""
    begin, end = points[0].time, points[-1].time
    inner = [time for time in epoch_ends if begin <= time <= end]
    by_epochs = len(inner) >= blocks - 1
    if by_epochs:
        size = (len(inner) - 1) / (blocks - 1)
        edges = [inner[round(number * size)] for number in range(blocks)] if size >= 1 else inner
    else:
        edges = [begin + (end - begin) * number / blocks for number in range(blocks + 1)]
    found: list[list[Point]] = [[] for _ in range(len(edges) + 1)]
    at = 0
    for point in points:
        while at < len(edges) and point.time >= edges[at]:
            at += 1
        found[at].append(point)
    if not by_epochs:
        found[-2].extend(found.pop())  # the very last point lies on the last edge
    else:
        found = found[1:-1]  # without the incomplete epochs at both ends
    return [block for block in found if block]


def _without_warm_up(minima: Sequence[Point]) -> Sequence[Point]:
    """The later minima alone where the rise has slowed down."""
    earlier, later = _slopes_of_halves(minima)
    return minima[-5:] if len(minima) > 5 and later < WARM_UP_SLOPE_RATIO * earlier else minima


def _slopes(minima: Sequence[Point], min_distance: int = 1) -> list[float]:
    pairs = [(a, b) for n, a in enumerate(minima) for b in minima[n + min_distance :] if b.time > a.time]
    return [(b.value - a.value) / (b.time - a.time) for a, b in pairs] or [0.0]


def _slopes_of_halves(minima: Sequence[Point]) -> tuple[float, float]:
    half = len(minima) // 2
    return _median(sorted(_slopes(minima[: half + 1]))), _median(sorted(_slopes(minima[half:])))


def _is_steady(minima: Sequence[Point]) -> bool:
    rises = sum(b.value > a.value for a, b in itertools.pairwise(minima))
    earlier, later = _slopes_of_halves(minima)
    return rises >= max(4, len(minima) - 2) and later > 0 and later >= MIN_SLOPE_RATIO * earlier


def _median(values: Sequence[float]) -> float:
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def project(trend: Trend, last: Point, headroom: float) -> Projection | None:
    """None where the rise is not steady, or where the end is too far off for what was observed."""
    if not trend.is_steady or trend.slope <= 0:
        return None
    left = max(0.0, last.value + headroom - trend.level - trend.amplitude)
    seconds = left / trend.slope
    is_uncertain = trend.steep_slope > MAX_SLOPE_SPREAD * max(trend.flat_slope, 0.0)
    if seconds > MAX_HORIZON * trend.seconds or is_uncertain:
        return None
    step = last.step + round(seconds * trend.steps_per_second) if trend.steps_per_second else None
    used_share = trend.rise / (trend.rise + left) if trend.rise + left > 0 else 1.0
    return Projection(seconds, left / trend.steep_slope, left / trend.flat_slope, step, used_share)


class Headroom(NamedTuple):
    """How many bytes of memory are left, of which limit, and whose limit that is."""

    left: float
    limit: float
    whose: str

    @property
    def text(self) -> str:
        return _limit(self.limit, self.whose)


def headroom_in(sample: Sample) -> Headroom | None:
    """The smaller of what the control group's limit leaves and what the machine has available."""
    group, machine, found = sample.group, sample.host, []
    if group is not None and group.limit:
        used = max(0, group.used - (group.cache or 0))  # the kernel drops inactive file pages when memory gets short
        found.append(Headroom(max(0.0, float(group.limit - used)), float(group.limit), "the control group"))
    if machine.total and machine.available is not None:
        found.append(Headroom(float(machine.available + machine.swap_free), float(machine.total), "the machine"))
    return min(found, default=None)


def memory_points(samples: Sequence[Sample], since: float) -> list[Point]:
    """Memory of the process and its descendants, while the recorder reports training."""
    return [
        Point(sample.time, float(sample.rss), sample.step)
        for sample in samples
        if sample.time >= since and sample.rss and sample.inside
    ]


def exhaustion(seconds: float, step: int | None, *details: str) -> str:
    """As in: memory runs out in about 3 min, at step ≈ 1,200 (limit 4.0 GB of the control group)."""
    at = f", at step ≈ {step:,}" if step else ""
    shown = f" ({'; '.join(details)})" if details else ""
    return f"memory runs out in about {format_duration(seconds)}{at}{shown}"


def _limit(limit: float, whose: str) -> str:
    return f"limit {format_size(limit)} of {whose}"


def forecast_sentence(event: Forecast, now: float | None = None) -> str:
    """What a recorded forecast says, at its own time or at `now`; empty where it says nothing."""
    if event.seconds is None or not math.isfinite(event.seconds):
        return ""
    left = event.seconds - (now - event.time if now is not None else 0.0)
    details = [_limit(event.limit, event.whose)] if event.limit and event.whose else []
    said = exhaustion(left, event.step, *details) if left > 0 else "memory may run out at any moment"
    if not event.keeps:
        return said
    where = f" ({format_place(event.where).rpartition('/')[2]})" if event.where else ""
    return f"{said}; {event.keeps}{where} keeps growing"
