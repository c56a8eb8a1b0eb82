"""Take memory in a certain way until the limit of its group kills it, or for some seconds: leak.py SHAPE MB SECONDS."""

from __future__ import annotations

import collections
import math
import os
import random
import sys
import time
from collections.abc import Callable

import laststep

STEP = 0.05  # seconds
kept: list[object] = []
second: list[object] = []
losses: list[float] = []
last: collections.deque[object] = collections.deque(maxlen=200)
noise = random.Random(7)


def piece(megabytes: float) -> bytes:
    return os.urandom(256) * max(1, int(megabytes * 1e6 / 256))


class Cycle:
    """Garbage that only Python's collector frees."""

    def __init__(self, megabytes: float) -> None:
        self.me = self
        self.data = piece(megabytes)


class Trainer:
    def __init__(self) -> None:
        self.history: dict[str, list[object]] = {"loss": [], "batch": []}


def collector() -> Callable[[object], None]:
    inside: list[object] = []
    return inside.append


trainer = Trainer()
into_closure = collector()


def into_default(item: object, box: list[object] = []) -> None:  # noqa: B006 - the mistake that it is about
    box.append(item)


def every(number: int, steps: int) -> bool:
    return number % steps == 0


def tooth(number: int, size: float) -> None:
    """A temporary heap that grows for some seconds and goes."""
    last.append(piece(size)) if number % 160 else last.clear()


def ramp(number: int, size: float) -> None:
    """A warming up that takes a fifth of the way and slows down, on top of the leak."""
    kept.append(piece(size))
    second.append(piece(1.5 * size * math.exp(-number / 250)))


# Each gets the number of the step and the megabytes that make up one step.
LEAKS: dict[str, Callable[[int, float], object]] = {
    "list": lambda n, size: kept.append(piece(size)),
    "attribute": lambda n, size: trainer.history["batch"].append(piece(size)),
    "closure": lambda n, size: into_closure(piece(size)),
    "default": lambda n, size: into_default(piece(size)),
    "bursts": lambda n, size: kept.append(piece(60 * size)) if every(n, 60) else None,
    "noisy": lambda n, size: kept.append(piece(size * noise.choice((0.1, 0.4, 1, 2.5)))),
    "ramp": ramp,
    "teeth": lambda n, size: (kept.append(piece(size)), tooth(n, size)),
    "bumps": lambda n, size: (kept.append(piece(size)), bump(n, size)),
    "garbage": lambda n, size: (kept.append(piece(size)), Cycle(size / 2)),
    "two": lambda n, size: (kept.append(piece(0.7 * size)), second.append(piece(0.3 * size))),
    "pauses": lambda n, size: (kept.append(piece(size)), time.sleep(3) if every(n, 200) else None),
}


def bump(number: int, size: float) -> None:
    """A validation, now and then: twenty steps' memory for a second."""
    if every(number, 180):
        held = piece(60 * size)
        time.sleep(1)
        del held


HEALTHY: dict[str, Callable[[int, float], object]] = {
    "flat": lambda n, size: piece(size),
    "floats": lambda n, size: losses.extend([float(n)] * 10),
    "last ones": lambda n, size: last.append(piece(size)),
    "teeth alone": lambda n, size: tooth(n, size),
    "garbage alone": lambda n, size: Cycle(size),
    "bumps alone": lambda n, size: bump(n, size),
    "fills up": lambda n, size: kept.append(piece(size)) if n < 400 else None,
    "slows down": lambda n, size: kept.append(piece(4 * size * math.exp(-n / 150))),
    "steps twice": lambda n, size: kept.append(piece(150 * size)) if n in (100, 700) else None,
    "up and down": lambda n, size: kept.append(piece(size)) if math.sin(n / 90) > 0 else kept and kept.pop(),
    "cache": lambda n, size: cached(n, size),
    "random": lambda n, size: kept.append(piece(size)) if noise.random() < 0.5 or not kept else kept.pop(),
}
cache: dict[int, object] = {}


def cached(number: int, size: float) -> None:
    if number < 500:
        cache[number] = piece(size)


if __name__ == "__main__":
    take = {**LEAKS, **HEALTHY}[sys.argv[1]]
    size, end = float(sys.argv[2]), time.time() + float(sys.argv[3])
    number = 0
    while time.time() < end:
        number += 1
        take(number, size)
        laststep.step(loss=1.0)
        time.sleep(STEP)
