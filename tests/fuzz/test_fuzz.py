"""A short part of `make fuzz`, the same in each run; and proof that it would notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from laststep.reports import printing
from tests.fuzz import cases
from tests.fuzz.mutate import CANARY, EVIL

pytestmark = pytest.mark.slow  # many processes
SHORT = 12  # cases of a kind; what the schema's own test tries (any field torn, any file cut) is tried there


STARTS_PROCESSES = (cases.by_command, cases.with_and_without)
IN_PROCESS = [case for case in cases.CASES if case not in STARTS_PROCESSES]


@pytest.mark.parametrize("case", IN_PROCESS, ids=lambda case: case.__name__)
def test_what_is_spoiled_breaks_nothing(case: cases.Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "CASES", {case: 1})
    found = [cases.run_case(f"short:{number}", tmp_path / str(number)) for number in range(SHORT)]
    assert [one for one in found if one["broke"]] == []


def test_nor_through_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "CASES", {cases.by_command: 1})
    found = [cases.run_case(f"short:{number}", tmp_path / str(number)) for number in range(8)]
    assert [one for one in found if one["broke"]] == []
    assert len({one["did"][-1] for one in found}) > 3, "several verbs"


def test_nor_does_recording_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "CASES", {cases.with_and_without: 1})
    found = [cases.run_case(f"short:{number}", tmp_path / str(number)) for number in range(6)]
    assert [one for one in found if one["broke"]] == []


def test_it_notices_a_program_that_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "CASES", {cases.with_and_without: 1})
    given_away = "import os; print(bool(os.environ.get('LASTSTEP_DIR')), os.getppid() == os.getpgrp())"
    monkeypatch.setattr(cases.programs, "PROGRAMS", {"tells": given_away})
    monkeypatch.setattr(cases.programs, "CONDITIONS", (cases.programs.PLAIN,))
    monkeypatch.setattr(cases.programs, "LASTSTEP", ["env", "LASTSTEP_DIR="])
    assert "bare" in cases.run_case("short:1", tmp_path / "here")["broke"]


def test_it_notices_what_is_printed() -> None:
    for text in (EVIL, "x\x1b[0m", "a\u202eb", f"so {CANARY} says"):
        with pytest.raises(cases.Broke):
            cases.check_printed(text)
    cases.check_printed("a page\nof é 日本 · …")


def test_it_notices_an_error_and_a_leak_of_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "CASES", {cases.in_process: 1})
    monkeypatch.setattr("laststep.reports.page.clean", lambda text: text)
    monkeypatch.setattr("laststep.reports.sheet.clean", lambda text: text)
    found = (cases.run_case(f"short:{number}", tmp_path / str(number)) for number in range(5 * SHORT))
    assert any("printed" in one["broke"] for one in found)
    assert printing.clean(EVIL) != EVIL


def test_it_notices_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "CASES", {cases.of_a_log: 1})
    monkeypatch.setattr(cases, "mutated_bytes", lambda rng, content: content + b"x" * (100 << 20))
    monkeypatch.setattr(cases, "MEGABYTES", 50)
    assert "MB" in cases.run_case("short:1", tmp_path / "here")["broke"]


def test_a_seed_is_a_case(tmp_path: Path) -> None:
    one, other = (cases.run_case("again:3", tmp_path / name) for name in ("a", "b"))
    assert (one["case"], one["did"], one["broke"]) == (other["case"], other["did"], other["broke"])
