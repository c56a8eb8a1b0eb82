"""What a replayed step told → one screen at 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from laststep.record.events.experiments import Origin, Replayed
from laststep.record.events.numbers import BadNumber, BadValues
from laststep.record.run import Run
from laststep.reports.terminal import Page
from laststep.text import format_place, format_value

MAX_LISTED = 5  # indices


def page(run: Run, bad: BadNumber, replayed: Replayed, width: int = 80, colour: bool = False) -> str:
    out = Page(min(max(width, 60), 100), colour, run.cwd)
    out.line((f"laststep replay · {run.id}", "2"))
    out.text(" ".join(run.command), "", "")
    if replayed.because:
        out.heading("It could not be replayed")
        out.text(f"{replayed.because}.")
        return str(out)
    out.heading(f"Step {bad.step:,} again")
    since = bad.weights_of
    old = f", with the weights of step {since:,}" if since is not None else ""
    out.text(f"On the CPU, one operation after the other ({replayed.operations} of them){old}.")
    _tell_inputs(out, replayed)
    if replayed.origin is not None:
        _tell_origin(out, replayed.origin, replayed.rows, run.cwd)
    elif not replayed.inputs:
        _tell_no_origin(out, replayed, run.cwd, exact=since is not None and since + 1 == bad.step)
    return str(out)


def _tell_inputs(out: Page, replayed: Replayed) -> None:
    for name, bad in replayed.inputs.items():
        out.heading("The data")
        where = f"sample {_listed(bad.samples)} of the batch"
        if bad.features:
            where += f", feature {_listed(bad.features)}"
        out.text(f"{name} holds {_counted(bad)} before the model has seen it: {where}.")


def _tell_no_origin(out: Page, replayed: Replayed, cwd: str, exact: bool) -> None:
    out.heading("No bad number came up")
    lacks = "it takes the exact weights of that moment, which are newer than those that were kept"
    if exact:
        lacks = "weights and batch are those of that moment, so it takes something else: random numbers, say"
    out.text(f"Every operation of the replayed step gave finite numbers: {lacks}.")
    if replayed.edges:
        out.text("Nearest to where they break:")
    for edge in replayed.edges:
        at = format_place(edge.where, cwd)
        out.item(f"{edge.operation} at {at}: its smallest number was {format_value(edge.nearest)}")


def _tell_origin(out: Page, origin: Origin, rows: int, cwd: str) -> None:
    out.heading("The first bad number", format_place(origin.where, cwd))
    layer = f" in {origin.layer}" if origin.layer else ""
    what = f"{origin.operation}{layer}"
    if origin.gradient_of:
        what = f"The gradient of {origin.gradient_of}{layer} ({origin.operation})"
    out.text(f"{what} gave {_counted(origin)} out of finite inputs.")
    if origin.where is not None and origin.where.text:
        out.line(("  ", ""), (origin.where.text, "36"))
    for number, given in enumerate(origin.inputs, 1):
        at = f"; there it was {format_value(given.there)}" if given.there is not None else ""
        out.item(f"input {number}: from {format_value(given.low)} to {format_value(given.high)}{at}")
    if origin.samples:
        out.item(f"sample {_listed(origin.samples)} of the {rows} of the batch")


def _counted(bad: BadValues) -> str:
    parts = [f"{count:,} {name}" for count, name in ((bad.nan, "NaN"), (bad.inf, "Inf")) if count]
    return f"{' and '.join(parts)} (of {bad.of:,} values)"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:MAX_LISTED])) + (" …" if len(numbers) > MAX_LISTED else "")
