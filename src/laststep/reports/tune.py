"""The measurements of a side run → one screen at 80 columns, or JSON."""

from __future__ import annotations

import json
from typing import Any

from laststep.analysis.experiments.tune import Outcome, Range, Tried
from laststep.record.place import Place
from laststep.reports.columns import columns
from laststep.reports.page import Page
from laststep.text import format_count, format_place

MAX_NOT_TRIED = 6


def page(outcome: Outcome, run: str, command: list[str], cwd: str | None, width: int = 80, colour: bool = False) -> str:
    out = Page(min(max(width, 60), 100), colour)
    out.line((f"laststep tune · {run}", "2"))
    out.text(" ".join(command), "", "")
    if outcome.failed:
        out.heading("No measurement", format_place(outcome.where, cwd))
        out.text(f"{outcome.failed[:1].upper()}{outcome.failed[1:]}.")
        return str(out)
    _add_now(out, outcome, cwd)
    if outcome.tried:
        out.heading("What each change would gain")
        for change in outcome.tried:
            _add_change(out, outcome, change, cwd)
    elif outcome.now is not None:
        out.heading("No change to try")
        out.text(_nothing(outcome))
    _add_not_tried(out, outcome, cwd)
    return str(out)


def _add_now(out: Page, outcome: Outcome, cwd: str | None) -> None:
    out.heading("Now", format_place(outcome.where, cwd))
    assert outcome.now is not None
    out.text(f"{ms(outcome.now)} per step in fit, measured in {format_count(outcome.rounds, 'round')} of a side run.")
    if outcome.bound is not None:
        if outcome.bound[0] > 1:
            bound = f"{then(outcome, outcome.bound)}, {times(outcome.bound)}"
            out.text(f"Without any wait for data: {bound}. No change of the input pipeline can gain more.")
        else:
            out.text("Without any wait for data it would be no faster: the time goes into the model itself.")
    for note in outcome.notes:
        out.text(f"In the side run {note}.")


def _add_change(out: Page, outcome: Outcome, change: Tried, cwd: str | None) -> None:
    colour = {"gain": "32", "slower": "33"}.get(change.verdict, "2")
    place = format_place(change.where, cwd)
    gap = " " * max(2, out.width - columns(change.says) - columns(place) - 2)
    out.line(("  " + change.says, "1"), (gap, ""), (place, "2"))
    out.line(("    " + _verdict(outcome, change), colour))
    if change.code and change.verdict == "gain":
        out.text(change.code, "    + ", "      ")
    if change.note and change.verdict == "gain":
        out.text(f"({change.note})", "    ", "    ")


def _verdict(outcome: Outcome, change: Tried) -> str:
    if change.gain is None:
        return "too slow to be measured in this time: increase --seconds"
    if change.verdict == "gain":
        return f"{then(outcome, change.gain)}, {times(change.gain)}"
    return f"{'slower' if change.verdict == 'slower' else 'no gain measured'} ({times(change.gain)})"


def _add_not_tried(out: Page, outcome: Outcome, cwd: str | None) -> None:
    if outcome.not_tried:
        out.heading("Not tried")
    for change in outcome.not_tried[:MAX_NOT_TRIED]:
        place = format_place(change.where, cwd)
        out.item(f"{change.says}{f' ({place})' if place else ''}: {change.because}")


def _nothing(outcome: Outcome) -> str:
    if "generator" in outcome.data:
        return "A Python generator can't be changed by laststep; only the wait for it, above, was measured."
    return "No change of this input pipeline is known to help."


def ms(seconds: float) -> str:
    return f"{figure(seconds * 1000)} ms"


def figure(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def then(outcome: Outcome, gain: Range) -> str:
    low, high = outcome.seconds(gain)
    assert outcome.now is not None
    return f"{figure(outcome.now * 1000)} → {figure(low * 1000)} to {ms(high)} per step"


def times(gain: Range) -> str:
    digits = 2 if gain[1] < 10 else 0
    return f"{gain[0]:.{digits}f} to {gain[1]:.{digits}f} times as fast"


def as_json(outcome: Outcome, run: str, command: list[str]) -> str:
    def change(tried: Tried) -> dict[str, Any]:
        fields: dict[str, Any] = {"change": tried.says, "where": _place(tried.where), "code": tried.code}
        fields |= {"note": tried.note, "verdict": tried.verdict, "gain": tried.gain, "rounds": tried.rounds}
        return fields | {"ms_per_step": _ms_range(outcome, tried.gain)}

    fields = {
        "run": run,
        "command": command,
        "fit": _place(outcome.where),
        "data": outcome.data,
        "ms_per_step": outcome.now and outcome.now * 1000,
        "bound": {"gain": outcome.bound, "ms_per_step": _ms_range(outcome, outcome.bound)},
        "changes": [change(tried) for tried in outcome.tried],
        "not_tried": [
            {"change": left.says, "where": _place(left.where), "because": left.because} for left in outcome.not_tried
        ],
        "notes": list(outcome.notes),
        "failed": outcome.failed or None,
    }
    return json.dumps(fields, indent=2)


def _place(where: Place | None) -> dict[str, str | int] | None:
    return {"file": where.file, "line": where.line} if where else None


def _ms_range(outcome: Outcome, gain: Range | None) -> list[float] | None:
    return [seconds * 1000 for seconds in outcome.seconds(gain)] if gain and outcome.now is not None else None
