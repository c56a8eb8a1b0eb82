"""Diagnosis → one screen of a terminal, at 80 columns too."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from laststep import text as words
from laststep.analysis.finding import Confidence, Diagnosis, Finding, Remedy
from laststep.analysis.progress import progress
from laststep.analysis.signals import stopped_by_laststep
from laststep.logs.harmless import harmless_in
from laststep.logs.read import parsed_console
from laststep.record.run import Run
from laststep.reports.attached import tell_process
from laststep.reports.printing import clean
from laststep.rules.rule import all_rules

ONE_SCREEN = 43  # lines, and at the end of a run a blank one before and after; what was ruled out gives way
MOST_RULED_OUT = 5
MOST_UNCHECKED = 3
MOST_HARMLESS = 3
MOST_NOTES = 3
NUMBER_AND_UNIT = re.compile(r"(\d) (s|min|h|days|B|KB|MB|GB)\b")  # kept together when a line breaks
OUTCOME_COLOURS = {
    "finished": "32",
    "running": "36",
    "stopped": "33",
    "crashed": "31",
    "stalled": "33",
    "unknown": "36",
}


@dataclass
class Page:
    """Lines, wrapped to the width, coloured or not."""

    width: int = 80
    colour: bool = False
    cwd: str = ""  # below it, places are told relative to it
    lines: list[str] = field(default_factory=list)

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def heading(self, text: str, right: str = "") -> None:
        self.blank()
        gap = " " * max(2, self.width - len(text) - len(right)) if right else ""
        self.line((text, "1"), (gap, ""), (right, "2"))

    def relative(self, text: str) -> str:
        return text.replace(self.cwd.rstrip("/") + "/", "") if len(self.cwd) > 1 else text

    def text(self, text: str, first: str = "  ", rest: str = "  ") -> None:
        """One paragraph; what came from the program is stripped of control characters."""
        for line in NUMBER_AND_UNIT.sub("\\1\u00a0\\2", clean(self.relative(text))).splitlines() or [""]:
            wrapped = textwrap.wrap(
                line, self.width - 1, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
            )
            self.lines += [line.replace("\u00a0", " ") for line in wrapped] or [""]
            first = rest

    def item(self, text: str) -> None:
        self.text(text, "  · ", "    ")

    def line(self, *parts: tuple[str, str]) -> None:
        """One line of (text, colour) parts, cut at the page's edge."""
        room = self.width
        painted = ""
        for text, code in parts:
            text = clean(text).replace("\n", " ")
            if len(text) > room:
                text = text[: max(0, room - 1)] + "…" if room else ""
            room -= len(text)
            painted += self.paint(text, code) if code else text
        self.lines.append(painted)

    def __str__(self) -> str:
        return "\n".join(self.lines).rstrip() + "\n"


def page(diagnosis: Diagnosis, width: int = 80, colour: bool = False, verbose: bool = False) -> str:
    """The whole answer. Verbose adds the other findings in full, all that was ruled out, and the stack."""
    for ruled_out in range(MOST_RULED_OUT, 0, -1):
        told = _page(diagnosis, width, colour, verbose, ruled_out)
        if verbose or len(told.lines) <= ONE_SCREEN:
            break
    return str(told)


def _page(diagnosis: Diagnosis, width: int, colour: bool, verbose: bool, most_ruled_out: int) -> Page:
    run = diagnosis.run
    out = Page(min(max(width, 40), 100), colour, run.cwd)
    title = f"laststep · {run.id}"
    gap = " " * max(2, out.width - len(title) - len(diagnosis.outcome))
    out.line((title, "2"), (gap, ""), (diagnosis.outcome, "1;" + OUTCOME_COLOURS[diagnosis.outcome]))
    out.text(" ".join(run.command) if not run.is_log else _the_log(diagnosis), "", "")
    attached = run.last("attach")
    if attached is not None:
        tell_process(out, run, attached, verbose)
    else:
        out.heading("What happened")
        out.text(what_happened(diagnosis))
    stopped = run.last("recording-stopped")
    if stopped is not None:
        because = words.ERRNO.get(str(stopped.get("because")), str(stopped.get("because")))
        out.text(f"Recording stopped early ({because}): what came later is not known. The program was not disturbed.")
    for note in run.too_large[:MOST_NOTES]:
        out.text(f"Not all of it was read: {note}.")
    for number, finding in enumerate(diagnosis.findings):
        if number == 0 or verbose:
            _tell(out, finding, diagnosis)
    if not diagnosis.findings:
        if attached is None or diagnosis.outcome == "stalled":
            _tell_nothing(out, diagnosis)
    elif not verbose:
        _tell_others(out, diagnosis)
    _tell_harmless(out, diagnosis, verbose)
    _tell_ruled_out(out, diagnosis, verbose, most_ruled_out)
    if diagnosis.findings:
        _tell_changes(out, diagnosis.findings[0], diagnosis)
    if verbose:
        _tell_stack(out, diagnosis)
    _tell_more(out, diagnosis, verbose)
    return out


def what_happened(diagnosis: Diagnosis) -> str:
    run = diagnosis.run
    verbs = {
        "finished": "The program finished",
        "running": "The program is running",
        "stopped": "Training stopped early",
        "crashed": "The program crashed",
        "stalled": "The program is alive and gets nowhere",
        "unknown": "The log does not say how it ended",
    }
    if stopped_by_laststep(run):
        verbs["stopped"] = "Training was stuck, and laststep stopped it as asked"
    elif diagnosis.outcome == "stopped" and not run.training_seen:
        verbs["stopped"] = "The program was stopped"
    if run.is_log:
        return f"{verbs[diagnosis.outcome]}{_how(diagnosis)}; {progress(run).says}."
    return f"{verbs[diagnosis.outcome]}{_how(diagnosis)}{_progress(diagnosis)}, after {words.span(run.seconds)}."


def _the_log(diagnosis: Diagnosis) -> str:
    log = diagnosis.run.first("log")
    assert log is not None
    told = f"{words.count(log.get('lines'), 'line')}, {words.size(log.get('bytes'))}; nothing was recorded"
    several = f". It holds {log.get('runs')} runs: this is about the last" if log.get("runs") > 1 else ""
    rubbish = f". {words.count(log.get('rubbish'), 'line')} of it are no text" if log.get("rubbish") else ""
    turned = ". Its newest line comes first; lines are counted from the oldest" if log.get("reversed") else ""
    return told + several + rubbish + turned


def _tell_harmless(out: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Messages that frighten people and mean nothing, named as such; only of a bare log, or when asked."""
    if not (diagnosis.run.is_log or verbose):
        return
    known = harmless_in(parsed_console(diagnosis.run).lines)
    if known:
        out.heading("Harmless, though it looks otherwise")
        for item in known if verbose else known[:MOST_HARMLESS]:
            out.item(f"“{item.words}”: {item.meaning}" + (f" ({item.times} times)" if item.times > 1 else ""))


def _how(diagnosis: Diagnosis) -> str:
    run = diagnosis.run
    if run.signal:
        return f" ({run.signal})"
    if run.exit_code:
        return f" (exit code {run.exit_code})"
    return " (without a word)" if run.vanished else ""


def _progress(diagnosis: Diagnosis) -> str:
    run = diagnosis.run
    if not run.training_seen:
        return ", without a training step that laststep saw" if run.has("recorder") else ""
    told = f" at step {run.steps[-1].number:,}" if run.steps else " before the first step"
    fit = run.fit
    if fit is not None and fit.asked:
        told += f", {fit.reached} of {words.count(fit.asked, 'epoch')} complete"
    return told


def _tell(out: Page, finding: Finding, diagnosis: Diagnosis) -> None:
    out.heading("Why", finding.rule)
    cwd = diagnosis.run.cwd
    where = words.place(finding.where, cwd)
    word = finding.confidence.name
    indent = "  " + " " * (len(word) + 2)
    cause = clean(out.relative(finding.cause))
    first, *rest = textwrap.wrap(
        cause, out.width - 1, initial_indent=indent, subsequent_indent="  ", break_on_hyphens=False
    ) or [indent]
    out.line(("  ", ""), (word, "1"), ("  " + first.lstrip(), ""))
    for line in rest:
        out.line((line, ""))
    if where:
        text = str((finding.where or {}).get("text") or "")
        out.line(("  ", ""), (where, "36"), (f"   {text}" if text else "", ""))
    out.heading("Evidence")
    above = progress(diagnosis.run).says if diagnosis.run.is_log else None  # said in the first sentence
    for item in finding.evidence:
        if item.says == above:
            continue
        drawn = words.curve(item.curve)
        out.item(item.says + (f"\n{drawn}" if drawn else ""))


def _tell_others(out: Page, diagnosis: Diagnosis) -> None:
    """Further findings, less those that another one explains."""
    known = all_rules()
    echoes = {rule for finding in diagnosis.findings if finding.rule in known for rule in known[finding.rule].outranks}
    others = [finding for finding in diagnosis.findings[1:] if finding.rule not in echoes]
    if others:
        out.heading("Also")
    for finding in others[:3]:
        out.item(f"{finding.cause} ({finding.confidence.name}, {finding.rule})")


def _tell_nothing(out: Page, diagnosis: Diagnosis) -> None:
    out.heading("Why")
    if diagnosis.outcome in ("finished", "running"):
        out.text("Nothing to report.")
        notes = [item for item in diagnosis.ruled_out if item.note]
        if notes:
            out.heading("Worth knowing")
            for item in notes:
                out.item(item.because)
    elif diagnosis.run.is_log:
        _tell_what_to_run(out, diagnosis)
    elif diagnosis.run.has("attach"):
        out.text("No cause found: it waits where nobody sees from outside. Started with `laststep run` it would tell.")
    else:
        out.text("No cause found. The record does not say; what was looked at is below.")


def _tell_what_to_run(out: Page, diagnosis: Diagnosis) -> None:
    """A log that does not say: what would."""
    if diagnosis.outcome == "unknown":
        out.text(
            "Nothing in the log speaks of trouble, and it does not show the end: it may be cut, or go on elsewhere."
        )
    else:
        out.text("No cause found: the log does not say.")
    out.text("To find out, let it be recorded the next time:")
    out.line(("      ", ""), ("laststep run python train.py", "32"))


def _tell_ruled_out(out: Page, diagnosis: Diagnosis, verbose: bool, most: int) -> None:
    if diagnosis.run.is_log and not verbose:
        return  # a log shows little that could rule anything out
    if diagnosis.findings or diagnosis.outcome in ("stopped", "crashed", "stalled") or verbose:
        telling = [item for item in diagnosis.ruled_out if item.measured or not diagnosis.findings]
        shown = list(diagnosis.ruled_out) if verbose else telling
        shown.sort(key=lambda item: (not item.measured, item.rule != "host-out-of-memory"))
        if shown:
            out.heading("Ruled out")
            for item in shown if verbose else shown[:most]:
                out.item(f"{item.rule}: {item.because}")
    reasons: dict[str, list[str]] = {}
    for unchecked in diagnosis.unchecked:
        reasons.setdefault(unchecked.because, []).append(unchecked.rule)
    strange = [probe for probe in diagnosis.run.all("probe") if probe.get("state") in ("unsupported", "removed")]
    if (reasons and diagnosis.outcome != "running") or strange:
        out.heading("Could not be checked")
        for probe in strange[:3]:
            out.item(f"what the probe {probe.get('name')} sees: {probe.get('because')}")
        for because, rules in list(reasons.items())[: len(reasons) if verbose else MOST_UNCHECKED]:
            more = f" and {len(rules) - 3} more" if len(rules) > 3 and not verbose else ""
            out.item(f"{', '.join(rules if verbose else rules[:3])}{more}: {because}")


def _tell_changes(out: Page, finding: Finding, diagnosis: Diagnosis) -> None:
    if not finding.remedies:
        return
    out.heading("What to change")
    for remedy in finding.remedies[:3]:
        _tell_remedy(out, remedy, diagnosis)


def _tell_remedy(out: Page, remedy: Remedy, diagnosis: Diagnosis) -> None:
    out.item(remedy.does + (" (cannot change what the model learns)" if remedy.safe else ""))
    if remedy.change:
        where = words.place(remedy.where, diagnosis.run.cwd)
        if where:
            out.line(("      ", ""), (where, "36"))
        for line in remedy.change.splitlines():
            out.line(("      ", ""), (line, "32"))


def _tell_stack(out: Page, diagnosis: Diagnosis) -> None:
    event = diagnosis.run.uncaught or diagnosis.run.last("exception")
    frames = list(event.get("frames", [])) if event else []
    fault = diagnosis.run.last("fault")
    if fault is not None:
        current = next((t for t in fault.get("threads", []) if t.get("current")), None)
        frames = list(reversed(current["frames"])) if current else frames
    if frames:
        out.heading("The stack, the last call at the bottom")
        for frame in frames:
            out.line((f"  {words.place(frame, diagnosis.run.cwd)} in {frame.get('function', '?')}", ""))
        if event is not None and fault is None:
            out.text(f"{event.get('type')}: {event.get('message')}")


def _tell_more(out: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    hints = [f"laststep explain {finding.rule}" for finding in diagnosis.findings[:1]]
    if diagnosis.run.fits and not diagnosis.run.alive and any(map(_can_be_tried, diagnosis.findings[:1])):
        hints.append("laststep prove")
    if not verbose:
        hints.append(_ask_again(diagnosis.run))
    if diagnosis.findings or diagnosis.outcome in ("stopped", "crashed"):
        out.blank()
        told = "More: " + " · ".join(hints)
        for line in [told] if len(told) <= out.width else [f"More: {hints[0]}", *(f"      {h}" for h in hints[1:])]:
            out.line((line, "2"))


def _can_be_tried(finding: Finding) -> bool:
    return finding.confidence < Confidence.PROVEN and any(remedy.trial for remedy in finding.remedies)


def _ask_again(run: Run) -> str:
    if run.has("attach"):
        return f"laststep attach {run.id.removeprefix('process ')} -v"
    return f"laststep {'diagnose' if run.is_log else 'why'} {run.id} -v"
