"""A replayed step → one screen at 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from laststep.record.events.experiments import Origin, Replayed
from laststep.record.events.numbers import BadNumber, BadValues
from laststep.record.run import Run
from laststep.reports.page import Page
from laststep.text import format_count, format_place, format_value

MAX_LISTED = 5  # indices


def page(run: Run, bad: BadNumber, replayed: Replayed, width: int = 80, colour: bool = False) -> str:
    out = Page(min(max(width, 60), 100), colour, run.cwd)
    out.line((f"laststep replay · {run.id}", "2"))
    out.text(" ".join(run.command), "", "")
    if replayed.because:
        out.heading("The step could not be replayed")
        out.text(f"{replayed.because}.")
        return str(out)
    out.heading(f"Replay of step {bad.step:,}")
    since = bad.weights_of
    weights = f", with the weights of step {since:,}" if since is not None else ""
    out.text(f"Run eagerly on the CPU, {format_count(replayed.operations, 'operation')}{weights}.")
    _add_inputs(out, replayed)
    if replayed.origin is not None:
        _add_origin(out, replayed.origin, replayed.rows, run.cwd)
    elif not replayed.inputs:
        _add_not_reproduced(out, replayed, run.cwd, exact=since is not None and since + 1 == bad.step)
    return str(out)


def _add_inputs(out: Page, replayed: Replayed) -> None:
    for name, bad in replayed.inputs.items():
        out.heading("The data")
        where = f"sample {_listed(bad.samples)} in the batch"
        if bad.features:
            where += f", feature {_listed(bad.features)}"
        out.text(f"{name} contains {_counted(bad)} before it enters the model: {where}.")


def _add_not_reproduced(out: Page, replayed: Replayed, cwd: str, exact: bool) -> None:
    out.heading("Not reproduced")
    reason = "the bad step had newer weights than the ones that were kept"
    if exact:
        reason = "weights and batch are those of the bad step, so it depends on something else, such as randomness"
    out.text(f"Every operation of the replayed step gave finite values: {reason}.")
    if replayed.edges:
        out.text("Operations closest to an invalid input:")
    for edge in replayed.edges:
        at = format_place(edge.where, cwd)
        out.item(f"{edge.operation} at {at}: its smallest input was {format_value(edge.nearest)}")


def _add_origin(out: Page, origin: Origin, rows: int, cwd: str) -> None:
    out.heading("First NaN or Inf", format_place(origin.where, cwd))
    layer = f" in {origin.layer}" if origin.layer else ""
    what = f"{origin.operation}{layer}"
    if origin.gradient_of:
        what = f"The gradient of {origin.gradient_of}{layer} ({origin.operation})"
    out.text(f"{what} produced {_counted(origin)} from finite inputs.")
    if origin.where is not None and origin.where.text:
        out.line(("  ", ""), (origin.where.text, "36"))
    for number, given in enumerate(origin.inputs, 1):
        at = f", {format_value(given.there)} at that position" if given.there is not None else ""
        out.item(f"input {number}: from {format_value(given.low)} to {format_value(given.high)}{at}")
    if origin.samples:
        out.item(f"sample {_listed(origin.samples)} of the {rows} in the batch")


def _counted(bad: BadValues) -> str:
    parts = [f"{count:,} {name}" for count, name in ((bad.nan, "NaN"), (bad.inf, "Inf")) if count]
    return f"{' and '.join(parts)} (of {bad.of:,} values)"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:MAX_LISTED])) + (" …" if len(numbers) > MAX_LISTED else "")
