"""A page of lines: wrapped to the width of a terminal, with or without colour."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from laststep.reports.columns import columns, cut, wrap
from laststep.reports.printing import clean

NUMBER_AND_UNIT = re.compile(r"(\d) (s|min|h|days|B|KB|MB|GB)\b")  # kept on one line


@dataclass
class Page:
    """Lines, wrapped to the width, with or without colour."""

    width: int = 80
    colour: bool = False
    cwd: str = ""  # paths below it are shown relative to it
    lines: list[str] = field(default_factory=list)

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def heading(self, text: str, right: str = "") -> None:
        self.blank()
        gap = " " * max(2, self.width - columns(text) - columns(right)) if right else ""
        self.line((text, "1"), (gap, ""), (right, "2"))

    def relative(self, text: str) -> str:
        return text.replace(self.cwd.rstrip("/") + "/", "") if len(self.cwd) > 1 else text

    def text(self, text: str, first: str = "  ", rest: str = "  ") -> None:
        """One paragraph, without control characters."""
        for line in NUMBER_AND_UNIT.sub("\\1\u00a0\\2", clean(self.relative(text))).splitlines() or [""]:
            wrapped = wrap(line, self.width - 1, first, rest)
            self.lines += [line.replace("\u00a0", " ") for line in wrapped] or [""]
            first = rest

    def item(self, text: str) -> None:
        self.text(text, "  · ", "    ")

    def line(self, *parts: tuple[str, str]) -> None:
        """One line of (text, colour) parts, cut at the page's edge."""
        room = self.width
        painted = ""
        for text, code in parts:
            text = cut(clean(text).replace("\n", " "), room)
            room -= columns(text)
            painted += self.paint(text, code) if code else text
        self.lines.append(painted)

    def __str__(self) -> str:
        return "\n".join(self.lines).rstrip() + "\n"
