"""explain one rule: what happened, how laststep knows, what to do"""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap

from laststep.rules.rule import all_rules

EXAMPLES = ("laststep explain host-out-of-memory",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", help="its name; `laststep rules` lists all")


def run(args: argparse.Namespace) -> int:
    rules = all_rules()
    rule = rules.get(args.rule.replace("_", "-"))
    if rule is None:
        near = difflib.get_close_matches(args.rule, rules, n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `laststep rules` lists all"
        print(f"laststep: no rule {args.rule}{hint}", file=sys.stderr)
        return 2
    print(f"{rule.name} ({rule.symptom})\n\n{_narrow(rule.explanation)}")
    return 0


def _narrow(text: str) -> str:
    """The paragraphs of an explanation, wrapped to 80 columns below their headings."""
    wrapped = []
    for paragraph in text.split("\n\n"):
        heading, _, body = paragraph.partition("\n") if "\n    " in paragraph else ("", "", paragraph)
        wrapped.append(heading) if heading else None
        indent = "    " if heading or paragraph.startswith("    ") else ""
        wrapped += textwrap.wrap(
            " ".join(body.split()), 80, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
        wrapped.append("")
    return "\n".join(wrapped).rstrip()
