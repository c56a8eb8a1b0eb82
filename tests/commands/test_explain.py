"""laststep explain and laststep rules: the rules' own text."""

from __future__ import annotations

import pytest

from laststep.cli import main
from laststep.rules.rule import HEADINGS, all_rules


@pytest.mark.parametrize("name", sorted(all_rules()))
def test_every_rule_explains_itself(capsys, name):
    assert main(["explain", name]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith(name)
    for heading in HEADINGS:
        assert f"\n{heading}\n" in shown.out


def test_underscores_will_do(laststep):
    assert laststep("explain", "host_out_of_memory").stdout == laststep("explain", "host-out-of-memory").stdout


def test_explain_fits_into_80_columns(laststep):
    shown = laststep("explain", "host-out-of-memory").stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_a_misspelt_rule_gets_a_suggestion(laststep, one_line):
    line = one_line(laststep("explain", "host-out-of-memry"))
    assert line == "laststep: no rule host-out-of-memry; did you mean host-out-of-memory?"


def test_a_rule_like_no_other_gets_the_way_to_the_list(laststep, one_line):
    assert "`laststep rules`" in one_line(laststep("explain", "zzz"))


def test_explain_needs_a_rule(laststep):
    result = laststep("explain")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_rules_lists_all_of_them_by_symptom(laststep):
    result = laststep("rules")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    for rule in all_rules().values():
        row = next(number for number, line in enumerate(lines) if line.startswith(f"  {rule.name} "))
        above = [line for line in lines[:row] if not line.startswith(" ")]
        assert above[-1] == rule.symptom
    assert max(map(len, lines)) <= 80
