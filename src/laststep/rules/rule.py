"""@rule, and how rules are found on disk."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Literal, TypeAlias

from laststep.analysis.finding import Answer as Answer
from laststep.record.run import Run

Check: TypeAlias = Callable[[Run], Answer]
Vantage: TypeAlias = Literal["inside", "outside", "attached", "log"]

SYMPTOMS = ("stopped", "crashed", "stalled", "leaked", "diverged")
HEADINGS = ("What happened", "How laststep knows", "What to do", "Not to be confused with")
SUFFERED = ("leaked", "diverged")  # training suffers from these, and ends because of something else


class Tier(IntEnum):
    """How near a rule is to what the user must change."""

    ROOT = 1  # explains other causes
    CAUSE = 2  # ends training, or spoils it, by itself
    CONSEQUENCE = 3  # has a cause, which another rule may know
    ECHO = 4  # how the end was noticed: certain of what happened, not of why


@dataclass(frozen=True)
class Rule:
    """A rule for one cause."""

    name: str
    symptom: str
    tier: Tier
    sees: tuple[Vantage, ...]  # the records that it can judge: from each of these places alone
    follows: tuple[str, ...]  # rules, or symptoms, that it may be a consequence of
    ends: bool  # training ended, or hangs, because of it; otherwise it suffers
    outranks: tuple[str, ...]  # exceptions to the order by tier
    explanation: str
    check: Check

    @property
    def summary(self) -> str:
        return self.explanation.splitlines()[0]


def rule(
    *,
    tier: Tier = Tier.CAUSE,
    sees: tuple[Vantage, ...] = ("inside", "outside", "log"),
    follows: tuple[str, ...] = (),
    ends: bool | None = None,
    outranks: tuple[str, ...] = (),
) -> Callable[[Check], Rule]:
    """The function's name is the rule's, its folder is the symptom, its docstring is `laststep explain`."""

    def make(check: Check) -> Rule:
        symptom = check.__module__.split(".")[-2]
        return Rule(
            name=check.__name__.replace("_", "-"),
            symptom=symptom,
            tier=tier,
            sees=sees,
            follows=follows,
            ends=symptom not in SUFFERED if ends is None else ends,
            outranks=outranks,
            explanation=inspect.cleandoc(check.__doc__ or ""),
            check=check,
        )

    return make


@functools.cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule, by name, in the order of the symptoms."""
    found: dict[str, Rule] = {}
    for symptom in SYMPTOMS:
        folder = Path(__file__).parent / symptom
        for path in sorted(folder.glob("*.py")):
            if path.stem.startswith("_"):
                continue
            module = importlib.import_module(f"laststep.rules.{symptom}.{path.stem}")
            for value in vars(module).values():
                if isinstance(value, Rule) and value.check.__module__ == module.__name__:
                    found[value.name] = value
    return found
