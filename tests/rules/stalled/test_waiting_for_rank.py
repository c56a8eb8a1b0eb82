"""waiting-for-rank on made-up runs."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from tests.rules.stalled.runs import found
from tests.supervisor.stuck import IN_STEP, RANKS, TRAIN, event, frame, main, run_of, snapshot, stuck_run


def test_the_rank_that_is_missing_is_named() -> None:
    peers = [
        {"rank": 0, "pid": 5, "threads": [main(*IN_STEP)]},
        {"rank": 1, "pid": 6, "threads": [main(frame("/home/me/train.py", "load", 9), TRAIN)]},
    ]
    data = snapshot(main(*IN_STEP), peers=peers)
    finding = found(stuck_run(data, event(99.1, "setup", **RANKS)))["waiting-for-rank"]
    assert "rank 1" in finding.cause
    assert "train.py:9" in finding.cause
    assert finding.confidence is Confidence.LIKELY
    alone = found(run_of("waiting-for-rank"))["waiting-for-rank"]
    assert alone.confidence is Confidence.POSSIBLE
