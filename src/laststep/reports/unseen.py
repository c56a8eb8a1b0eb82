"""What was not looked at in a run: why, what could be judged all the same, and what to do about it."""

from __future__ import annotations

from laststep.analysis.finding import Diagnosis, Remedy
from laststep.analysis.memory import in_use
from laststep.analysis.progress import progress
from laststep.analysis.unseen import Kind, Unseen, unseen_of
from laststep.logs.read import parsed_console, run_from_console
from laststep.record.run import Run
from laststep.text import format_count, format_size

IN_SHORT: dict[Kind, str] = {
    "closed": "nothing was looked at inside",
    "elsewhere": "its training was not looked at",
    "no-training": "no training was seen",
}
IN_A_LIST: dict[Kind, str] = {
    "closed": "(not looked at)",
    "elsewhere": "(not looked at)",
    "no-training": "(no training)",
}
HEADS: dict[Kind, str] = {
    "closed": "laststep could not look inside",
    "elsewhere": "The training was not recorded",
    "no-training": "No training was seen",
}


def sentence(unseen: Unseen) -> str:
    """The whole reason, in one sentence."""
    return f"{HEADS[unseen.kind]}: {unseen.because}."


def judged(diagnosis: Diagnosis) -> str:
    """What the answer rests on."""
    run = diagnosis.run
    return f"What was looked at: {', '.join([*_exit_status(run), *_memory(run), *_console(diagnosis)])}."


def _exit_status(run: Run) -> list[str]:
    if run.signal:
        return [f"how it ended ({run.signal})"]
    return [f"the exit code ({run.exit_code})"] if run.exit_code is not None else []


def _memory(run: Run) -> list[str]:
    peak = max(map(in_use, run.samples), default=0)
    return [f"memory ({format_size(peak)} at most)"] if peak else []


def _console(diagnosis: Diagnosis) -> list[str]:
    run, unseen = diagnosis.run, unseen_of(diagnosis.run)
    lines = parsed_console(run).reading.lines
    if not lines or unseen is None or not unseen.reads_console:
        return []
    shown = progress(run_from_console(run)).says.removeprefix("the console shows ").removeprefix("that ")
    nothing = "" if diagnosis.findings else "; no error in it"
    return [f"the console ({format_count(lines, 'line')}; {shown}{nothing})"]


def advice(remedy: Remedy) -> str:
    return remedy.does.rstrip(":") + (":" if remedy.change else ".")


def lines_to_type(unseen: Unseen) -> list[str]:
    change = unseen.remedy.change if unseen.remedy is not None else ""
    return (change or "").splitlines()


def short_note(diagnosis: Diagnosis, unseen: Unseen) -> list[str]:
    """After a run that ended in order: a few lines in place of `nothing to report`."""
    head = f"laststep: finished, but {IN_SHORT[unseen.kind]} ({diagnosis.run.id})"
    what_to_do = [advice(unseen.remedy)] if unseen.remedy is not None else []
    typed = [f"    {line}" for line in lines_to_type(unseen)]
    return [head, f"Why: {unseen.because}.", *what_to_do, *typed, judged(diagnosis)]
