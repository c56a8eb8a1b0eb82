"""Every scenario, recorded once (tests/recordings.py), diagnosed in each test run."""

from __future__ import annotations

import dataclasses

import pytest

from laststep.record.events.supervisor import Launch
from laststep.record.run import Run
from tests.answers import ON_A_RECORDING, check_all
from tests.harness import Scenario, all_scenarios
from tests.known import known_defect
from tests.recordings import ARCHIVE, CWD, Recordings, is_recorded, recorded_scenario

MAX_BYTES = 8_000_000


@pytest.mark.parametrize("asked", all_scenarios(), ids=lambda asked: asked.name)
def test_a_recording_is_answered_right(asked: Scenario, recordings: Recordings) -> None:
    with known_defect(asked):
        assert is_recorded(asked, recordings.runs), f'to record it again: make recordings NAMES="{asked.name}"'
        check_all(ON_A_RECORDING, as_recorded(asked, recordings), recordings.answer(asked.name))


def as_recorded(asked: Scenario, recordings: Recordings) -> Scenario:
    """Its docstring may have grown since: the line is another one then."""
    longer = asked.head - recorded_scenario(asked.name, recordings.runs[asked.name]).head
    return dataclasses.replace(asked, here=asked.here - longer if asked.here is not None else None)


def test_nothing_else_is_recorded(recordings: Recordings) -> None:
    assert set(recordings.runs) <= {asked.name for asked in all_scenarios()}
    assert ARCHIVE.stat().st_size < MAX_BYTES


def test_no_machine_shows_in_them(recordings: Recordings) -> None:
    launches = [Run.load(recordings.folder(name)).first(Launch) for name in recordings.runs]
    assert {(launch.host, launch.cwd, launch.command[0]) for launch in launches if launch} == {("host", CWD, "python")}
    assert None not in launches
