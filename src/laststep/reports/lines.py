"""View → plain lines for logs: each can be read and searched on its own."""

from __future__ import annotations

import time

from laststep.reports.figures import STALE_SECONDS, ShortFinding, View
from laststep.reports.sheet import Sheet
from laststep.text import format_duration, format_short_duration, format_size


def line(view: View, sheet: Sheet) -> str:
    """All figures as name=value, with - for what is not known."""
    state = "stuck" if view.stuck is not None else "running" if view.alive else view.outcome
    is_stale = view.alive and view.measured_ago > STALE_SECONDS
    fields = {
        "epoch": _pair(view.epoch, view.epochs),
        "batch": _pair(view.batch, view.batches),
        "step": "-" if view.step is None else str(view.step),
        "step_time": "-" if view.step_now is None else format_short_duration(view.step_now),
        "data_wait": "-" if view.wait_share is None else f"{view.wait_share:.0%}",
        "loss": "-" if view.loss is None else _one_word(view.loss),
        "memory": "-" if view.memory is None or is_stale else format_size(view.memory),
        "of_limit" if view.limit_of == "limit" else "of_machine": _share(None if is_stale else view.taken, view.limit),
        "cpu": "-" if view.cpu is None else f"{view.cpu:.1f}",
        **{f"gpu{gpu.number}": "-" if gpu.busy is None else f"{gpu.busy:.0f}%" for gpu in view.gpus},
        "left": "-" if view.left is None else format_duration(view.left),
    }
    pairs = " ".join(f"{name}={value.replace(' ', '')}" for name, value in fields.items() if view.alive or value != "-")
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


def finding_line(view: View, found: ShortFinding, sheet: Sheet) -> str:
    where = f" {found.where}" if found.where else ""
    word = f" {found.confidence}" if found.confidence else ""
    return sheet.plain(f"{stamp(view.at)} {view.id} finding {found.rule}{word}{where}: {found.cause}")


def end_line(view: View, sheet: Sheet) -> str:
    return sheet.plain(f"{stamp(view.at)} {view.id} end {view.outcome}: {view.end} {view.unseen}".rstrip())
