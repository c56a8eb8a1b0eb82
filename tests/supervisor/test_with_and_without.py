"""Small programs run bare and recorded in the same conditions: the same bytes, status, modes and facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.supervisor import programs

pytestmark = pytest.mark.slow  # many processes
PAIRS = [("facts", condition) for condition in programs.CONDITIONS]
PAIRS += [(name, programs.PLAIN) for name in programs.PROGRAMS if name != "facts"]
MORE = [
    (name, condition)
    for condition in programs.CONDITIONS
    if condition.name in ("terminal", "all closed")
    for name in ("raises", "killed", "writes to both", "child output", "exit text", "interrupts itself")
]
MORE += [(name, condition) for condition in programs.CONDITIONS if condition.python for name in ("aborts", "segfault")]
EVERY = [*PAIRS, *MORE]


@pytest.mark.parametrize(("program", "condition"), EVERY, ids=lambda one: str(getattr(one, "name", one)))
def test_the_same_with_and_without(tmp_path: Path, program: str, condition: programs.Condition) -> None:
    folder = tmp_path / "here"
    outcomes = []
    for recorded in (False, True):
        folder.mkdir()
        outcomes.append(programs.run(program, condition, folder, recorded))
        folder.rename(tmp_path / f"done-{recorded}")
    assert outcomes[1] == outcomes[0]
