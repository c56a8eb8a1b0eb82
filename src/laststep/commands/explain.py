"""explain one rule: what happened, how laststep knows, what to do"""

from __future__ import annotations

import argparse
import difflib
import sys

from laststep.rule import all_rules

EXAMPLES = ("laststep explain host-out-of-memory",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", help="the rule's name; `laststep rules` lists them")


def run(asked: argparse.Namespace) -> int:
    rules = all_rules()
    rule = rules.get(asked.rule.replace("_", "-"))
    if rule is None:
        near = difflib.get_close_matches(asked.rule, rules, n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `laststep rules` lists them"
        print(f"laststep: no rule called {asked.rule}{hint}", file=sys.stderr)
        return 2
    print(f"{rule.name} ({rule.symptom})\n\n{rule.explanation}")
    return 0
