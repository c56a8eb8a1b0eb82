"""Diagnosis → one screen of a terminal, at 80 columns too."""

from __future__ import annotations

from collections.abc import Sequence

from laststep.analysis.finding import TOO_SHORT, Confidence, Diagnosis, Finding, Remedy
from laststep.analysis.progress import progress
from laststep.analysis.unseen import Unseen, error_of_another, unseen_of
from laststep.logs.harmless import harmless_in
from laststep.logs.read import parsed_console
from laststep.record.events.logs import Log
from laststep.record.events.process import ProbeState, Raised
from laststep.record.events.shared import Frame
from laststep.record.events.stacks import Attached
from laststep.record.events.supervisor import Fault, RecordingStopped
from laststep.record.run import Run
from laststep.reports.attached import add_process
from laststep.reports.columns import columns, wrap
from laststep.reports.page import Page
from laststep.reports.printing import clean
from laststep.reports.summary import what_happened
from laststep.reports.unseen import advice, judged, lines_to_type, sentence, short_note
from laststep.rules.ranking import chain, leaves_why_open
from laststep.rules.rule import Tier, all_rules
from laststep.text import ERRNO, format_count, format_place, format_size, sparkline

MAX_PAGE_LINES = 43  # one screen; after a run there is a blank line before and after. What was ruled out gives way
MAX_RULED_OUT = 5
MAX_UNCHECKED = 3
MAX_HARMLESS = 3
MAX_NOTES = 3
MAX_OTHER_FINDINGS = 3
MAX_REMEDIES = 3
MAX_PROBES = 3
OUTCOME_COLOURS = {
    "finished": "32",
    "running": "36",
    "stopped": "33",
    "crashed": "31",
    "stalled": "33",
    "unknown": "36",
}


def page(diagnosis: Diagnosis, width: int = 80, colour: bool = False, verbose: bool = False) -> str:
    """The whole answer. Verbose adds the other findings in full, everything that was ruled out, and the stack."""
    for max_ruled_out in range(MAX_RULED_OUT, 0, -1):
        out = _page(diagnosis, width, colour, verbose, max_ruled_out)
        if verbose or len(out.lines) <= MAX_PAGE_LINES:
            break
    return str(out)


def _page(diagnosis: Diagnosis, width: int, colour: bool, verbose: bool, max_ruled_out: int) -> Page:
    run = diagnosis.run
    out = Page(min(max(width, 40), 100), colour, run.cwd)
    title = f"laststep · {run.id}"
    gap = " " * max(2, out.width - columns(title) - len(diagnosis.outcome))
    out.line((title, "2"), (gap, ""), (diagnosis.outcome, "1;" + OUTCOME_COLOURS[diagnosis.outcome]))
    out.text(" ".join(run.command) if not run.is_log else _log_header(diagnosis), "", "")
    attached = run.last(Attached)
    if attached is not None:
        add_process(out, run, attached, verbose)
    else:
        out.heading("What happened")
        out.text(what_happened(diagnosis))
    stopped = run.last(RecordingStopped)
    if stopped is not None:
        because = ERRNO.get(stopped.because, stopped.because)
        out.text(f"Recording stopped early ({because}), so later events are missing. The program was not affected.")
    for note in run.too_large[:MAX_NOTES]:
        out.text(f"The record was not read completely: {note}.")
    for number, finding in enumerate(diagnosis.findings):
        if number == 0 or verbose:
            _add_finding(out, finding, diagnosis)
    unseen = unseen_of(run)
    if unseen is not None and (unseen.reads_console or not diagnosis.findings):
        _add_unseen(out, diagnosis, unseen)
    elif not diagnosis.findings:
        if attached is None or diagnosis.outcome == "stalled":
            _add_no_finding(out, diagnosis)
    if diagnosis.findings and not verbose:
        _add_others(out, diagnosis)
    _add_harmless(out, diagnosis, verbose)
    _add_ruled_out(out, diagnosis, verbose, max_ruled_out)
    if diagnosis.findings:
        _add_remedies(out, diagnosis.findings[0], diagnosis)
    if verbose:
        _add_stack(out, diagnosis)
    _add_more(out, diagnosis, verbose)
    return out


def finished_note(diagnosis: Diagnosis, width: int) -> str:
    """In place of a page, for a run without findings that ended in order."""
    unseen = unseen_of(diagnosis.run)
    if unseen is None:
        return f"laststep: finished, nothing to report ({diagnosis.run.id})\n"
    out = Page(max(40, min(width, 100)), cwd=diagnosis.run.cwd)
    head, *rest = short_note(diagnosis, unseen)
    out.line((head, ""))
    for line in rest:
        indent = "      " if line.startswith(" ") else "  "
        out.text(line.strip(), indent, indent)
    return "\n".join(out.lines) + "\n"


def _log_header(diagnosis: Diagnosis) -> str:
    log = diagnosis.run.first(Log)
    assert log is not None
    size = f"{format_count(log.lines, 'line')}, {format_size(log.bytes)}; not recorded by laststep"
    several = f". The log holds {log.runs} runs; this is the last one" if log.runs > 1 else ""
    binary = f". {format_count(log.binary_lines, 'line')} are not text" if log.binary_lines else ""
    is_reversed = ". The newest line comes first; lines are counted from the oldest" if log.is_reversed else ""
    return size + several + binary + is_reversed


def _add_harmless(out: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Messages that look like errors and are harmless; only for a bare log, or if verbose."""
    if not (diagnosis.run.is_log or verbose):
        return
    known = harmless_in(parsed_console(diagnosis.run).lines)
    if known:
        out.heading("Harmless messages")
        for item in known if verbose else known[:MAX_HARMLESS]:
            out.item(f"“{item.words}”: {item.meaning}" + (f" ({item.times} times)" if item.times > 1 else ""))


def _add_finding(out: Page, finding: Finding, diagnosis: Diagnosis) -> None:
    is_open = leaves_why_open(finding)
    out.heading("What ended it" if is_open else "Why", finding.rule)
    word = "" if is_open else finding.confidence.name
    indent = "  " + " " * (len(word) + 2 if word else 0)
    cause = clean(out.relative(finding.cause))
    first, *rest = wrap(cause, out.width - 1, indent, "  ") or [indent]
    out.line(("  ", ""), (word, "1"), (("  " if word else "") + first.lstrip(), ""))
    for line in rest:
        out.line((line, ""))
    where = finding.where
    if where is not None:
        place = format_place(where, diagnosis.run.cwd)
        out.line(("  ", ""), (place, "36"), (f"   {where.text}" if where.text else "", ""))
    if is_open:
        out.text("That is certain; what led to it is not known.")
    if finding is diagnosis.findings[0]:
        _add_chain(out, diagnosis)
    out.heading("Evidence")
    above = progress(diagnosis.run).says if diagnosis.run.is_log else None  # already in the first sentence
    for item in finding.evidence:
        if item.says == above:
            continue
        drawn = sparkline(item.curve)
        out.item(item.says + (f"\n{drawn}" if drawn else ""))


def _add_chain(out: Page, diagnosis: Diagnosis) -> None:
    """How the first finding led to the end, where a link between the two says more than an echo does.

    A hang does not end by itself: what ended it is always worth a word.
    """
    known, hung = all_rules(), diagnosis.findings[0].symptom == "stalled"
    links = [
        each
        for each in chain(diagnosis.findings)
        if each.rule in known and (known[each.rule].tier < Tier.ECHO or (hung and each.symptom == "stopped"))
    ]
    if len(links) > 1 and known[links[0].rule].ends:
        out.text("How it ended: " + " ← ".join(out.relative(link.in_brief) for link in links) + ".")


def _add_others(out: Page, diagnosis: Diagnosis) -> None:
    """Further findings, without those that another one explains."""
    known = all_rules()
    echoes = {rule for finding in diagnosis.findings if finding.rule in known for rule in known[finding.rule].outranks}
    others = [each for each in diagnosis.findings[1:] if each.follows_from is None and each.rule not in echoes]
    if others:
        out.heading("Also")
    for finding in others[:MAX_OTHER_FINDINGS]:
        word = "" if leaves_why_open(finding) else f"{finding.confidence.name}, "
        out.item(f"{finding.cause} ({word}{finding.rule})")


def _add_no_finding(out: Page, diagnosis: Diagnosis) -> None:
    out.heading("Why")
    if diagnosis.outcome in ("finished", "running"):
        out.text("Nothing to report.")
        notes = [item for item in diagnosis.ruled_out if item.note]
        if notes:
            out.heading("Worth knowing")
            for item in notes:
                out.item(item.because)
    elif diagnosis.run.is_log:
        _add_what_to_run(out, diagnosis)
    elif diagnosis.run.has(Attached):
        out.text("No cause found: what it waits for cannot be seen from outside. `laststep run` records from inside.")
    else:
        out.text("No cause found. What was checked is listed below.")


def _add_unseen(out: Page, diagnosis: Diagnosis, unseen: Unseen) -> None:
    """That no finding means nothing here, why, and how to have it looked at."""
    if not diagnosis.findings and diagnosis.outcome not in ("finished", "running"):
        out.heading("Why")
        out.text("No cause found in what was looked at.")
    out.heading("What was not looked at")
    out.text(sentence(unseen))
    out.text(judged(diagnosis))
    remedy = unseen.remedy
    if remedy is not None:
        out.text(advice(remedy))
        for line in lines_to_type(unseen):
            out.line(("      ", ""), (line, "32"))


def _add_what_to_run(out: Page, diagnosis: Diagnosis) -> None:
    """The log does not contain the cause: how to get a record that does."""
    if diagnosis.outcome == "unknown":
        out.text("The log shows neither an error nor the end: it may be truncated, or continue in another file.")
    else:
        out.text("No cause found in the log.")
    out.text("To find out, record the next run:")
    out.line(("      ", ""), ("laststep run python train.py", "32"))


def _add_ruled_out(out: Page, diagnosis: Diagnosis, verbose: bool, limit: int) -> None:
    if diagnosis.run.is_log and not verbose:
        return  # a log contains little that could rule anything out
    if diagnosis.findings or diagnosis.outcome in ("stopped", "crashed", "stalled") or verbose:
        shown = [item for item in diagnosis.ruled_out if verbose or item.measured or not diagnosis.findings]
        shown.sort(key=lambda item: (not item.measured, item.rule != "host-out-of-memory"))
        if shown:
            out.heading("Ruled out")
            for item in shown if verbose else shown[:limit]:
                out.item(f"{item.rule}: {item.because}")
    reasons = _unchecked(diagnosis, verbose)
    disabled = [probe for probe in diagnosis.run.all(ProbeState) if probe.state in ("unsupported", "removed")]
    unseen = unseen_of(diagnosis.run)
    if unseen is not None and not verbose:  # its section says it already
        reasons = {because: rules for because, rules in reasons.items() if unseen.because not in because}
    if (reasons and diagnosis.outcome != "running") or disabled:
        out.heading("Could not be checked")
        for probe in disabled[:MAX_PROBES]:
            out.item(f"probe {probe.name}: {probe.because}")
        for because, rules in list(reasons.items())[: len(reasons) if verbose else MAX_UNCHECKED]:
            more = f" and {len(rules) - 3} more" if len(rules) > 3 and not verbose else ""
            out.item(f"{', '.join(rules if verbose else rules[:3])}{more}: {because}")


def _unchecked(diagnosis: Diagnosis, verbose: bool) -> dict[str, list[str]]:
    """Why → the rules. Where a cause was found, only what could be another cause of the same end."""
    reasons: dict[str, list[str]] = {}
    for unchecked in diagnosis.unchecked:
        is_short = unchecked.because.startswith(TOO_SHORT)
        if verbose or not diagnosis.findings or (not is_short and _could_have_ended_it(unchecked.rule, diagnosis)):
            because = TOO_SHORT if is_short and not verbose else unchecked.because
            reasons.setdefault(because, []).append(unchecked.rule)
    return reasons


def _could_have_ended_it(rule: str, diagnosis: Diagnosis) -> bool:
    known = all_rules()
    first = known.get(diagnosis.findings[0].rule)
    return first is None or rule not in known or known[rule].ends or not first.ends


def _add_remedies(out: Page, finding: Finding, diagnosis: Diagnosis) -> None:
    if not finding.remedies:
        return
    shown = finding.remedies[:MAX_REMEDIES]
    out.heading("What to change" if any(remedy.change for remedy in shown) else "What to do")
    for remedy in shown:
        _add_remedy(out, remedy, diagnosis)


def _add_remedy(out: Page, remedy: Remedy, diagnosis: Diagnosis) -> None:
    out.item(remedy.does + (" (cannot change what the model learns)" if remedy.safe else ""))
    if remedy.change:
        where = format_place(remedy.where, diagnosis.run.cwd)
        if where:
            out.line(("      ", ""), (where, "36"))
        for line in remedy.change.splitlines():
            out.line(("      ", ""), (line, "32"))


def _add_stack(out: Page, diagnosis: Diagnosis) -> None:
    run, unseen = diagnosis.run, unseen_of(diagnosis.run)
    printed = error_of_another(run) if unseen is not None and unseen.reads_console else None
    error, fault = printed or run.uncaught or run.last(Raised), run.last(Fault)
    frames = _frames_of(error, fault)
    if frames:
        out.heading("Stack (most recent call last)")
        for frame in frames:
            out.line((f"  {format_place(frame, diagnosis.run.cwd)} in {frame.function or '?'}", ""))
        if error is not None and fault is None:
            out.text(f"{error.type}: {error.message}")


def _frames_of(error: Raised | None, fault: Fault | None) -> Sequence[Frame]:
    """The stack of the thread that died, or else of the exception; innermost frame last."""
    died = next((thread for thread in fault.threads if thread.current), None) if fault is not None else None
    if died is not None:
        return died.frames[::-1]
    return error.frames if error is not None else ()


def _add_more(out: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    hints = [f"laststep explain {finding.rule}" for finding in diagnosis.findings[:1]]
    if diagnosis.run.fits and not diagnosis.run.alive and any(map(_can_be_tried, diagnosis.findings[:1])):
        hints.append("laststep prove")
    if not verbose:
        hints.append(_verbose_command(diagnosis.run))
    if diagnosis.findings or diagnosis.outcome in ("stopped", "crashed"):
        out.blank()
        whole = "More: " + " · ".join(hints)
        fits = columns(whole) <= out.width
        for line in [whole] if fits else [f"More: {hints[0]}", *(f"      {hint}" for hint in hints[1:])]:
            out.line((line, "2"))


def _can_be_tried(finding: Finding) -> bool:
    return finding.confidence < Confidence.PROVEN and any(remedy.trial for remedy in finding.remedies)


def _verbose_command(run: Run) -> str:
    if run.has(Attached):
        return f"laststep attach {run.id.removeprefix('process ')} -v"
    return f"laststep {'diagnose' if run.is_log else 'why'} {run.id} -v"
