"""Healthy programs and those of the diverged rules, recorded once (tests/recordings.py), diagnosed anew each time."""

from __future__ import annotations

import io
import tarfile
from functools import cache
from pathlib import Path

import pytest

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.rules.diagnose import read_diagnosis
from tests.harness import all_scenarios, scenario

ARCHIVE = Path(__file__).parent.parent / "recorded" / "programs.tar.xz"
FEWEST_HEALTHY = 60


@cache
def names() -> tuple[str, ...]:
    with tarfile.open(ARCHIVE) as archive:
        return tuple(sorted({member.name.partition("/")[0] for member in archive.getmembers()}))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    with tarfile.open(fileobj=io.BytesIO(ARCHIVE.read_bytes())) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_each_is_still_a_scenario_and_healthy_ones_are_many() -> None:
    known = {asked.name: asked for asked in all_scenarios()}
    assert set(names()) <= set(known)
    assert len([name for name in names() if name.startswith("healthy")]) >= FEWEST_HEALTHY


@pytest.mark.parametrize("name", names())
def test_what_was_recorded_is_told_right(name: str, runs: Path) -> None:
    asked, told = scenario(name), read_diagnosis(runs / name)
    assert [item for item in told.unchecked if "rule itself failed" in item.because] == []
    if asked.expect == "healthy":
        assert _above_possible(told) == []
    else:
        assert [finding.rule for finding in told.findings[:1]] == [asked.expect]
        assert asked.here is None or (told.findings[0].where or {}).get("line") == asked.here


def _above_possible(told: Diagnosis) -> list[str]:
    return [finding.rule for finding in told.findings if finding.confidence > Confidence.POSSIBLE]
