"""View → the lines of a live screen, or one plain line: no terminal needed."""

from __future__ import annotations

import itertools
import textwrap
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from laststep.reports import words
from laststep.reports.figures import Gpu, Told, View
from laststep.reports.terminal import NUMBER_AND_UNIT, OUTCOME_COLOURS, clean

LABEL = 11
CURVE_AT = 44  # the column at which curves begin
LEAST_CURVE = 8
MOST_CURVE = 48
MOST_GPUS = 4
MOST_WIDTH = 110
UNKNOWN = "–"
DIM, BOLD, RED, YELLOW, GREEN, CYAN = "2", "1", "31", "33", "32", "36"
PLAIN = str.maketrans("·–−…█░“”’→µ", "|--~#.\"\"'>u", "°")
PLAIN_BLOCKS = "_.:-=+*#"
Part = tuple[str, str]


@dataclass
class Row:
    """One line of parts (text, colour); of those that do not fit the screen, the highest rank goes first."""

    parts: Sequence[Part] = ()
    rank: int = 0


@dataclass
class Sheet:
    """What the terminal can show."""

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
            worst = max(row.rank for row in rows)
            rows.remove(next(row for row in reversed(rows) if row.rank == worst))
        return [self._draw(row.parts) for row in rows]

    def _draw(self, parts: Sequence[Part]) -> str:
        room, drawn = self.width, ""
        for text, colour in parts:
            text = cut(self.plain(text), room, "~" if self.ascii else "…")
            room -= columns(text)
            drawn += f"\x1b[{colour}m{text}\x1b[0m" if self.colour and colour and text.strip() else text
        return drawn.rstrip()

    def plain(self, text: str) -> str:
        """One line, nothing in it that could move the cursor, and only what the terminal can show."""
        text = clean(text.replace("\n", " "))
        text = "".join(char for char in text if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))
        return text.translate(PLAIN).encode("ascii", "replace").decode() if self.ascii else text


def columns(text: str) -> int:
    """How wide a terminal shows it."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(char: str) -> int:
    return 0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")


def cut(text: str, room: int, mark: str = "…") -> str:
    if columns(text) <= room:
        return text
    while text and columns(text) > room - 1:
        text = text[:-1]
    return text + mark if room > 0 else ""


def screen(view: View, sheet: Sheet, keys: str = "q quit · w why") -> list[str]:
    """At most `sheet.height` lines. Without keys it is the last screen, which is left standing."""
    sheet.width = min(sheet.width, MOST_WIDTH)
    _head(view, sheet)
    _progress(view, sheet)
    _steps(view, sheet)
    sheet.add(rank=8)
    _memory(view, sheet)
    for gpu in view.gpus[:MOST_GPUS]:
        sheet.label(f"GPU {gpu.number}", (_gpu(gpu), ""), rank=3)
    if len(view.gpus) > MOST_GPUS:
        sheet.label("", (f"and {len(view.gpus) - MOST_GPUS} more", DIM), rank=6)
    sheet.add(rank=7)
    _findings(view, sheet, sheet.height - len(sheet.rows) - 2)
    _foot(view, sheet, keys)
    return sheet.lines()


def _head(view: View, sheet: Sheet) -> None:
    state, colour = state_of(view)
    _both_ends(sheet, (f"laststep watch · {view.id}", DIM), (state, f"1;{colour}"))
    since = "since " + _clock(view.began, view.at)
    _both_ends(sheet, (view.command or UNKNOWN, BOLD), (since, DIM))
    sheet.add(rank=9)


def _both_ends(sheet: Sheet, left: Part, right: Part) -> None:
    room = sheet.width - columns(right[0]) - 2
    text = cut(sheet.plain(left[0]), room)
    sheet.add((text, left[1]), (" " * (room + 2 - columns(text)), ""), right)


def _clock(moment: float, now: float) -> str:
    """The time of day; with the day where it was another one."""
    same = time.strftime("%x", time.localtime(moment)) == time.strftime("%x", time.localtime(now))
    return time.strftime("%H:%M" if same else "%d %b %H:%M", time.localtime(moment))


def state_of(view: View) -> tuple[str, str]:
    """(how it is in words, colour)"""
    took = words.span(view.seconds)
    if not view.alive:
        verb = {"stopped": "stopped early"}.get(view.outcome, view.outcome)
        return f"{verb} after {took}", OUTCOME_COLOURS.get(view.outcome, CYAN)
    if view.stuck is not None:
        return f"stuck for {words.span(view.stuck)}", RED
    return f"running for {took}", OUTCOME_COLOURS["running"]


def _progress(view: View, sheet: Sheet) -> None:
    sheet.label("Progress", (_fitting(_pieces(view), sheet.room), ""))
    if view.done is not None:
        about = "at least" if view.left_at_least else "about"
        told = f" {view.done:4.0%}" + (f", {about} {words.span(view.left)} left" if view.left is not None else "")
        sheet.label("", *_bar(view.done, min(60, sheet.room - 26), GREEN), (told, ""), rank=1)
    if not view.alive:
        for position, line in enumerate(_wrapped(view.end, sheet.room)[:2]):
            sheet.label("" if position else "End", (line, ""))
        return
    sheet.label("Now", (view.phase, YELLOW if " for data for " in view.phase or ", no " in view.phase else ""), rank=1)


def _pieces(view: View) -> list[str]:
    pieces = [view.fit] if view.fit else []
    if view.epoch is not None:
        pieces.append(f"epoch {view.epoch:,}" + (f" of {view.epochs:,}" if view.epochs else ""))
    if view.batch is not None:
        pieces.append(f"batch {view.batch:,}" + (f" of {view.batches:,}" if view.batches else ""))
    if view.step is not None:
        pieces.append(f"step {view.step:,}" + (" in all" if view.fit else ""))
    return pieces or [UNKNOWN if view.alive else "no training step was seen"]


def _fitting(pieces: list[str], room: int) -> str:
    """As many as fit, the last ones left out."""
    while len(pieces) > 1 and columns(" · ".join(pieces)) > room:
        pieces = pieces[:-1]
    return " · ".join(pieces)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of a sentence; a number stays with its unit."""
    whole = NUMBER_AND_UNIT.sub("\\1\u00a0\\2", clean(text).replace("\n", " "))
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(whole, width, break_on_hyphens=False)]


def _bar(share: float, width: int, colour: str) -> list[Part]:
    full = round(min(1.0, max(0.0, share)) * max(4, width))
    return [("█" * full, colour), ("░" * (max(4, width) - full), DIM)]


def _steps(view: View, sheet: Sheet) -> None:
    told, slow, top = UNKNOWN, False, None
    if view.step_now is not None and view.step_usual is not None:
        told = f"{short_time(view.step_now)} {'now' if view.alive else 'last'}, {short_time(view.step_usual)} usual"
        slow = view.step_now > 2 * view.step_usual
        top = 3 * view.step_usual  # one huge step, as the first with its tracing, must not press all others flat
    _with_curve(sheet, "Step time", (told, YELLOW if slow else ""), view.step_curve, 2, top)
    share = UNKNOWN
    if view.wait_share is not None:
        share = f"{view.wait_share:.0%} of the last {words.span(view.wait_seconds)}"
    much = view.wait_share is not None and view.wait_share > 0.5
    _with_curve(sheet, "Data wait", (share, YELLOW if much else ""), view.wait_curve, 2, top=1.0)
    wrong = view.loss is not None and view.loss.startswith(("not", "inf"))
    _with_curve(sheet, "Loss", (view.loss or UNKNOWN, RED if wrong else ""), view.loss_curve, 1)
    if view.metrics:
        pieces = [f"{name} {value}" for name, value in view.metrics]
        sheet.label(f"Epoch {view.metrics_epoch}", (_fitting(pieces, sheet.room), ""), rank=4)


def _with_curve(
    sheet: Sheet, name: str, part: Part, points: Sequence[float], rank: int, top: float | None = None
) -> None:
    start = max(min(CURVE_AT, sheet.width // 2 + 4), LABEL + columns(part[0]) + 2)
    width = min(MOST_CURVE, sheet.width - start)
    drawn = curve(points, width, top, sheet.ascii) if width >= LEAST_CURVE else ""
    gap = " " * (start - LABEL - columns(part[0])) if drawn else ""
    sheet.label(name, part, (gap, ""), (drawn, CYAN), rank=rank)


def curve(points: Sequence[float], width: int, top: float | None = None, ascii: bool = False) -> str:
    """Blocks between the lowest and the highest; with a top from zero, and what sticks out is kept."""
    if len(points) < 3:
        return ""
    if len(points) > width:
        edges = [round(i * len(points) / width) for i in range(width + 1)]
        pools = [points[a:b] for a, b in itertools.pairwise(edges)]
        points = [max(pool) if top else sum(pool) / len(pool) for pool in pools]
    blocks = PLAIN_BLOCKS if ascii else words.BLOCKS
    if top:
        return "".join(blocks[max(0, min(7, int(point / top * 7.99)))] for point in points)
    drawn = words.curve(points, width)
    return drawn.translate(str.maketrans(words.BLOCKS, blocks))


def short_time(seconds: float) -> str:
    if seconds >= 1:
        return words.span(seconds)
    return f"{seconds * 1000:.3g} ms" if seconds >= 0.001 else f"{seconds * 1e6:.0f} µs"


def _memory(view: View, sheet: Sheet) -> None:
    pieces = [f"{words.size(view.memory)} for this program" if view.memory is not None else UNKNOWN]
    if view.growth is not None and view.memory:
        steady = abs(view.growth) < max(8e6, 0.01 * view.memory)
        over, change = words.span(view.growth_seconds), words.size(abs(view.growth))
        sign = "+" if view.growth > 0 else "−"
        pieces.append(f"steady for {over}" if steady else f"{sign}{change} in {over}")
    if view.alive and view.measured_ago > 15:
        pieces.append(f"measured {words.span(view.measured_ago)} ago")
    sheet.label("Memory", (_fitting(pieces, sheet.room), ""))
    if view.taken is not None and view.limit:
        share = view.taken / view.limit
        colour = RED if share > 0.9 else YELLOW if share > 0.75 else GREEN
        whose = "its limit of " if view.limit_of == "limit" else "the machine's "
        told = f" {share:4.0%}, {_of(view.taken, view.limit, whose)}"
        sheet.label("", *_bar(share, min(60, sheet.room - columns(told) - 1), colour), (told, ""), rank=2)
    for line in _wrapped(view.forecast, sheet.room)[:2]:
        sheet.label("", (line, YELLOW), rank=1)
    used = UNKNOWN if view.cpu is None else f"{view.cpu:.1f}" if view.cpu >= 0.05 else "hardly any"
    sheet.label("Processor", (f"{used} of {view.cores:g} cores" if view.cores else f"{used} cores", ""), rank=5)


def _of(used: float, total: float, whose: str = "") -> str:
    """3.1 of the machine's 8.0 GB"""
    first, second = words.size(used), words.size(total)
    first = first.split()[0] if first.split()[1] == second.split()[1] else first
    return f"{first} of {whose}{second}"


def _gpu(gpu: Gpu) -> str:
    pieces = [f"{gpu.busy:.0f} % busy" if gpu.busy is not None else UNKNOWN]
    if gpu.used is not None and gpu.total is not None:
        pieces.append(f"{_of(gpu.used, gpu.total)} of its memory")
    if gpu.celsius is not None:
        pieces.append(f"{gpu.celsius:.0f} °C")
    return " · ".join(pieces)


def _findings(view: View, sheet: Sheet, room: int) -> None:
    """As many as there is room for, the first of them in full."""
    if not view.findings:
        sheet.add(("Nothing found so far" if view.alive else "Nothing to report", DIM), rank=1)
        return
    for position, told in enumerate(view.findings):
        left = len(view.findings) - position
        if room < 2 and position:
            sheet.add((f"and {left} more", YELLOW), rank=0)
            return
        lines = _told(told, sheet)[: max(2, room - (left > 1))]
        for at, line in enumerate(lines):
            sheet.add(*line, rank=0 if at < 2 else 1)
        room -= len(lines)


def _told(told: Told, sheet: Sheet) -> list[list[Part]]:
    where = f"  {told.where}" if told.where else ""
    head = [(told.rule, f"1;{YELLOW}"), (f"  {told.confidence}", DIM), (where, CYAN)]
    return [head, *([("  " + line, "")] for line in _wrapped(told.cause, sheet.width - 2)[:3])]


def _foot(view: View, sheet: Sheet, keys: str) -> None:
    if keys:
        while len(sheet.rows) < sheet.height - 1:
            sheet.add()
        seen = "at " + time.strftime("%H:%M:%S", time.localtime(view.at))
        _both_ends(sheet, (keys, DIM), (seen, DIM))
    elif view.findings or view.outcome not in ("finished", "running"):
        sheet.add()
        sheet.add((f"More: laststep why {view.id}", DIM))


def line(view: View, sheet: Sheet) -> str:
    """All of it in one line that can be read alone and searched: name=value, - for what is not known."""
    state = "stuck" if view.stuck is not None else "running" if view.alive else view.outcome
    told = {
        "epoch": _pair(view.epoch, view.epochs),
        "batch": _pair(view.batch, view.batches),
        "step": "-" if view.step is None else str(view.step),
        "step_time": "-" if view.step_now is None else short_time(view.step_now),
        "data_wait": "-" if view.wait_share is None else f"{view.wait_share:.0%}",
        "loss": "-" if view.loss is None else _one_word(view.loss),
        "memory": "-" if view.memory is None else words.size(view.memory),
        "of_limit" if view.limit_of == "limit" else "of_machine": _share(view.taken, view.limit),
        "cpu": "-" if view.cpu is None else f"{view.cpu:.1f}",
        **{f"gpu{gpu.number}": "-" if gpu.busy is None else f"{gpu.busy:.0f}%" for gpu in view.gpus},
        "left": "-" if view.left is None else words.span(view.left),
    }
    pairs = " ".join(f"{name}={value.replace(' ', '')}" for name, value in told.items() if view.alive or value != "-")
    now = f' now="{view.phase}"' if view.alive else ""
    return sheet.plain(f"{stamp(view.at)} {view.id} {state} {pairs}{now}")


def stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(moment))


def _pair(value: int | None, of: int | None) -> str:
    if value is None:
        return "-"
    return f"{value}/{of}" if of else str(value)


def _one_word(loss: str) -> str:
    return {"not": "nan", "infinite;": "inf"}.get(loss.split()[0], loss.split()[0])


def _share(used: float | None, of: float | None) -> str:
    return "-" if used is None or not of else f"{used / of:.0%}"


def finding_line(view: View, told: Told, sheet: Sheet) -> str:
    where = f" {told.where}" if told.where else ""
    return sheet.plain(f"{stamp(view.at)} {view.id} finding {told.rule} {told.confidence}{where}: {told.cause}")


def end_line(view: View, sheet: Sheet) -> str:
    return sheet.plain(f"{stamp(view.at)} {view.id} end {view.outcome}: {view.end}")
