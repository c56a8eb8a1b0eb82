"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest

from laststep.recorder import guard

pytest.register_assert_rewrite("tests.answers", "tests.contract", "tests.harness")

from tests import harness  # noqa: E402 - after the line above
from tests.recordings import Recordings  # noqa: E402

# The same examples in each session; `make fuzz` looks for others.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("new", derandomize=False, deadline=None, database=None)
hypothesis.settings.load_profile("same")


def pytest_configure() -> None:
    harness.default_signals()  # in each worker, before it starts a process


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """The recording of each scenario."""
    return Recordings(tmp_path_factory.mktemp("recordings"))


@pytest.fixture(scope="session", autouse=True)
def _a_key_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs are signed with a key in the user's state directory: not with that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


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
