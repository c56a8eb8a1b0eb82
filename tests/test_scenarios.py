"""Scenarios run for real: laststep names the cause of each end, and the program runs as without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.answers import MAX_FORECASTS, ON_A_RECORDING, WITHOUT_TRAINING, check_all, read_answer
from tests.contract import check_same, run_bare
from tests.harness import CannotRun, Ran, Scenario, all_scenarios, run_scenario
from tests.known import known_defect

pytestmark = pytest.mark.slow


def _parameter(asked: Scenario) -> object:
    limit = pytest.mark.timeout(2 * asked.seconds + 60)  # with laststep, bare, and what is asked of them
    return pytest.param(asked, id=asked.name, marks=[limit, *([] if asked.is_live else [pytest.mark.all])])


# One test for all that is asked of a run: a program is started once, by the worker that has the test.
@pytest.mark.parametrize("asked", [_parameter(asked) for asked in all_scenarios()])
def test_a_program_run_for_real(asked: Scenario, tmp_path: Path) -> None:
    try:
        ran = run_scenario(asked, tmp_path / "recorded", recorded=True)
    except CannotRun as reason:
        pytest.skip(str(reason))
    assert ran.folder is not None
    assert ran.status == asked.exit, ran.stderr.decode()
    answer = read_answer(ran.folder, ran.cwd, log=ran.stdout + ran.own_stderr)
    with known_defect(asked):
        check_all(ON_A_RECORDING, asked, answer)
    _the_last_words_are_the_answer(asked, ran, answer.page)
    assert len(ran.forecasts) <= MAX_FORECASTS, ran.stderr.decode()
    if not asked.stall:  # which never ends without laststep
        check_same(asked, ran, run_bare(asked, tmp_path / "bare"))


def _the_last_words_are_the_answer(asked: Scenario, ran: Ran, page: str) -> None:
    assert ran.folder is not None
    if asked.name in WITHOUT_TRAINING:
        assert ran.last_words.startswith(f"laststep: finished, but no training was seen ({ran.folder.name})\n")
    elif asked.expect == "healthy":
        assert ran.last_words == f"laststep: finished, nothing to report ({ran.folder.name})\n"
    else:
        assert ran.last_words.strip() == page.strip()


def test_about_thirty_are_live() -> None:
    """`make test` has a limit of time: one per way in which the recorder sees a program; the rest are recordings."""
    assert 25 <= len([asked for asked in all_scenarios() if asked.is_live]) <= 40
