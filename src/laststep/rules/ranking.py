"""Which finding comes first, and which follows from which."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from laststep.analysis.finding import Confidence, Finding
from laststep.rules.rule import Rule, Tier, all_rules


def rank(findings: Iterable[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """The root of how the run ended first, then by tier and confidence; what the end does not follow from comes last.

    Each finding names the one that it follows from, if that was found too.
    """
    found = list(findings)
    bearing = _bearing_on_the_end(found, rules)
    overruled = {name for finding in found for name in rules[finding.rule].outranks}
    ranked = sorted(
        found,
        key=lambda finding: (
            finding.rule not in bearing,
            finding.rule in overruled,
            rules[finding.rule].tier,
            _links_before(finding.rule, found, rules),
            -finding.confidence,
        ),
    )
    return [dataclasses.replace(finding, follows_from=_parent(finding, ranked, rules)) for finding in ranked]


def leaves_why_open(finding: Finding) -> bool:
    """It is certain what ended the program, and not why: a page does not call such a cause CERTAIN."""
    known = all_rules().get(finding.rule)
    return known is not None and known.tier is Tier.ECHO and finding.confidence is Confidence.CERTAIN


def _links_before(effect: str, findings: list[Finding], rules: Mapping[str, Rule]) -> int:
    """How many findings of its own tier lead to it, one after the other: a cause comes before its effect."""
    same = [each.rule for each in findings if rules[each.rule].tier == rules[effect].tier]
    causes = [cause for cause in same if may_follow(rules[effect], rules[cause])]
    return max((1 + _links_before(cause, findings, rules) for cause in causes), default=0)


def chain(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """How it came to the end: the last link first, the root last. The longest that leads to the first finding."""
    by_rule = {finding.rule: finding for finding in findings}
    root = next(iter(by_rule), None)
    paths = [path for finding in by_rule.values() if (path := _path(finding, by_rule))[-1].rule == root]
    longest = max(paths, key=len, default=[])
    return tuple(longest)


def _path(finding: Finding, by_rule: Mapping[str, Finding]) -> list[Finding]:
    path = [finding]
    while path[-1].follows_from in by_rule and len(path) <= len(by_rule):
        path.append(by_rule[path[-1].follows_from or ""])
    return path


def _bearing_on_the_end(findings: list[Finding], rules: Mapping[str, Rule]) -> set[str]:
    """The rules about how the run ended, or from which that follows; all of them where there are none."""
    bearing = {finding.rule for finding in findings if rules[finding.rule].ends}
    if not bearing:
        return {finding.rule for finding in findings}
    before = 0
    while len(bearing) > before:
        before = len(bearing)
        bearing |= {
            cause.rule
            for cause in findings
            if any(may_follow(rules[effect], rules[cause.rule]) for effect in bearing if effect != cause.rule)
        }
    return bearing


def may_follow(effect: Rule, cause: Rule) -> bool:
    """By name, or by symptom: then only from a rule of a higher tier, and from no rule about slowness."""
    if cause.name in effect.follows:
        return True
    is_end = cause.ends or cause.symptom != "stalled"
    return cause.symptom in effect.follows and cause.tier < effect.tier and is_end and cause.name != effect.name


def _parent(finding: Finding, ranked: list[Finding], rules: Mapping[str, Rule]) -> str | None:
    """The nearest link of those that it may follow from: the lowest tier, in it the last effect, the best ranked."""
    effect = rules[finding.rule]
    causes = [rules[other.rule] for other in ranked if other is not finding and may_follow(effect, rules[other.rule])]
    nearest = max(causes, key=lambda cause: (cause.tier, _links_before(cause.name, ranked, rules)), default=None)
    return nearest.name if nearest is not None else None
