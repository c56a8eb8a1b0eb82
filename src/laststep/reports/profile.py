"""Profile → one screen: where the time of a step goes, and the most expensive layers and ops."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from laststep.profile.costs import SHARES, Cost, Profile
from laststep.profile.layers import OTHER
from laststep.reports.columns import columns, cut, cut_start, pad
from laststep.reports.page import Page
from laststep.text import format_count, format_short_duration, format_size

MAX_ROWS = 10
BAR_WIDTH = 24
SHARE_NAMES = {
    "input": "waiting for input",
    "compute": "compute",
    "host": "host work",
    "idle": "idle",
}


def page(profile: Profile, title: str, command: str, trace: str, width: int = 80, colour: bool = False) -> str:
    out = Page(min(max(width, 60), 100), colour)
    right = f"profile of {format_count(profile.steps, 'step')}"
    out.line((title, "2"), (" " * max(2, out.width - columns(title) - columns(right)), ""), (right, "1"))
    out.line((command, ""))
    out.heading("Where the time goes", _pace(profile))
    for name, percent in percents(profile.shares).items():
        _add_share(out, name, percent, profile)
    _side_by_side(out, "time, per step", format_short_duration, profile.layers, profile.ops)
    if profile.ops_memory:
        _side_by_side(out, "memory, per step", _bytes, profile.layers_memory, profile.ops_memory)
    out.blank()
    for note in profile.notes:
        out.text(note, "", "")
    out.line(("Full trace:  ", ""), (f"tensorboard --logdir {trace}", "32"))
    return str(out)


def percents(shares: dict[str, float]) -> dict[str, int]:
    """Whole numbers that add up to 100."""
    exact = {name: 100 * shares[name] for name in SHARES}
    rounded = {name: int(value) for name, value in exact.items()}
    for name in sorted(exact, key=lambda name: rounded[name] - exact[name])[: 100 - sum(rounded.values())]:
        rounded[name] += 1
    return rounded


def _add_share(out: Page, name: str, percent: int, profile: Profile) -> None:
    bar = "█" * round(BAR_WIDTH * percent / 100)
    mean = profile.whole / profile.steps * profile.shares[name]
    out.line(
        (f"  {SHARE_NAMES[name]:18}{percent:4} %  ", ""),
        (f"{bar:{BAR_WIDTH}}", "36"),
        (f"  {format_short_duration(mean):>8}", ""),
    )


def _pace(profile: Profile) -> str:
    before = f"{format_short_duration(profile.pace_before)} before" if profile.pace_before else "not measured before"
    return f"{format_short_duration(profile.pace)} per step while profiled, {before}"


def _bytes(amount: float) -> str:
    for unit, size in (("MB", 1e6), ("KB", 1e3)):
        if size <= amount < 9.95 * size:
            return f"{amount / size:.1f} {unit}"
    return format_size(amount)


def _side_by_side(
    out: Page, what: str, amount: Callable[[float], str], layers: Sequence[Cost], ops: Sequence[Cost]
) -> None:
    """Layers on the left, ops on the right."""
    room = (out.width - 3) // 2
    out.blank()
    out.line((f"{f'Layers by {what}':{room + 3}}", "1"), (f"Ops by {what}", "1"), ("  ← backward", "2"))
    cells = [[_cell(cost, amount, room) for cost in costs[:MAX_ROWS]] for costs in (layers, ops)]
    for left, right in zip_longest(*cells, fillvalue=" " * room):
        out.line((f"{left}   {right}".rstrip(), ""))


def _cell(cost: Cost, amount: Callable[[float], str], room: int) -> str:
    name = pad(label(cost, room - 14), room - 14)
    return f"{name}{amount(cost.amount):>8}{100 * cost.share:4.0f} %"


def label(cost: Cost, room: int) -> str:
    """my_big ← MatMul. A long layer path keeps its end, a long op name its beginning."""
    if cost.op and cost.layer == OTHER:
        return cut(f"{'← ' if cost.backward else ''}{cost.op}", room)
    op = f" {'← ' if cost.backward else ''}{cost.op}" if cost.op else ""
    op = cut(op, max(room - columns(cost.layer), room // 2))
    return cut_start(cost.layer, room - columns(op)) + op


def as_data(profile: Profile, run: str, trace: str) -> dict[str, Any]:
    return {
        "run": run,
        "steps": {"first": profile.first, "last": profile.last, "seconds": [round(s, 7) for s in profile.seconds]},
        "seconds_before": profile.pace_before or None,
        "shares": {name: round(profile.shares[name], 6) for name in SHARES},
        "time": {"layers": _rows(profile.layers), "ops": _rows(profile.ops)},
        "memory": {
            "layers": _rows(profile.layers_memory),
            "ops": _rows(profile.ops_memory),
            "peak": profile.peak or None,
            "allocator": profile.allocator or None,
        },
        "notes": list(profile.notes),
        "trace": trace,
    }


def _rows(costs: Sequence[Cost]) -> list[dict[str, Any]]:
    """Per step: seconds, or bytes."""
    return [
        {"layer": cost.layer, "amount": round(cost.amount, 9), "share": round(cost.share, 4)}
        | ({"op": cost.op, "backward": cost.backward} if cost.op else {})
        for cost in costs[:MAX_ROWS]
    ]


def line(data: dict[str, Any]) -> str:
    return json.dumps(data) + "\n"
