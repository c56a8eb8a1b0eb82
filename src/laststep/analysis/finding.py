"""Finding, Evidence, Confidence, Remedy, Diagnosis."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from laststep.record.event import Event
from laststep.record.place import Place
from laststep.record.run import Run


class Confidence(IntEnum):
    """How certain a finding is; `meaning` defines each word."""

    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3
    PROVEN = 4

    @property
    def meaning(self) -> str:
        return {
            "POSSIBLE": "consistent with the record, as other causes are",
            "LIKELY": "measured, and nothing recorded speaks against it",
            "CERTAIN": "the operating system or the framework said so",
            "PROVEN": "an experiment we ran confirmed it",
        }[self.name]


@dataclass(frozen=True)
class Evidence:
    """One thing that was measured or recorded, with the events that show it and perhaps a small curve."""

    says: str
    events: tuple[Event, ...] = ()
    curve: tuple[float, ...] = ()


@dataclass(frozen=True)
class Remedy:
    """What to change. Safe: it cannot change what the model learns. Trial: how `laststep prove` tests it."""

    does: str
    change: str | None = None
    where: Place | None = None
    safe: bool = False
    trial: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Finding:
    """What one rule found."""

    cause: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    remedies: tuple[Remedy, ...] = ()
    where: Place | None = None
    rule: str = ""
    symptom: str = ""
    brief: str = ""  # as a link of the chain that led to the end; "" where the cause's first clause will do
    follows_from: str | None = None  # the rule of the finding that this one is a consequence of

    @property
    def in_brief(self) -> str:
        """One clause without a full stop, for the chain."""
        clause = self.brief or re.split(r"[:;] |\. |\.$|, and |, so ", self.cause, maxsplit=1)[0].strip()
        first, space, rest = clause.partition(" ")
        is_name = not first[1:].islower() and len(first) > 1  # TerminateOnNaN, OSError
        return clause if is_name else f"{first.lower()}{space}{rest}"

    def __post_init__(self) -> None:
        if not self.evidence:
            raise ValueError("a finding without evidence is a guess")


@dataclass(frozen=True)
class RuledOut:
    """Not this cause, and why. Shown if `measured`; a `note` even if there is no finding."""

    because: str
    measured: bool = False
    rule: str = ""
    note: bool = False


@dataclass(frozen=True)
class Unchecked:
    """A rule that could not be checked, and why."""

    because: str
    rule: str = ""


Answer: TypeAlias = Finding | RuledOut | Unchecked


TOO_SHORT = "too short to tell"  # so begins the answer of a rule that needs a longer record


def no(because: str) -> RuledOut:
    return RuledOut(because)


def measured(because: str) -> RuledOut:
    """Ruled out by a measurement, which is shown."""
    return RuledOut(because, measured=True)


def cannot(because: str) -> Unchecked:
    """The record lacks what the rule needs."""
    return Unchecked(because)


@dataclass(frozen=True)
class Diagnosis:
    """The ranked findings of one run, what was ruled out, and what could not be checked."""

    run: Run
    findings: tuple[Finding, ...]
    ruled_out: tuple[RuledOut, ...]
    unchecked: tuple[Unchecked, ...]
    outcome: str
    timed_out: bool = False  # the time limit was reached before all rules were checked
