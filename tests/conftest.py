"""What all tests share: one place per session for the programs that were run for real."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import harness
import pytest

from laststep.recorder import guard


@pytest.fixture(scope="session")
def runs_of_this_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same folder in every xdist worker of one session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "runs-for-real"
    folder.mkdir(exist_ok=True)
    return folder


def _or_skip(run: Callable[[], harness.Ran]) -> harness.Ran:
    try:
        return run()
    except harness.CannotRun as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def recorded(runs_of_this_session: Path) -> Callable[[harness.Scenario], harness.Ran]:
    """Run a scenario with laststep."""
    return lambda asked: _or_skip(lambda: harness.run_scenario(asked, runs_of_this_session, recorded=True))


@pytest.fixture(scope="session")
def bare(runs_of_this_session: Path) -> Callable[[harness.Scenario], harness.Ran]:
    """Run a scenario as if laststep did not exist."""
    return lambda asked: _or_skip(lambda: harness.run_scenario(asked, runs_of_this_session, recorded=False))


@pytest.fixture(autouse=True)
def _nothing_is_swallowed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Loud in tests: what the guard swallowed in this process is raised again, unless the test asked for it."""
    guard.swallowed.clear()
    yield
    caught, _ = list(guard.swallowed), guard.swallowed.clear()
    if caught and "errors_are_swallowed" not in request.fixturenames:
        raise caught[0]


@pytest.fixture
def errors_are_swallowed() -> None:
    """For a test that makes our own code fail on purpose."""
