"""list the causes that laststep knows"""

from __future__ import annotations

import argparse
import textwrap

from laststep.rules.rule import SYMPTOMS, all_rules

EXAMPLES = ("laststep rules",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(args: argparse.Namespace) -> int:
    rules = all_rules().values()
    for symptom in SYMPTOMS:
        mine = [rule for rule in rules if rule.symptom == symptom]
        if mine:
            print(symptom)
        for rule in mine:
            lines = textwrap.wrap(rule.summary, 50)
            print(f"  {rule.name:26} {lines[0]}")
            for line in lines[1:]:
                print(" " * 29 + line)
    return 0
