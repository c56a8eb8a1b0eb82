"""What all tests share: one place per session for the programs that were run for real."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laststep.recorder import guard
from tests import harness


@pytest.fixture(scope="session")
def runs_of_this_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same folder in every xdist worker of one session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "runs-for-real"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _signals_of_a_terminal() -> None:
    """Under nohup, or behind an & in a script, some are ignored, and so they are in all programs that tests start."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _a_key_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs are signed with a key in the user's state directory: not with that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


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
