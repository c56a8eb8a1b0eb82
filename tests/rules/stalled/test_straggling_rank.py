"""straggling-rank on made-up paces."""

from __future__ import annotations

import pytest

from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.rules.stalled.runs import found
from tests.supervisor.stuck import RANKS, event, stuck_run

LINE = {"file": "/home/me/train.py", "line": 44, "text": "draw(w)", "looks": 9}


def pace(*at_work: int, snapshots: int = 20, time: float = 139.0) -> Event:
    ranks = [{"rank": i, "pid": 50 + i, "at_work": n, "lines": [LINE] if n else []} for i, n in enumerate(at_work)]
    return event(time, "pace", looks=snapshots, ranks=ranks)


def paced(*events: Event) -> Run:
    return stuck_run({}, event(99.1, "setup", **RANKS), *events, kind="look")


def test_a_rank_that_the_others_wait_for_is_named_with_its_line() -> None:
    finding = found(paced(pace(0, 14)))["straggling-rank"]
    assert "Rank 1" in finding.cause
    assert finding.where is not None
    assert finding.where.line == 44
    assert "in 14 of 20 snapshots" in finding.evidence[0].says


def test_the_newest_pace_counts() -> None:
    assert "straggling-rank" not in found(paced(pace(0, 14, time=110.0), pace(3, 4)))


@pytest.mark.parametrize("at_work", [(15, 17), (6, 13), (0, 9), (0, 0), (14,), ()])
def test_ranks_that_are_alike_or_hardly_ever_at_work_do_not_straggle(at_work: tuple[int, ...]) -> None:
    assert "straggling-rank" not in found(paced(pace(*at_work)))


def test_one_process_alone_or_ranks_elsewhere() -> None:
    assert "straggling-rank" not in found(stuck_run({}, pace(0, 14), kind="look"))
    unchecked = {item.rule: item.because for item in diagnose(paced()).unchecked}
    assert "on other machines" in unchecked["straggling-rank"]
