"""The result of an experiment → one screen at 80 columns, or JSON."""

from __future__ import annotations

import json

from laststep.analysis.experiments.prove import OPEN, PROVEN
from laststep.record.decode import encode
from laststep.record.events.experiments import ProveResult, Training
from laststep.record.run import Run
from laststep.reports.page import Page
from laststep.text import format_count, format_value, sparkline

COLOURS = {PROVEN: "1;32", OPEN: "1;33"}
SKILL_SCALE = "skill: 0 is as good as a constant prediction, 1 is perfect."


def page(run: Run, result: ProveResult, place: str, width: int = 80, colour: bool = False) -> str:
    out = Page(min(max(width, 60), 100), colour, run.cwd)
    out.line((f"laststep prove · {run.id}", "2"))
    out.text(" ".join(run.command), "", "")
    out.heading("Tried", result.rule)
    out.text(f"{result.says}{f' ({place})' if place else ''}.")
    if result.rounds:
        before, after = ([pair[at] for pair in result.rounds] for at in (0, 1))
        out.text(f"Same initial weights, same batches, {format_count(len(result.rounds), 'round')}.")
        out.blank()
        _add_arm(out, "as it is", before)
        _add_arm(out, "changed", after)
        if before[0].skill or after[0].skill:
            out.text(SKILL_SCALE)
    out.heading("Result")
    out.line(("  ", ""), (result.verdict, COLOURS.get(result.verdict, "1")))
    out.text(f"{result.because[:1].upper()}{result.because[1:]}.")
    return str(out)


def _add_arm(out: Page, name: str, trainings: list[Training]) -> None:
    """The loss curve of the first round, and how each round ended."""
    curve = sparkline([value for value in trainings[0].losses if value is not None and abs(value) < 1e30])
    out.line((f"  {name:<10}", "1"), (f"loss {curve}" if curve else "", "36"))
    raised = next((training.raised for training in trainings if training.raised), "")
    if raised:
        out.text(f"raised {raised.splitlines()[0][:160]}", " " * 12, " " * 12)
    elif any(training.bad is not None for training in trainings):
        steps = [f"{training.bad:,}" if training.bad is not None else "never" for training in trainings]
        out.text(f"NaN or Inf in step {_listed(steps)}", " " * 12, " " * 12)
    good = [training for training in trainings if training.bad is None]
    if good and good[0].losses:
        ends = [format_value(training.losses[-1]) for training in good if training.losses]
        loss = f"loss {format_value(good[0].losses[0])} → {_listed(ends)} after {format_count(good[0].steps, 'step')}"
        out.text(loss, " " * 12, " " * 12)
    skilled = [training.skill for training in good if training.skill]
    if skilled:
        ends = [f"{skill[-1][1]:.2f}" for skill in skilled]
        out.text(f"skill {skilled[0][0][1]:.2f} → {_listed(ends)}", " " * 12, " " * 12)


def _listed(values: list[str]) -> str:
    """Each once, in the order of the rounds."""
    kept = list(dict.fromkeys(values))
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])} and {kept[-1]}"


def as_json(run: Run, result: ProveResult) -> str:
    return json.dumps({"run": run.id, **encode(result)})
