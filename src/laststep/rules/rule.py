"""@rule, and how rules are found on disk."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from laststep.analysis.finding import Answer as Answer
from laststep.record.run import Run

Need: TypeAlias = str | tuple[str, ...]  # a kind of event, or several of which one will do
Check: TypeAlias = Callable[[Run], Answer]

SYMPTOMS = ("stopped", "crashed", "stalled", "leaked", "diverged")
HEADINGS = ("What happened", "How laststep knows", "What to do", "Not to be confused with")


@dataclass(frozen=True)
class Rule:
    """Knows one cause."""

    name: str
    symptom: str
    needs: tuple[Need, ...]
    outranks: tuple[str, ...]
    explanation: str
    check: Check

    @property
    def summary(self) -> str:
        return self.explanation.splitlines()[0]


def rule(*, needs: tuple[Need, ...] = (), outranks: tuple[str, ...] = ()) -> Callable[[Check], Rule]:
    """The function's name is the rule's, its folder is the symptom, its docstring is `laststep explain`."""

    def make(check: Check) -> Rule:
        return Rule(
            name=check.__name__.replace("_", "-"),
            symptom=check.__module__.split(".")[-2],
            needs=needs,
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
