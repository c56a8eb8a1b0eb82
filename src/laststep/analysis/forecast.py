"""When something runs out if it goes on like this: a robust slope through the lows, and what room is left."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from laststep.record.sample import Sample

BLOCKS = 8
FEW_BLOCKS = 5
WINDOW = 2 / 3  # of the history, its latest part: what rises at first and then settles has settled there
FEWEST = 12  # points
SHORTEST = 8.0  # seconds
KEEPS_ON = 0.6  # the later slope, as a part of the earlier one
SLOWER = 0.85  # the same: below it the earlier half is left out of the slope
ABOVE_TEETH = 0.3  # of the height of the teeth: the lows must rise by more than that
SPREAD = 2.5  # between the steeper and the flatter of the slopes, for a forecast to be sound
FARTHEST = 19.0  # times what has been watched: a forecast reaches no farther


class Point(NamedTuple):
    """How much there was of something, and at which step."""

    time: float
    value: float
    step: int = 0


class Trend(NamedTuple):
    """A line through the lows of the last two thirds of a history."""

    slope: float  # per second
    flat: float  # the flatter and the steeper of the slopes between two lows: how far off the slope may be
    steep: float
    line: float  # where the line is at the last point
    above: float  # how far the highs are above it
    rise: float  # over the whole history, along the lows
    seconds: float  # that the history lasts
    pace: float  # steps per second
    is_steady: bool

    @property
    def per_step(self) -> float:
        return self.slope / self.pace if self.pace else 0.0


class Forecast(NamedTuple):
    """What is left until it runs out."""

    seconds: float
    soonest: float
    latest: float
    step: int | None  # at which it does
    way: float  # how much of the way from the start to the end is done, 0 to 1


def trend(points: Sequence[Point], marks: Sequence[float] = ()) -> Trend | None:
    """None with too little to say. `marks` are the ends of epochs: what grows by epochs is compared by epochs."""
    if len(points) < FEWEST or points[-1].time - points[0].time < SHORTEST:
        return None
    fine = _trend(points, marks, BLOCKS)
    if fine is not None and fine.is_steady:
        return fine
    return _trend(points, marks, FEW_BLOCKS) or fine  # teeth longer than an eighth hide what is below them


def _trend(points: Sequence[Point], marks: Sequence[float], blocks: int) -> Trend | None:
    begin = points[-1].time - WINDOW * (points[-1].time - points[0].time)
    late = [point for point in points if point.time >= begin]
    lows = [min(block, key=lambda point: point.value) for block in _blocks(late, marks, blocks)]
    if len(lows) < blocks - 2:
        return None
    slopes = sorted(_slopes(_straight(lows), apart=3))
    slope = _median(slopes)
    base = _median(sorted(point.value - slope * point.time for point in _straight(lows)))
    above = max(point.value - (base + slope * point.time) for point in late)
    seconds = late[-1].time - late[0].time
    return Trend(
        slope,
        slopes[len(slopes) // 8],
        slopes[-1 - len(slopes) // 8],
        base + slope * points[-1].time,
        max(0.0, above),
        lows[-1].value - min(point.value for point in points[: max(3, len(points) // 12)]),
        points[-1].time - points[0].time,
        (late[-1].step - late[0].step) / seconds if seconds else 0.0,
        _is_steady(lows) and lows[-1].value - lows[0].value > ABOVE_TEETH * above,
    )


def _blocks(points: Sequence[Point], marks: Sequence[float], blocks: int) -> list[list[Point]]:
    """Spans of time of the same length; whole epochs where there are enough of them."""
    begin, end = points[0].time, points[-1].time
    inner = [mark for mark in marks if begin <= mark <= end]
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
        found = found[1:-1]  # the parts of an epoch at both ends
    return [block for block in found if block]


def _straight(lows: Sequence[Point]) -> Sequence[Point]:
    """The later lows alone where the rise has slowed down: the rest still belongs to the warming up."""
    earlier, later = _halves(lows)
    return lows[-5:] if len(lows) > 5 and later < SLOWER * earlier else lows


def _slopes(lows: Sequence[Point], apart: int = 1) -> list[float]:
    pairs = [(a, b) for n, a in enumerate(lows) for b in lows[n + apart :] if b.time > a.time]
    return [(b.value - a.value) / (b.time - a.time) for a, b in pairs] or [0.0]


def _halves(lows: Sequence[Point]) -> tuple[float, float]:
    """The slope of the earlier half and that of the later one."""
    half = len(lows) // 2
    return _median(sorted(_slopes(lows[: half + 1]))), _median(sorted(_slopes(lows[half:])))


def _is_steady(lows: Sequence[Point]) -> bool:
    rises = sum(b.value > a.value for a, b in itertools.pairwise(lows))
    earlier, later = _halves(lows)
    return rises >= max(4, len(lows) - 2) and later > 0 and later >= KEEPS_ON * earlier


def _median(values: Sequence[float]) -> float:
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def foretell(found: Trend, last: Point, room: float) -> Forecast | None:
    """None where it does not rise steadily, or where the end is too far off to be told from what was seen."""
    if not found.is_steady or found.slope <= 0:
        return None
    left = max(0.0, last.value + room - found.line - found.above)
    seconds = left / found.slope
    if seconds > FARTHEST * found.seconds or found.steep > SPREAD * max(found.flat, 0.0):
        return None
    step = last.step + round(seconds * found.pace) if found.pace else None
    way = found.rise / (found.rise + left) if found.rise + left > 0 else 1.0
    return Forecast(seconds, left / found.steep, left / found.flat, step, way)


class Room(NamedTuple):
    """How much memory is left, out of what, and whose limit it is."""

    left: float
    limit: float
    whose: str


def room(sample: Sample) -> Room | None:
    """The tighter of the control group's limit and what the machine has available."""
    group, machine, found = sample.group, sample.host, []
    if group is not None and group.limit:
        # File pages that nobody has used for a while are let go when it gets tight.
        used = max(0, group.used - (group.cache or 0))
        found.append(Room(max(0.0, float(group.limit - used)), float(group.limit), "the control group"))
    if machine.total and machine.available is not None:
        found.append(Room(float(machine.available + machine.swap_free), float(machine.total), "the machine"))
    return min(found, default=None)


def memory_points(samples: Sequence[Sample], since: float) -> list[Point]:
    """Memory of the program and its children, from a moment on, as long as training is seen from inside."""
    return [
        Point(sample.time, float(sample.rss), sample.step)
        for sample in samples
        if sample.time >= since and sample.rss and sample.inside
    ]
