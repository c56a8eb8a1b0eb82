"""A sheet of lines that fits the terminal: cut to its size, with or without colour, in ASCII where needed."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from laststep.reports.columns import columns, cut, wrap
from laststep.reports.page import NUMBER_AND_UNIT
from laststep.reports.printing import PLAIN, clean
from laststep.text import BLOCKS, sparkline

LABEL = 11
DIM, BOLD, RED, YELLOW, GREEN, CYAN = "2", "1", "31", "33", "32", "36"
PLAIN_BLOCKS = "_.:-=+*#"
Part = tuple[str, str]


@dataclass
class Row:
    """One line of parts (text, colour). If the screen is too small, rows with the highest rank are dropped first."""

    parts: Sequence[Part] = ()
    rank: int = 0


@dataclass
class Sheet:
    """Rows, and what the terminal can show."""

    width: int = 80
    height: int = 24
    colour: bool = False
    ascii: bool = False
    rows: list[Row] = field(default_factory=list)

    def add(self, *parts: Part, rank: int = 0) -> None:
        self.rows.append(Row(parts, rank))

    def label(self, name: str, *parts: Part, rank: int = 0) -> None:
        self.add((f"{name:{LABEL}}", DIM), *parts, rank=rank)

    @property
    def room(self) -> int:
        """Columns beside the labels."""
        return self.width - LABEL

    def lines(self) -> list[str]:
        rows = list(self.rows)
        while len(rows) > self.height and len(rows) > 1:
            highest = max(row.rank for row in rows)
            rows.remove(next(row for row in reversed(rows) if row.rank == highest))
        return [self._draw(row.parts) for row in rows]

    def _draw(self, parts: Sequence[Part]) -> str:
        room, drawn = self.width, ""
        for text, colour in parts:
            text = cut(self.plain(text), room, "~" if self.ascii else "…")
            room -= columns(text)
            drawn += f"\x1b[{colour}m{text}\x1b[0m" if self.colour and colour and text.strip() else text
        return drawn.rstrip()

    def plain(self, text: str) -> str:
        """One line without control characters, in ASCII where the terminal shows nothing else."""
        text = clean(text.replace("\n", " "))
        text = "".join(char for char in text if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))
        return text.translate(PLAIN).encode("ascii", "replace").decode() if self.ascii else text


def wrapped(text: str, width: int) -> list[str]:
    """Lines of a sentence; a number stays on one line with its unit."""
    whole = NUMBER_AND_UNIT.sub("\\1\u00a0\\2", clean(text).replace("\n", " "))
    return [line.replace("\u00a0", " ") for line in wrap(whole, max(20, width))]


def curve(points: Sequence[float], width: int, top: float | None = None, ascii: bool = False) -> str:
    """A sparkline from the lowest to the highest value; with `top`, from 0 to there, and peaks are kept."""
    if len(points) < 3:
        return ""
    if len(points) > width:
        edges = [round(i * len(points) / width) for i in range(width + 1)]
        pools = [points[a:b] for a, b in itertools.pairwise(edges)]
        points = [max(pool) if top else sum(pool) / len(pool) for pool in pools]
    blocks = PLAIN_BLOCKS if ascii else BLOCKS
    if top:
        return "".join(blocks[max(0, min(7, int(point / top * 7.99)))] for point in points)
    drawn = sparkline(points, width)
    return drawn.translate(str.maketrans(BLOCKS, blocks))
