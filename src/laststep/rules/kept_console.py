"""What the kept console adds to the answers about a run whose training was not looked at."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from laststep.analysis.finding import Answer, Confidence, Evidence, Finding, RuledOut
from laststep.analysis.unseen import Unseen, ended_in_order
from laststep.logs.read import parsed_console
from laststep.record.run import Run
from laststep.rules.rule import Rule, Tier
from laststep.text import format_count

_OF_A_LOG = re.compile(r"^(?:line (?=[\d,]+: )|the log\b)")


def has_kept_console(run: Run, unseen: Unseen) -> bool:
    """Of a run that goes on, the last lines may be half written."""
    return unseen.reads_console and not run.alive and bool(parsed_console(run).lines)


def better(rule: Rule, own: Answer, printed: Answer, run: Run, unseen: Unseen) -> Answer:
    """The answer that counts: what the record says of its own, or what `laststep diagnose` would say of the console."""
    if not isinstance(printed, Finding) or _is_known(rule, own, unseen):
        return own
    return dataclasses.replace(
        printed,
        evidence=_naming_the_console([*printed.evidence, *_how_the_recorded_one_ended(own)], run),
        confidence=min(printed.confidence, _most(run, rule)),
    )


def _is_known(rule: Rule, own: Answer, unseen: Unseen) -> bool:
    """The record found or measured it. How the recorded process ended is no news about another one."""
    if rule.tier is Tier.ECHO and unseen.kind == "elsewhere":
        return False
    return isinstance(own, Finding) or (isinstance(own, RuledOut) and own.measured)


def _most(run: Run, rule: Rule) -> Confidence:
    """That something ended the training is likely at most where the program itself ended in order."""
    if rule.ends and ended_in_order(run):
        return Confidence.LIKELY
    return Confidence.CERTAIN


def _how_the_recorded_one_ended(own: Answer) -> tuple[Evidence, ...]:
    return own.evidence[:1] if isinstance(own, Finding) else ()


def _naming_the_console(evidence: Iterable[Evidence], run: Run) -> tuple[Evidence, ...]:
    """So that the line of the console is not taken for one of the program."""
    named = [dataclasses.replace(item, says=_OF_A_LOG.sub(_as_console, item.says)) for item in evidence]
    if not any("the console" in item.says for item in named):
        lines = format_count(parsed_console(run).reading.lines, "line")
        named.append(Evidence(f"this is what the console shows ({lines}); the training itself was not recorded"))
    return tuple(named)


def _as_console(found: re.Match[str]) -> str:
    return "the console" if found[0] == "the log" else "the console, line "
