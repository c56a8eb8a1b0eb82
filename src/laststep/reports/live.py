"""View → the lines of the live screen."""

from __future__ import annotations

import time
from collections.abc import Sequence

from laststep.reports.columns import columns, cut
from laststep.reports.figures import STALE_SECONDS, Gpu, ShortFinding, View
from laststep.reports.sheet import BOLD, CYAN, DIM, GREEN, LABEL, RED, YELLOW, Part, Sheet, curve, wrapped
from laststep.reports.terminal import OUTCOME_COLOURS
from laststep.text import format_duration, format_short_duration, format_size

CURVE_COLUMN = 44  # where curves begin
MIN_CURVE_WIDTH = 8
MAX_CURVE_WIDTH = 48
MAX_GPU_ROWS = 2  # with more GPUs, one row with the lowest and the highest values
MAX_WIDTH = 110
YIELDING_RANK = 5  # rows of this rank and above make room for findings
UNKNOWN = "–"


def screen(view: View, sheet: Sheet, keys: str = "q quit · w why") -> list[str]:
    """At most `sheet.height` lines. Without keys it is the last screen, which stays in the terminal."""
    sheet.width = min(sheet.width, MAX_WIDTH)
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
    """The time of day, with the date if that is not today."""
    same = time.strftime("%x", time.localtime(moment)) == time.strftime("%x", time.localtime(now))
    return time.strftime("%H:%M" if same else "%d %b %H:%M", time.localtime(moment))


def state_of(view: View) -> tuple[str, str]:
    """(text, colour)"""
    took = _whole(view.seconds)
    if not view.alive:
        verb = "stopped early" if view.outcome == "stopped" and not view.trained else view.outcome
        return f"{verb} after {took}", OUTCOME_COLOURS.get(view.outcome, CYAN)
    if view.stuck is not None:
        return f"stuck for {format_duration(view.stuck)}", RED
    return f"running for {took}", OUTCOME_COLOURS["running"]


def _progress(view: View, sheet: Sheet) -> None:
    sheet.label("Progress", (_fitting(_pieces(view), sheet.room), ""))
    if view.done is not None:
        about = "at least" if view.left_at_least else "about"
        text = f" {view.done:4.0%}" + (f", {about} {format_duration(view.left)} left" if view.left is not None else "")
        sheet.label("", *_bar(view.done, _bar_width(text, sheet), GREEN), (text, ""), rank=1)
    if not view.alive:
        for position, line in enumerate(wrapped(view.end, sheet.room)[:2]):
            sheet.label("" if position else "End", (line, ""))
        return
    is_unusual = " for data for " in view.phase or ", no " in view.phase
    sheet.label("Now", (view.phase or UNKNOWN, YELLOW if is_unusual else ""), rank=1)


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
    """As many of the first as fit."""
    while len(pieces) > 1 and columns(" · ".join(pieces)) > room:
        pieces = pieces[:-1]
    return " · ".join(pieces)


def _bar_width(text: str, sheet: Sheet) -> int:
    """The width of a bar beside this text; both bars of a screen get the same one where possible."""
    return min(60, sheet.room - max(35, columns(text)))


def _bar(share: float, width: int, colour: str) -> list[Part]:
    full = round(min(1.0, max(0.0, share)) * max(4, width))
    return [("█" * full, colour), ("░" * (max(4, width) - full), DIM)]


def _steps(view: View, sheet: Sheet) -> None:
    duration, slow, top = UNKNOWN, False, None
    if view.step_now is not None and view.step_median is not None:
        now, median = format_short_duration(view.step_now), format_short_duration(view.step_median)
        duration = f"{now} {'now' if view.alive else 'last'}, {median} median"
        slow = view.step_now > 2 * view.step_median
        top = 3 * view.step_median  # the first step, with its tracing, must not flatten the rest
    _with_curve(sheet, "Step time", (duration, YELLOW if slow else ""), view.step_curve, 2, top)
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
    start = max(min(CURVE_COLUMN, sheet.width // 2 + 4), LABEL + columns(part[0]) + 2)
    width = min(MAX_CURVE_WIDTH, sheet.width - start)
    drawn = curve(points, width, top, sheet.ascii) if width >= MIN_CURVE_WIDTH else ""
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
    if view.alive and view.measured_ago > STALE_SECONDS:
        pieces.append(f"measured {format_duration(view.measured_ago)} ago")
    sheet.label("Memory", (_fitting(pieces, sheet.room), ""))
    if view.taken is not None and view.limit:
        share = view.taken / view.limit
        colour = RED if share > 0.9 else YELLOW if share > 0.75 else GREEN
        whose = "its limit of " if view.limit_of == "limit" else "the machine's "
        text = f" {share:4.0%}, {_of(view.taken, view.limit, whose)}"
        sheet.label("", *_bar(share, _bar_width(text, sheet), colour), (text, ""), rank=2)
    for line in wrapped(view.forecast, sheet.room)[: 3 * view.alive]:
        sheet.label("", (line, YELLOW), rank=1)
    used = UNKNOWN if view.cpu is None else f"{view.cpu:.1f}" if view.cpu >= 0.05 else "<0.1"
    sheet.label("Processor", (f"{used} of {view.cores:g} cores" if view.cores else f"{used} cores", ""), rank=5)


def _of(used: float, total: float, whose: str = "") -> str:
    """3.1 of the machine's 8.0 GB"""
    first, second = format_size(used), format_size(total)
    first = first.split()[0] if first.split()[1] == second.split()[1] else first
    return f"{first} of {whose}{second}"


def _gpus(view: View, sheet: Sheet) -> None:
    if len(view.gpus) > MAX_GPU_ROWS:
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
    """The first in full; the others in full if there is room, otherwise one line each."""
    if not view.findings:
        for line in wrapped(view.unseen, sheet.width)[:3] or [
            "No findings so far" if view.alive else "Nothing to report"
        ]:
            sheet.add((line, YELLOW if view.unseen else DIM), rank=1)
        return
    room = max(3, sheet.height - sum(row.rank < YIELDING_RANK for row in sheet.rows) - 1)
    full = [_in_full(finding, sheet) for finding in view.findings]
    whole = sum(map(len, full)) <= room
    rows = full[0][: max(2, room - len(full) + 1)] if not whole else [row for rows in full for row in rows]
    if not whole:
        rows += [_in_one_line(finding) for finding in view.findings[1:]]
    if len(rows) > room:
        rows = [*rows[: room - 1], [(f"and {len(rows) - room + 1} more: press w", YELLOW)]]
    for row in rows:
        sheet.add(*row)


def _in_one_line(finding: ShortFinding) -> list[Part]:
    where = f"  {finding.where}" if finding.where else ""
    return [(finding.rule, f"1;{YELLOW}"), (where, CYAN), (f"  {finding.cause}", "")]


def _in_full(finding: ShortFinding, sheet: Sheet) -> list[list[Part]]:
    where = f"  {finding.where}" if finding.where else ""
    word = f"  {finding.confidence}" if finding.confidence else ""
    head = [(finding.rule, f"1;{YELLOW}"), (word, DIM), (where, CYAN)]
    return [head, *([("  " + line, "")] for line in wrapped(finding.cause, sheet.width - 2)[:3])]


def _foot(view: View, sheet: Sheet, keys: str) -> None:
    if keys:
        while len(sheet.rows) < sheet.height - 1:
            sheet.add()
        seen = "at " + time.strftime("%H:%M:%S", time.localtime(view.at))
        _both_ends(sheet, (keys, DIM), (seen, DIM))
    elif view.findings or view.outcome not in ("finished", "running"):
        sheet.add()
        sheet.add((f"More: laststep why {view.id}", DIM))
