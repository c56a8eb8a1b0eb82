"""What a replayed step told → one screen at 80 columns."""

from __future__ import annotations

from typing import Any

from laststep import text as words
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.reports.terminal import Page


def page(run: Run, bad: Event, told: Event, width: int = 80, colour: bool = False) -> str:
    out = Page(min(max(width, 60), 100), colour, run.cwd)
    out.line((f"laststep replay · {run.id}", "2"))
    out.text(" ".join(run.command), "", "")
    if told.get("because"):
        out.heading("It could not be replayed")
        out.text(f"{told.get('because')}.")
        return str(out)
    out.heading(f"Step {int(bad.get('step') or 0):,} again")
    since = bad.get("weights_of")
    old = f", with the weights of step {since:,}" if isinstance(since, int) else ""
    out.text(f"On the CPU, one operation after the other ({told.get('operations')} of them){old}.")
    _tell_inputs(out, told)
    _tell_origin(out, told, run.cwd, exact=isinstance(since, int) and since + 1 == bad.get("step"))
    return str(out)


def _tell_inputs(out: Page, told: Event) -> None:
    for name, bad in (told.get("inputs") or {}).items():
        out.heading("The data")
        where = f"sample {_listed(bad.get('samples'))} of the batch"
        if bad.get("features"):
            where += f", feature {_listed(bad.get('features'))}"
        out.text(f"{name} holds {_counted(bad)} before the model has seen it: {where}.")


def _tell_origin(out: Page, told: Event, cwd: str, exact: bool) -> None:
    origin = told.get("origin")
    if not origin:
        if not told.get("inputs"):
            out.heading("No bad number came up")
            lacks = "it takes the exact weights of that moment, which are newer than those that were kept"
            if exact:
                lacks = "weights and batch are those of that moment, so it takes something else: random numbers, say"
            out.text(f"Every operation of the replayed step gave finite numbers: {lacks}.")
            if told.get("edges"):
                out.text("Nearest to where they break:")
            for edge in told.get("edges") or []:
                at = words.place(edge.get("where"), cwd)
                out.item(f"{edge['operation']} at {at}: its smallest number was {words.value(edge['nearest'])}")
        return
    out.heading("The first bad number", words.place(origin.get("where"), cwd))
    layer = f" in {origin['layer']}" if origin.get("layer") else ""
    what = f"{origin['operation']}{layer}"
    if origin.get("gradient_of"):
        what = f"The gradient of {origin['gradient_of']}{layer} ({origin['operation']})"
    out.text(f"{what} gave {_counted(origin)} out of finite inputs.")
    text = str((origin.get("where") or {}).get("text") or "")
    if text:
        out.line(("  ", ""), (text, "36"))
    for number, given in enumerate(origin.get("inputs") or [], 1):
        there = given.get("there")
        at = f"; there it was {words.value(there)}" if there is not None else ""
        out.item(f"input {number}: from {words.value(given['low'])} to {words.value(given['high'])}{at}")
    if origin.get("samples"):
        out.item(f"sample {_listed(origin['samples'])} of the {told.get('rows')} of the batch")


def _counted(told: dict[str, Any]) -> str:
    parts = [f"{told[kind]:,} {name}" for kind, name in (("nan", "NaN"), ("inf", "Inf")) if told.get(kind)]
    return f"{' and '.join(parts)} (of {told.get('of', 0):,} values)"


def _listed(numbers: Any) -> str:
    numbers = [str(number) for number in numbers or []]
    return ", ".join(numbers[:5]) + (" …" if len(numbers) > 5 else "")
