"""Which cause a stall has: the first sign counts."""

from __future__ import annotations

import copy

from laststep.analysis.hang import stall_of
from laststep.analysis.stall import cause_of
from laststep.record.run import Run
from tests.supervisor.stuck import (
    EXECUTE,
    FIT,
    HOOK,
    RANKS,
    TRAIN,
    WORK,
    event,
    main,
    snapshot,
    snapshot_view,
    stuck_run,
    thread,
)

ALL_SIGNS = snapshot(
    main(TRAIN, HOOK, EXECUTE, FIT, TRAIN, call="futex"),
    thread(WORK, call="futex"),
    native=[{"name": "tf_data", "state": "D", "call": "read", "on": "/mnt/nfs/x"}],
    pressure={"memory": 80.0},
    waiting=29.0,
)


def test_the_first_sign_wins() -> None:
    """From the machine inwards: memory, disk, each other, the ranks, a callback, the data, the program's own code."""
    answer, run = copy.deepcopy(ALL_SIGNS), stuck_run(snapshot())
    ranks = stuck_run(snapshot(), event(99.1, "setup", **RANKS))
    assert cause_of(snapshot_view(answer), ranks) == "memory-thrashing"
    answer["pressure"] = {"memory": 5.0}
    assert cause_of(snapshot_view(answer), ranks) == "disk-stalled"
    answer["native"] = []
    answer["waiting"] = 0.0
    assert cause_of(snapshot_view(answer), ranks) == "deadlocked"
    answer["threads"][1]["call"] = "sleep"
    assert cause_of(snapshot_view(answer), ranks) == "waiting-for-rank"
    assert cause_of(snapshot_view(answer), run) == "callback-blocked"
    answer["threads"][0]["frames"].pop(1)
    answer["waiting"] = 29.0
    assert cause_of(snapshot_view(answer), run) == "input-blocked"
    assert cause_of(snapshot_view(answer), ranks) == "input-blocked", "who waits for its own data waits for no rank"
    answer["waiting"] = 0.0
    answer["threads"][0]["frames"] = [TRAIN]
    answer["threads"][0]["call"] = ""
    assert cause_of(snapshot_view(answer), run) == "python-blocked"
    answer["threads"] = []
    assert cause_of(snapshot_view(answer), run) == ""


def test_stall_of_takes_the_last() -> None:
    first, last = event(120.0, "stall", seconds=1), event(130.0, "stall", seconds=2)
    assert stall_of(Run(id="r", events=(first, last))) == last
    assert stall_of(Run(id="r", events=())) is None
