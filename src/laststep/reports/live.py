"""View → the lines of a live screen: no terminal needed."""

from __future__ import annotations

import time
from collections.abc import Sequence

from laststep.reports.columns import columns, cut
from laststep.reports.figures import OLD, Gpu, Told, View
from laststep.reports.sheet import BOLD, CYAN, DIM, GREEN, LABEL, RED, YELLOW, Part, Sheet, curve, wrapped
from laststep.reports.terminal import OUTCOME_COLOURS
from laststep.text import format_duration, format_short_duration, format_size

CURVE_AT = 44  # the column at which curves begin
LEAST_CURVE = 8
MOST_CURVE = 48
MOST_GPUS = 2  # with more of them, the least and the most
MOST_WIDTH = 110
GIVES_WAY = 5  # rows from this rank on leave their place to findings
UNKNOWN = "–"


def screen(view: View, sheet: Sheet, keys: str = "q quit · w why") -> list[str]:
    """At most `sheet.height` lines. Without keys it is the last screen, which is left standing."""
    sheet.width = min(sheet.width, MOST_WIDTH)
    _head(view, sheet)
    _progress(view, sheet)
    _steps(view, sheet)
    sheet.add(rank=8)
    _memory(view, sheet)
    _gpus(view, sheet)
    sheet.add(rank=4)
    _findings(view, sheet)
    _foot(view, sheet, keys)
    return sheet.lines()


def _head(view: View, sheet: Sheet) -> None:
    state, colour = state_of(view)
    _both_ends(sheet, (f"laststep watch · {view.id}", DIM), (state, f"1;{colour}"))
    since = f"since {_clock(view.began, view.at)}" if view.alive else f"began {_clock(view.began, 0.0)}"
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
    took = _whole(view.seconds)
    if not view.alive:
        verb = {"stopped": "stopped early"}.get(view.outcome, view.outcome)
        return f"{verb} after {took}", OUTCOME_COLOURS.get(view.outcome, CYAN)
    if view.stuck is not None:
        return f"stuck for {format_duration(view.stuck)}", RED
    return f"running for {took}", OUTCOME_COLOURS["running"]


def _progress(view: View, sheet: Sheet) -> None:
    sheet.label("Progress", (_fitting(_pieces(view), sheet.room), ""))
    if view.done is not None:
        about = "at least" if view.left_at_least else "about"
        told = f" {view.done:4.0%}" + (f", {about} {format_duration(view.left)} left" if view.left is not None else "")
        sheet.label("", *_bar(view.done, _beside(told, sheet), GREEN), (told, ""), rank=1)
    if not view.alive:
        for position, line in enumerate(wrapped(view.end, sheet.room)[:2]):
            sheet.label("" if position else "End", (line, ""))
        return
    strange = " for data for " in view.phase or ", no " in view.phase
    sheet.label("Now", (view.phase or UNKNOWN, YELLOW if strange else ""), rank=1)


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


def _beside(told: str, sheet: Sheet) -> int:
    """How long a bar may be; two bars look best with the same length."""
    return min(60, sheet.room - max(35, columns(told)))


def _bar(share: float, width: int, colour: str) -> list[Part]:
    full = round(min(1.0, max(0.0, share)) * max(4, width))
    return [("█" * full, colour), ("░" * (max(4, width) - full), DIM)]


def _steps(view: View, sheet: Sheet) -> None:
    told, slow, top = UNKNOWN, False, None
    if view.step_now is not None and view.step_usual is not None:
        now, usual = format_short_duration(view.step_now), format_short_duration(view.step_usual)
        told = f"{now} {'now' if view.alive else 'last'}, {usual} usual"
        slow = view.step_now > 2 * view.step_usual
        top = 3 * view.step_usual  # one huge step, as the first with its tracing, must not press all others flat
    _with_curve(sheet, "Step time", (told, YELLOW if slow else ""), view.step_curve, 2, top)
    share = UNKNOWN
    if view.wait_share is not None:
        share = f"{view.wait_share:.0%} of the last {_whole(view.wait_seconds)}"
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


def _whole(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 10 else format_duration(seconds)


def _memory(view: View, sheet: Sheet) -> None:
    pieces = [f"{format_size(view.memory)} for this program" if view.memory is not None else UNKNOWN]
    if view.growth is not None and view.memory:
        steady = abs(view.growth) < max(8e6, 0.01 * view.memory)
        over, change = format_duration(view.growth_seconds), format_size(abs(view.growth))
        sign = "+" if view.growth > 0 else "−"
        pieces.append(f"steady for {over}" if steady else f"{sign}{change} in {over}")
    if view.alive and view.measured_ago > OLD:
        pieces.append(f"measured {format_duration(view.measured_ago)} ago")
    sheet.label("Memory", (_fitting(pieces, sheet.room), ""))
    if view.taken is not None and view.limit:
        share = view.taken / view.limit
        colour = RED if share > 0.9 else YELLOW if share > 0.75 else GREEN
        whose = "its limit of " if view.limit_of == "limit" else "the machine's "
        told = f" {share:4.0%}, {_of(view.taken, view.limit, whose)}"
        sheet.label("", *_bar(share, _beside(told, sheet), colour), (told, ""), rank=2)
    for line in wrapped(view.forecast, sheet.room)[: 3 * view.alive]:
        sheet.label("", (line, YELLOW), rank=1)
    used = UNKNOWN if view.cpu is None else f"{view.cpu:.1f}" if view.cpu >= 0.05 else "hardly any"
    sheet.label("Processor", (f"{used} of {view.cores:g} cores" if view.cores else f"{used} cores", ""), rank=5)


def _of(used: float, total: float, whose: str = "") -> str:
    """3.1 of the machine's 8.0 GB"""
    first, second = format_size(used), format_size(total)
    first = first.split()[0] if first.split()[1] == second.split()[1] else first
    return f"{first} of {whose}{second}"


def _gpus(view: View, sheet: Sheet) -> None:
    if len(view.gpus) > MOST_GPUS:
        sheet.label(f"{len(view.gpus)} GPUs", (_gpus_together(view.gpus), ""), rank=3)
        return
    for gpu in view.gpus:
        pieces = [f"{gpu.busy:.0f}% busy" if gpu.busy is not None else UNKNOWN]
        pieces += [f"{_of(gpu.used, gpu.total)}"] if gpu.used is not None and gpu.total is not None else []
        pieces += [f"{gpu.celsius:.0f} °C"] if gpu.celsius is not None else []
        sheet.label(f"GPU {gpu.number}", (" · ".join(pieces), ""), rank=3)


def _gpus_together(gpus: Sequence[Gpu]) -> str:
    busy = [gpu.busy for gpu in gpus if gpu.busy is not None]
    full = [gpu.used / gpu.total for gpu in gpus if gpu.used is not None and gpu.total]
    hot = [gpu.celsius for gpu in gpus if gpu.celsius is not None]
    pieces = [f"{min(busy):.0f} to {max(busy):.0f}% busy" if busy else UNKNOWN]
    pieces += [f"memory {min(full):.0%} to {max(full):.0%} full"] if full else []
    pieces += [f"at most {max(hot):.0f} °C"] if hot else []
    return " · ".join(pieces)


def _findings(view: View, sheet: Sheet) -> None:
    """The first in full, the others in full where there is room, otherwise in one line each."""
    if not view.findings:
        sheet.add(("Nothing found so far" if view.alive else "Nothing to report", DIM), rank=1)
        return
    room = max(3, sheet.height - sum(row.rank < GIVES_WAY for row in sheet.rows) - 1)
    told = [_told(one, sheet) for one in view.findings]
    whole = sum(map(len, told)) <= room
    rows = told[0][: max(2, room - len(told) + 1)] if not whole else [row for rows in told for row in rows]
    if not whole:
        rows += [_in_one_line(one) for one in view.findings[1:]]
    if len(rows) > room:
        rows = [*rows[: room - 1], [(f"and {len(rows) - room + 1} more: press w", YELLOW)]]
    for row in rows:
        sheet.add(*row)


def _in_one_line(told: Told) -> list[Part]:
    return [(told.rule, f"1;{YELLOW}"), (f"  {told.where}" if told.where else "", CYAN), (f"  {told.cause}", "")]


def _told(told: Told, sheet: Sheet) -> list[list[Part]]:
    where = f"  {told.where}" if told.where else ""
    head = [(told.rule, f"1;{YELLOW}"), (f"  {told.confidence}", DIM), (where, CYAN)]
    return [head, *([("  " + line, "")] for line in wrapped(told.cause, sheet.width - 2)[:3])]


def _foot(view: View, sheet: Sheet, keys: str) -> None:
    if keys:
        while len(sheet.rows) < sheet.height - 1:
            sheet.add()
        seen = "at " + time.strftime("%H:%M:%S", time.localtime(view.at))
        _both_ends(sheet, (keys, DIM), (seen, DIM))
    elif view.findings or view.outcome not in ("finished", "running"):
        sheet.add()
        sheet.add((f"More: laststep why {view.id}", DIM))
