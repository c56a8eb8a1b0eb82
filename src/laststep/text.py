"""Numbers, sizes, durations and places as people read them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from typing import Any, Protocol

ERRNO = {"ENOSPC": "no space left on the disk", "EDQUOT": "disk quota used up", "EBADF": "its file was closed"}
BLOCKS = "▁▂▃▄▅▆▇█"


class SourceLine(Protocol):
    """A line of source: a place, a frame of a stack."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...


def format_size(size_bytes: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size_bytes < 1000:
            return f"{size_bytes:.0f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} GB"


def format_duration(seconds: float) -> str:
    seconds = max(0.0, seconds)  # a clock may be set back
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def format_short_duration(seconds: float) -> str:
    """For durations that may be very short: 12 µs, 4.2 ms, 3.1 s."""
    for unit, length in (("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * length:
            return f"{seconds / length:.{0 if unit == 'µs' or seconds >= 9.95 * length else 1}f} {unit}"
    return format_duration(seconds)


def format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_value(number: Any) -> str:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return str(number)
    return f"{number:,}" if isinstance(number, int) else f"{number:.4g}"


def format_place(where: SourceLine | None, cwd: str | None = None) -> str:
    """train.py:41; the path is relative to `cwd` if it lies below it."""
    return _place(where.file, where.line, cwd) if where is not None else ""


def _place(file: str, line: int | None, cwd: str | None) -> str:
    file = re.sub(r"^.*/(?:site|dist)-packages/", "", file)
    if cwd and file.startswith(cwd.rstrip(os.sep) + os.sep):
        file = os.path.relpath(file, cwd)
    return f"{file}:{line}" if line else file


def sparkline(values: Iterable[float], width: int = 32) -> str:
    """A small curve of block characters; logarithmic if the values span three orders of magnitude."""
    points = [point for point in values if point == point and abs(point) != float("inf")]
    if len(points) < 3:
        return ""
    if len(points) > width:
        points = [points[round(i * (len(points) - 1) / (width - 1))] for i in range(width)]
    if min(points) > 0 and max(points) > 1000 * min(points):
        points = [math.log(point) for point in points]
    low, high = min(points), max(points)
    spread = (high - low) or 1.0
    return "".join(BLOCKS[min(7, int((point - low) / spread * 8))] for point in points)
